#include <doctest/doctest.h>

#include "policies/plugin/api.hpp"

namespace atl::plugin_layout_test {
namespace {

TEST_CASE("the values of an enum have the names that a plug-in's compiler sees, and what has none has another text") {
  CHECK(enumerator<LlcRole::memory_side>() == "atl::LlcRole::memory_side");
  CHECK(enumerator<Topology::switched>() == "atl::Topology::switched");
  std::size_t named = 0;
  for_each_enumerator<LlcRole>([&](std::string_view name) { named += name.starts_with("atl::LlcRole::"); });
  CHECK(named == kRoleNames.size());
}

TEST_CASE("all words of the configuration are in what tells a plug-in of other headers") {
  const SystemConfig config;
  for_each_leaf(config, "", []<class T>(const T&, const Field&, const std::string& key) {
    if constexpr (std::is_enum_v<T>) {
      CAPTURE(key);
      std::size_t named = 0;
      for_each_enumerator<T>([&](std::string_view name) { named += name.starts_with("atl::"); });
      CHECK(named == words<T>().size());
    }
  });
}

/// As modes are, and with a flag more in what was padding.
struct Few {
  bool flag = false;
  std::uint32_t number = 0;
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, flag, number); }
};
struct More {
  bool flag = false, other = false;
  std::uint32_t number = 0;
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, flag, other, number); }
};
static_assert(sizeof(Few) == sizeof(More));

TEST_CASE("a member that fits into padding is told by the sizes of all") {
  MemberSizes few, more;
  Few a;
  More b;
  carry(few, a), carry(more, b);
  CHECK(few.list == std::string("\1\4"));
  CHECK(more.list == std::string("\1\1\4"));
}

/// As Few, with its members the other way round.
struct Turned {
  std::uint32_t number = 0;
  bool flag = false;
};
static_assert(sizeof(Turned) == sizeof(Few));

TEST_CASE("members that change places are told by where they lie") {
  CHECK(member_places(&Few::flag, &Few::number) == std::array<std::uint64_t, 2>{0, 4});
  CHECK(member_places(&Turned::flag, &Turned::number) == std::array<std::uint64_t, 2>{4, 0});
}

}  // namespace
}  // namespace atl::plugin_layout_test
