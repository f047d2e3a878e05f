#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
// The headers of Python come after those of the standard library that they would change.
#include <dlfcn.h>
#include <fmt/format.h>
#include <pybind11/embed.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>

#include "core/engine/error.hpp"
#include "policies/plugin/api.hpp"
#include "policies/plugin/python/values.hpp"

// A plug-in that runs policies written in Python (docs/plugins.md). Only the controller's process loads it, and with it the
// interpreter: no other process of a run needs Python.
namespace atl {
namespace {

/// Whether a policy that waits for the ends of epochs was told of one. `atoll run --check` has several objects of it, and
/// only the end of the run says that none was.
struct EpochsHeard {
  std::string file;  ///< empty: none waits for them
  bool has_epochs = false, asked = false, failed = false;

  void tell() const {
    if (file.empty() || asked || failed) return;
    std::fputs(fmt::format("atoll: warning: {}: at_epoch_end was never called, as {}\n", file,
                           has_epochs ? "no kernel ran for `epoch_cycles` (a launch's latency does not count)"
                                      : "no modes had `epoch_cycles`")
                   .c_str(),
               stderr);
  }
};
EpochsHeard heard;

/// What Python does when it ends, which it never does here: whoever keeps a log in a file of the policy's own counts on it.
void end_python() {
  heard.tell();
  const py::gil_scoped_acquire lock;
  try {
    py::exec(R"py(
import atexit, gc, io
atexit._run_exitfuncs()
for file in gc.get_objects():
    if issubclass(type(file), io.IOBase):
        try:
            file.flush()
        except Exception:
            pass  # closed, or not for writing
)py",
             py::dict());
  } catch (const std::exception& e) {
    std::fputs(fmt::format("atoll: warning: of a policy in Python: {}\n", e.what()).c_str(), stderr);
  }
}

/// One interpreter per process; it is never ended, since modules such as numpy do not survive that. Signals stay Atoll's.
void start_python() {
  if (Py_IsInitialized() != 0) return;
  // Extension modules such as numpy's look for Python's symbols among the global ones; a plug-in's are not.
  Dl_info python{};
  if (dladdr(reinterpret_cast<void*>(&Py_IsInitialized), &python) != 0)
    dlopen(python.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  config.install_signal_handlers = 0;
  config.parse_argv = 0;
  config.use_hash_seed = 1, config.hash_seed = 0;  // a set of words has the same order in every run
  // Its modules are those of the Python that it was built with, whichever comes first on the PATH.
  PyConfig_SetBytesString(&config, &config.program_name, ATOLL_PYTHON);
  // No module of the folder in which somebody runs it takes the place of Python's own.
  constexpr bool kAddFolder = false;
  py::initialize_interpreter(&config, 0, nullptr, kAddFolder);
  PyEval_SaveThread();  // whoever calls Python takes the lock
  std::atexit(end_python);
}

/// One line of what an error says. Of a call with arguments of other types pybind11's text has three parts, in lines of
/// their own: what could be called, and what was.
std::string one_line(const std::string& text) {
  const std::size_t takes = text.find("\n    1. "), given = text.find("\n\nInvoked with: ");
  if (takes == text.npos || given == text.npos || given < takes) return text.substr(0, text.find('\n'));
  const std::string could = text.substr(takes + 8, given - takes - 8), was = text.substr(given + 16);
  return fmt::format("takes {}; was given {}", could.substr(0, could.find('\n')), was.substr(0, was.find('\n')));
}

/// What Python has raised, as one line with the place in the policy's file where it happened.
[[noreturn]] void refuse(const std::string& file, py::error_already_set& e) {
  std::string where = file;
  if (e.trace()) {  // it has none where Python itself could not make the call
    for (py::handle frame : py::module_::import("traceback").attr("extract_tb")(e.trace())) {
      if (frame.attr("filename").cast<std::string>() == std::filesystem::absolute(file).string())
        where = fmt::format("{}:{}", file, frame.attr("lineno").cast<int>());
    }
  }
  if (e.matches(PyExc_SyntaxError))
    where = fmt::format("{}:{}", file, py::str(e.value().attr("lineno")).cast<std::string>());
  const auto type = e.type().attr("__name__").cast<std::string>();
  throw InputError(where, fmt::format("{}: {}", type, one_line(py::str(e.value()).cast<std::string>())));
}

/// Runs `f` with the interpreter's lock; what goes wrong in Python names file and line, and what is wrong with what it
/// returns the file and `method`.
template <class F> auto in_python(const std::string& file, std::string_view method, F&& f) {
  start_python();
  const py::gil_scoped_acquire lock;
  try {
    return f();
  } catch (py::error_already_set& e) {
    refuse(file, e);
  } catch (const py::builtin_exception& e) {
    throw InputError(file, method.empty() ? e.what() : fmt::format("{}: {}", method, e.what()));
  }
}

/// What nobody asks a policy for, and is named much like what somebody does.
void refuse_misspelt(const std::string& file, const py::object& policy) {
  const auto words = [](const std::vector<std::string>& list) { return py::list(py::cast(list)); };
  const py::list attributes = words({"roles", "switches", "replicates", "llc_profile", "options"});
  const py::list methods = words({"at_kernel_start", "at_epoch_end", "at_kernel_end", "save", "load"});
  const py::object close = py::module_::import("difflib").attr("get_close_matches");
  for (const py::handle name : py::module_::import("builtins").attr("dir")(policy)) {
    const auto text = name.cast<std::string>();
    if (methods.contains(name) && PyCallable_Check(policy.attr(name).ptr()) == 0)
      throw InputError(file, fmt::format("`{}` of class Policy is no method; leave it out if there is none", text));
    const py::list& known = PyCallable_Check(policy.attr(name).ptr()) != 0 ? methods : attributes;
    if (text.starts_with("_") || known.contains(name)) continue;
    const py::list meant = close(name, known, 1, text.starts_with("at_") ? 0.5 : 0.8);
    if (!meant.empty())
      throw InputError(file,
                       fmt::format("class Policy has `{}`, which Atoll does not know: did you mean `{}`? A name of your "
                                   "own that begins with an underscore is left alone",
                                   text, meant[0].cast<std::string>()));
  }
}

/// The class `Policy` of the file.
py::object policy_class(const std::string& file) {
  const std::string path = std::filesystem::absolute(file).string();
  const auto util = py::module_::import("importlib.util");
  const py::object spec = util.attr("spec_from_file_location")(std::filesystem::path(file).stem().string(), path);
  const py::object module = util.attr("module_from_spec")(spec);
  py::module_::import("sys").attr("dont_write_bytecode") = true;
  spec.attr("loader").attr("exec_module")(module);
  if (!py::hasattr(module, "Policy")) throw InputError(file, "defines no class `Policy` (docs/plugins.md)");
  py::object policy = module.attr("Policy");
  refuse_misspelt(file, policy);
  return policy;
}

/// A dictionary that refuses what would change nothing in the run, with the policy's own options beside it. A copy of it, or
/// what a policy saves of it, is a plain one.
py::object read_only(const py::dict& config, const py::object& options) {
  py::dict names;
  py::exec(R"py(
class Config(dict):
    def _refuse(self, *_, **__):
        raise TypeError("config is read-only: set keys for the run with --set, or change a copy, dict(config)")
    __setitem__ = __delitem__ = __ior__ = update = setdefault = pop = popitem = clear = _refuse
    def __reduce__(self):
        return dict, (dict(self),)
)py",
           names);
  py::object out = names["Config"](config);
  out.attr("options") = options;
  return out;
}

class PythonPolicy final : public Policy {
 public:
  explicit PythonPolicy(const SystemConfig& config) : config_(config), file_(config.llc.policy) {
    in_python(file_, "", [&] {
      const py::object policy = policy_class(file_);
      object_ = policy(read_only(config_values(config_), option_values(policy, config_.llc.policy_options)));
    });
  }
  PythonPolicy(const PythonPolicy&) = delete;
  PythonPolicy& operator=(const PythonPolicy&) = delete;
  ~PythonPolicy() override {  // NOLINT(bugprone-exception-escape): the lock can only fail where there is no interpreter
    const py::gil_scoped_acquire lock;
    heard.failed |= std::uncaught_exceptions() != 0;  // the run says why it ended, and that is enough
    object_ = py::object();
  }

  Verdict at_kernel_start(std::size_t kernel, Cycle start) override {
    return in_python(file_, "at_kernel_start", [&] {
      auto v = verdict(object_.attr("at_kernel_start")(kernel, start), config_.chips, {kernel, start, {}, {}});
      if (!v) throw py::type_error("returned None; it must return Modes");
      if (py::hasattr(object_, "at_epoch_end")) heard.file = file_;
      heard.has_epochs |= !v->modes.empty() && v->modes[0].epoch_cycles != 0;
      return std::move(*v);
    });
  }
  std::optional<Verdict> at_epoch_end(const Epoch& epoch) override {
    return in_python(file_, "at_epoch_end", [&]() -> std::optional<Verdict> {
      if (!py::hasattr(object_, "at_epoch_end")) return std::nullopt;
      heard.asked = true;
      return verdict(object_.attr("at_epoch_end")(epoch_values(epoch)), config_.chips, {epoch.kernel, epoch.end, {}, {}});
    });
  }
  std::vector<Decision> at_kernel_end(const KernelEnd& end) override {
    return in_python(file_, "at_kernel_end", [&]() -> std::vector<Decision> {
      if (!py::hasattr(object_, "at_kernel_end")) return {};
      return decisions(object_.attr("at_kernel_end")(kernel_end_values(end)), {end.kernel, end.end, {}, {}});
    });
  }
  void save(SaveArchive& a) override {
    in_python(file_, "save", [&] {
      const py::object saved = object_.attr("save")();
      if (!py::isinstance<py::bytes>(saved)) throw py::type_error("returned no bytes");
      auto bytes = saved.cast<std::string>();
      state(a, bytes, heard.asked);
    });
  }
  void load(LoadArchive& a) override {
    in_python(file_, "load", [&] {
      std::string bytes;
      bool asked = false;
      state(a, bytes, asked);
      heard.asked |= asked;
      object_.attr("load")(py::bytes(bytes));
    });
  }

 private:
  const SystemConfig config_;
  const std::string file_;
  py::object object_;
};

PolicyTraits python_traits(const SystemConfig& c) {
  return in_python(c.llc.policy, "", [&] { return traits_of(policy_class(c.llc.policy)); });
}

}  // namespace
}  // namespace atl

extern "C" __attribute__((visibility("default"))) const atl::PolicyPlugin* atoll_policy_plugin() {
  static const atl::PolicyPlugin plugin{.name = "python",
                                        .traits = atl::python_traits,
                                        .make = [](const atl::SystemConfig& c) -> std::unique_ptr<atl::Policy> {
                                          return std::make_unique<atl::PythonPolicy>(c);
                                        }};
  return &plugin;
}
