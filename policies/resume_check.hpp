#pragma once
#include <functional>
#include <memory>
#include <string>

#include "policies/policy.hpp"

namespace atl {

using PolicyMaker = std::function<std::unique_ptr<Policy>()>;

/// `policy`, with others made by `make` at its side that load what it saves and are asked what it is asked: whoever is
/// loaded from a checkpoint has to decide as the one that was saved would have. One is made anew for every call, and one
/// for every eighth, since what was not saved may first change what is. Asking has no effect on what `policy` returns,
/// unless it shares variables with its likes.
/// `name`: for messages. Errors of all calls: InputError, where the answers differ.
std::unique_ptr<Policy> check_resume(std::string name, std::unique_ptr<Policy> policy, PolicyMaker make);

/// `policy` loads what one of its kind has saved. `name`: for messages. Errors: InputError, if that is more than it takes,
/// or less.
void load_saved(const std::string& name, const std::string& saved, Policy& policy);

}  // namespace atl
