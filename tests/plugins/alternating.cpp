#include "alternating.hpp"

ATOLL_POLICY_PLUGIN("alternating", atl::test::kAlternating, atl::test::Alternating)
