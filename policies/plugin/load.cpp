#include "policies/plugin/load.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <span>
#include <system_error>

#include "core/engine/archive_bytes.hpp"
#include "core/engine/error.hpp"
#include "core/engine/file_digest.hpp"
#include "core/engine/printable.hpp"
#include "policies/plugin/api.hpp"
#include "policies/plugin/in_plugin.hpp"
#include "policies/resume_check.hpp"

namespace atl {
namespace {

namespace fs = std::filesystem;

bool is_python(const std::string& policy) { return fs::path(policy).extension() == ".py"; }

/// The plug-in that runs Python policies: beside the program in a build, below its prefix when installed.
std::string python_host(const std::string& policy) {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& at : {here, here / "../lib/atoll", fs::path(ATOLL_BUILD_DIR)}) {
    const fs::path host = at / "atoll_python_policy.so";
    if (fs::exists(host)) return host.string();
  }
  throw InputError(policy,
                   "this Atoll was built without Python; install python3-dev and pybind11-dev and build again, or "
                   "write the policy in C++ (docs/plugins.md)");
}

/// Linkers put the table of sections last. The loader maps what a file says that it has, and a process that touches what is
/// not there ends without a word.
bool is_whole(const std::string& library) {
  Elf64_Ehdr head{};
  std::ifstream file(library, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(&head), sizeof head)) return true;
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64) return true;
  return head.e_shoff + std::uint64_t{head.e_shnum} * head.e_shentsize <= fs::file_size(library);
}

/// What a plug-in throws becomes an error of its file.
template <class Call> auto guarded(const std::string& file, std::string_view what, Call&& call) {
  const InPlugin here(file);
  try {
    return call();
  } catch (const InputError&) {  // made above, or by the host of Python
    throw;
  } catch (const std::exception& e) {
    throw InputError(file, fmt::format("{} throws: {}", what, e.what()));
  } catch (...) {
    throw InputError(file, fmt::format("{} throws what is no std::exception", what));
  }
}

const PolicyPlugin& open_plugin(const std::string& library, const std::string& policy) {
  if (!is_whole(library)) throw InputError(policy, "is truncated; build it again");
  // Never closed: the policy's code lives as long as the process.
  const std::string path = fs::absolute(library);
  // What a static object throws would leave the loader locked: it ends the program here, with a line that names the plug-in.
  // By its declaration dlopen throws nothing, and where compilers know that, the exception would pass.
  void* (*volatile open)(const char*, int) = dlopen;
  void* handle = guarded(policy, "dlopen", [&]() noexcept { return open(path.c_str(), RTLD_NOW | RTLD_LOCAL); });
  if (handle == nullptr) throw InputError(policy, fmt::format("cannot be loaded as a shared library: {}", dlerror()));
  const auto entry = reinterpret_cast<PolicyPluginEntry>(dlsym(handle, kPolicyPluginEntry));
  if (entry == nullptr)
    throw InputError(policy,
                     fmt::format("exports no `{}`: end it with ATOLL_POLICY_PLUGIN (docs/plugins.md)", kPolicyPluginEntry));
  const PolicyPlugin* given = guarded(policy, kPolicyPluginEntry, entry);
  if (given == nullptr) throw InputError(policy, fmt::format("`{}` returns nothing", kPolicyPluginEntry));
  const PolicyPlugin& plugin = *given;
  if (plugin.version != kPolicyApiVersion || plugin.layout != policy_api_layout())
    throw InputError(policy, fmt::format("was compiled {}: compile it with the headers of this Atoll",
                                         plugin.version == kPolicyApiVersion
                                             ? "with other counters, configuration keys, words or structs"
                                             : fmt::format("for version {} of the policy interface, and this is version {}",
                                                           plugin.version, kPolicyApiVersion)));
  return plugin;
}

/// Results, and all that is printed of them, know a policy by its name.
std::string name_of(const PolicyPlugin& plugin, const std::string& file) {
  if (is_python(file)) return fs::path(file).stem().string();
  std::string name = plugin.name == nullptr ? "" : plugin.name;
  if (name.empty() || !printable(name))
    throw InputError(file, "has no name, or one of signs that do not print: give it another one in ATOLL_POLICY_PLUGIN");
  if (std::ranges::find(kOrganisations, name, &OrganisationRow::word) != kOrganisations.end())
    throw InputError(file, fmt::format("is named `{}`, as an `llc.organisation` of Atoll's own: give it another name in "
                                       "ATOLL_POLICY_PLUGIN",
                                       name));
  return name;
}

/// The role of that name; none: a text of another meaning.
std::optional<LlcRole> role_named(std::string_view choice) {
  const auto role = std::ranges::find(kRoleNames, choice) - kRoleNames.begin();
  return role == std::ssize(kRoleNames) ? std::nullopt : std::optional(static_cast<LlcRole>(role));
}

constexpr std::size_t kLongestChoice = 200;

/// What a result could not keep as it was meant: values are columns under their names, in which NaN says that there is none,
/// and which JSON has no infinity for.
void check_decisions(const std::string& file, std::string_view what, std::span<const Decision> decisions) {
  for (const Decision& d : decisions) {
    if (d.choice.empty()) throw InputError(file, fmt::format("{} returns a decision without a choice", what));
    // Those of Atoll's own policies name all chips, and may be longer.
    if (d.choice.size() > kLongestChoice || d.choice.find('/') != d.choice.npos)
      throw InputError(
          file, fmt::format("{} returns a decision whose choice has {} signs{}: give it 1 to {}, and no `/`", what,
                            d.choice.size(), d.choice.find('/') != d.choice.npos ? " and a `/`" : "", kLongestChoice));
    if (d.choice.front() == ' ' || d.choice.back() == ' ')
      throw InputError(file, fmt::format("{} returns a decision whose choice, `{}`, has a blank at an end: leave it out",
                                         what, d.choice));
    std::set<std::string_view> names;
    for (const auto& [name, value] : d.values) {
      if (!std::isfinite(value))
        throw InputError(file, fmt::format("{} returns `{}` = {} in decision `{}`: leave out what is not known", what, name,
                                           std::isnan(value) ? "NaN" : "infinity", d.choice));
      if (!names.insert(name).second)
        throw InputError(file, fmt::format("{} returns two values `{}` in decision `{}`", what, name, d.choice));
    }
  }
}

class GuardedPolicy final : public Policy {
 public:
  GuardedPolicy(const SystemConfig& config, std::string name, bool saves, PolicyMaker make)
      : file_(config.llc.policy),
        name_(std::move(name)),
        chips_(config.chips),
        keeps_remote_(row_of(config.coherence.protocol).llc_keeps_remote),
        saves_(saves),
        make_(std::move(make)),
        policy_(make_()) {}
  Verdict at_kernel_start(std::size_t kernel, Cycle start) override {
    Verdict v = guarded(file_, "at_kernel_start", [&] { return policy_->at_kernel_start(kernel, start); });
    decided_.clear();
    check("at_kernel_start", v, kernel);
    return v;
  }
  std::optional<Verdict> at_epoch_end(const Epoch& epoch) override {
    auto v = guarded(file_, "at_epoch_end", [&] { return policy_->at_epoch_end(epoch); });
    if (v) check("at_epoch_end", *v, epoch.kernel);
    return v;
  }
  std::vector<Decision> at_kernel_end(const KernelEnd& end) override {
    auto decisions = guarded(file_, "at_kernel_end", [&] { return policy_->at_kernel_end(end); });
    check_decisions(file_, "at_kernel_end", decisions);
    for (const Decision& d : decisions)
      if (role_named(d.choice))
        throw InputError(file_,
                         fmt::format("at_kernel_end decides `{}`, and no chip obeys that: a decision of a role's name "
                                     "comes with modes that have it, from at_kernel_start or at_epoch_end",
                                     d.choice));
    return decisions;
  }
  /// Bytes with their number: a `load` that takes others reads no state but its own, and can be named.
  void save(SaveArchive& archive) override {
    if (!saves_) throw InputError(file_, "has no methods `save` and `load`, which checkpoints need (docs/plugins.md)");
    std::string bytes = bytes_of(*policy_);
    if (!tried_) try_to_load(bytes);
    tried_ = true;
    state(archive, bytes, decided_);
  }
  void load(LoadArchive& archive) override {
    std::string bytes;
    state(archive, bytes, decided_);
    load_from(bytes, *policy_);
  }

 private:
  std::string bytes_of(Policy& policy) const {
    return guarded(file_, "save", [&] { return bytes_of_state([&](SaveArchive& a) { policy.save(a); }); });
  }
  void load_from(const std::string& bytes, Policy& policy) const {
    guarded(file_, "load", [&] { load_saved(file_, bytes, policy); });
  }
  /// Before the first checkpoint, and not when somebody needs one. Bytes of equal objects in Python, as pickle makes them,
  /// may differ.
  void try_to_load(const std::string& bytes) const {
    const std::unique_ptr<Policy> other = make_();
    load_from(bytes, *other);
    if (!is_python(file_) && bytes_of(*other) != bytes)
      throw InputError(file_,
                       "`load` does not bring back what `save` wrote: one of its kind that was loaded from it saves "
                       "something else, and a run that is resumed could differ");
  }
  void check(std::string_view what, Verdict& v, std::uint64_t kernel) {
    check_modes(v.modes, kernel);
    check_decisions(file_, what, v.decisions);
    const LlcRole llc = v.modes[0].llc;
    for (Decision& d : v.decisions) {
      check_role(what, d, llc, kernel);
      if (d.kernel == kernel) decided_ = d.choice;
      // Roles are taken for this one there (mode_rules.cpp), and so results are to say.
      if (!keeps_remote_ && role_named(d.choice)) d.choice = name_of(LlcRole::memory_side);
    }
    // Reports take a decision to rule until the next one.
    if (const auto role = role_named(decided_); role && llc <= LlcRole::split && llc != *role)
      throw InputError(file_,
                       fmt::format("{} returns modes with `llc` = {} and no decision, and in reports `{}`, which it has "
                                   "decided before in this kernel, would go on: return a decision along",
                                   what, name_of(llc), decided_));
  }
  /// A decision that is named as a role says what chips do from now on.
  void check_role(std::string_view what, const Decision& d, LlcRole llc, std::uint64_t kernel) const {
    const auto role = role_named(d.choice);
    if (!role || llc > LlcRole::split) return;
    if (d.kernel != kernel)
      throw InputError(file_, fmt::format("{} of kernel {} decides `{}` for kernel {}, whose chips have obeyed what they "
                                          "were told then: leave `Decision::kernel` as it is",
                                          what, kernel, d.choice, d.kernel));
    if (llc != *role)
      throw InputError(file_, fmt::format("{} decides `{}`, and its modes have `llc` = {}, which is what chips obey", what,
                                          d.choice, name_of(llc)));
  }
  /// Policies of Atoll that make theirs of these (combined.hpp) count on what the controller would refuse only behind them.
  void check_modes(std::span<const Modes> modes, std::uint64_t kernel) const {
    if (modes.size() != chips_)
      refuse(kernel, fmt::format("they are for {} chips, and the system has {}", modes.size(), chips_));
    const auto own = [&](std::uint32_t value, std::string_view field) {
      if (value != 0) refuse(kernel, fmt::format("`{}` = {} is set, which is Atoll's own: leave it 0", field, value));
    };
    for (const Modes& m : modes)
      own(m.epoch_gone, "epoch_gone"), own(m.beside_cycles, "beside_cycles"), own(m.beside_gone, "beside_gone");
  }
  [[noreturn]] void refuse(std::uint64_t kernel, const std::string& why) const {
    throw InputError("policy " + name_, fmt::format("its modes for kernel {} cannot be obeyed: {}", kernel, why));
  }

  std::string file_, name_, decided_;  ///< the last decision of the kernel
  std::uint32_t chips_;
  bool keeps_remote_, saves_, tried_ = false;
  PolicyMaker make_;
  std::unique_ptr<Policy> policy_;
};

}  // namespace

LoadedPolicy load_plugin(const SystemConfig& config) {
  const std::string& file = config.llc.policy;
  std::error_code error;
  if (!fs::is_regular_file(file, error))
    throw InputError(file, fmt::format("no such file{}; `llc.policy` (--policy) names a .so or .py",
                                       error && error != std::errc::no_such_file_or_directory ? " (" + error.message() + ")"
                                                                                              : std::string()));
  const PolicyPlugin& plugin = open_plugin(is_python(file) ? python_host(file) : file, file);
  LoadedPolicy p;
  p.name = name_of(plugin, file);
  p.digest = fmt::format("{:016x}", digest_of_file(file));
  p.traits = guarded(file, "traits", [&] { return plugin.traits(config); });
  p.policy = std::make_unique<GuardedPolicy>(config, p.name, p.traits.saves, [&plugin, config] {
    auto policy = guarded(config.llc.policy, "its constructor", [&] { return plugin.make(config); });
    if (!policy) throw InputError(config.llc.policy, "makes no policy: `make` returned nothing");
    return policy;
  });
  if (p.traits.roles == Roles{})
    throw InputError(file, is_python(file) ? "declares no role in `roles`" : "declares no role: set PolicyTraits::roles");
  return p;
}

}  // namespace atl
