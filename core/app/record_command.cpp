#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>

#include "comm/launcher.hpp"
#include "core/app/child_process.hpp"
#include "core/app/commands.hpp"
#include "core/app/tell.hpp"
#include "core/engine/error.hpp"
#include "core/engine/exit_code.hpp"
#include "core/engine/file_exists.hpp"
#include "core/stats/durable_file.hpp"
#include "core/stats/version.hpp"
#include "inputs/config/reader.hpp"
#include "inputs/cuda/launch_selection.hpp"
#include "inputs/cuda/program_check.hpp"
#include "inputs/cuda/record_options.hpp"
#include "inputs/trace/trace_writer.hpp"

namespace atl {
namespace {

namespace fs = std::filesystem;

struct RecordCommand {
  cuda::RecordOptions record;
  std::string ctas, device;
  std::vector<std::string> program;
  bool force = false;
};

/// `--device`: a description, or a system with perhaps a description of what differs behind it. The program is told of
/// all chips as of one GPU, since that is how they will run its kernels, or of one chip as each of several.
cuda::DeviceModel device_of(const std::string& text, std::uint64_t devices) {
  const auto comma = std::min(text.find(','), text.size());
  const std::string first = text.substr(0, comma);
  if (first.empty() || first.starts_with("sm_") || first.find('=') != std::string::npos) return cuda::parse_device(text);
  const SystemConfig system = read_system(first);
  std::string rest = text.substr(comma), arch = "sm_90";
  if (rest.starts_with(",sm_")) {
    const auto end = std::min(rest.find(',', 1), rest.size());
    arch = rest.substr(1, end - 1), rest = rest.substr(end);
  }
  if (devices > system.chips)
    throw InputError("--devices", fmt::format("{} devices, but {} has {} chips; give it more, or fewer devices", devices,
                                              first, system.chips));
  const std::uint64_t chips = devices > 1 ? 1 : system.compute_chips();
  const std::uint64_t l2_kib = std::uint64_t{system.llc.size_kib} / system.scale * chips;
  return cuda::parse_device(
      fmt::format("{},sms={},threads={},blocks={},registers={},shared={}k,reserved=0,l2={},clock={},"
                  "name=Atoll recorder: {}{}",
                  arch, chips * system.sm.count, system.sm.warps * 32, system.sm.ctas, system.sm.registers,
                  system.sm.shared_kib, std::min<std::uint64_t>(l2_kib * 1024, std::numeric_limits<int>::max()),
                  std::max(1.0, std::round(system.core_clock_mhz)), system.name, rest));
}

/// The stand-in for the CUDA runtime lies beside this program in a build, below its prefix when installed.
std::string find_runtime() {
  const fs::path here = fs::path(this_program()).parent_path();
  for (const fs::path& at : {here, here / "../lib/atoll"}) {
    const fs::path library = at / "cuda" / "libcudart.so.13";
    if (fs::exists(library)) return library.lexically_normal().string();
  }
  throw InputError((here / "cuda" / "libcudart.so.13").string(),
                   "the recorder's CUDA runtime is missing; build the target atoll_cudart, or install it there");
}

/// LD_PRELOAD takes spaces and colons for the end of a name: a library below a folder with one is reached by a link.
class Preloadable {
 public:
  explicit Preloadable(const std::string& library) : library_(library) {
    if (library.find_first_of(" :") == std::string::npos) return;
    std::string folder = (fs::temp_directory_path() / "atoll-XXXXXX").string();
    std::error_code failed;
    if (folder.find_first_of(" :") == std::string::npos && mkdtemp(folder.data()) != nullptr) {
      folder_ = folder;
      fs::create_directory_symlink(fs::path(library).parent_path(), folder_ / "cuda", failed);
      library_ = (folder_ / "cuda" / fs::path(library).filename()).string();
    }
    if (failed) fs::remove(folder_, failed), folder_.clear();
    if (folder_.empty())
      throw InputError(library,
                       "no program can be told of a library below a folder with a space or a colon: install Atoll "
                       "elsewhere, or let TMPDIR name a folder without, for a link to it");
  }
  ~Preloadable() {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove(folder_ / "cuda", ignored), fs::remove(folder_, ignored);
  }
  Preloadable(const Preloadable&) = delete;
  Preloadable& operator=(const Preloadable&) = delete;
  const std::string& path() const { return library_; }

 private:
  std::string library_;
  fs::path folder_;
};

std::string quoted(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    const bool plain = !word.empty() && word.find_first_of(" \t\n'\"\\$") == std::string::npos;
    line += (line.empty() ? "" : " ") + (plain ? word : "'" + word + "'");
  }
  return line;
}

// Some benchmarks read memory that they never wrote and count on the zeroes of a fresh heap, which the recorder's own use of
// the heap spoils. So glibc is told to hand out zeroed memory (the complement of `perturb`), also from its caches: what a
// program prints and what it accesses then repeats.
constexpr char kZeroedHeap[] = "glibc.malloc.perturb=255:glibc.malloc.tcache_count=0";

/// The environment of the program: ours, the recorder in front (also under the driver's name, for who asks for it by name),
/// and without what MPI told this process about itself.
std::vector<std::string> program_environment(const cuda::RecordOptions& options, const std::string& library) {
  const std::string driver = (fs::path(library).parent_path() / "libcuda.so.1").string();
  std::vector<std::string> out = cuda::to_environment(options);
  std::string preload = "LD_PRELOAD=" + library + ":" + driver, tunables = std::string("GLIBC_TUNABLES=") + kZeroedHeap;
  for (char** variable = environ; *variable; ++variable) {
    const std::string entry(*variable);
    if (entry.starts_with("LD_PRELOAD=") && entry.size() > 11) {
      preload += ":" + entry.substr(11);
    } else if (entry.starts_with("GLIBC_TUNABLES=")) {
      tunables += ":" + entry.substr(15);
    } else if (!entry.starts_with("LD_PRELOAD=") && !entry.starts_with("ATOLL_RECORD_") && !is_launchers(entry)) {
      out.push_back(entry);
    }
  }
  out.push_back(preload);
  out.push_back(tunables);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

pid_t child = 0;
void pass_on(int number) { kill(child, number); }

/// Runs the program and returns what a shell would call its exit code. Signals are for the program: it ends with a
/// complete trace, and then so do we.
int run_program(const std::string& path, std::vector<std::string> arguments, std::vector<std::string> environment) {
  const std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
  child = fork();
  if (child < 0) throw IoError(path, std::string("cannot be started (") + std::strerror(errno) + ")");
  if (child == 0) {
    execve(path.c_str(), argv.data(), envp.data());
    const int error = errno;
    tell("atoll: {}: cannot be started ({})\n", path, std::strerror(error));
    _exit(error == ENOENT ? kExitNotFound : kExitNotExecutable);
  }
  signal(SIGINT, SIG_IGN);  // the terminal sends it to the program as well
  signal(SIGQUIT, SIG_IGN);
  signal(SIGTERM, pass_on);
  signal(SIGHUP, pass_on);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  const int number = WTERMSIG(status);
  if (number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGABRT)
    tell("atoll: {} was ended by signal {} ({}); kernels that had not ended are in no trace\n", path, number,
         strsignal(number));
  return 128 + number;
}

/// An earlier trace, while a program runs whose recording is to replace it: a trace under its name is a new one. If there is
/// none in the end, the earlier one gets its name back.
class EarlierTrace {
 public:
  explicit EarlierTrace(std::string path) : path_(std::move(path)), aside_(path_ + ".earlier") {
    kept_ = file_exists(path_);
    if (kept_) move(path_, aside_);
  }
  ~EarlierTrace() {
    if (!kept_) return;
    std::error_code ignored;
    if (fs::exists(path_, ignored)) {
      fs::remove(aside_, ignored);
    } else if (std::rename(aside_.c_str(), path_.c_str()) == 0) {
      tell("atoll: {} is the earlier trace, which nothing has replaced\n", path_);
    } else {
      tell("atoll: the earlier trace is {}\n", aside_);
    }
  }
  EarlierTrace(const EarlierTrace&) = delete;
  EarlierTrace& operator=(const EarlierTrace&) = delete;

 private:
  static void move(const std::string& from, const std::string& to) {
    if (std::rename(from.c_str(), to.c_str()) != 0)
      throw IoError(from, "cannot be renamed to " + to + " (" + std::strerror(errno) + ")");
  }
  std::string path_, aside_;
  bool kept_ = false;
};

/// The recorder inside the program ends the trace whatever happens, but SIGKILL leaves it no time.
void save_rest(const cuda::RecordOptions& options) {
  try {
    const std::uint64_t kernels = TraceWriter::salvage(options.output);
    if (!options.quiet)
      tell("recorded {} launches in {} (the program was killed; what it had not finished is lost)\n", kernels,
           options.output);
  } catch (const IoError& e) {
    tell("atoll: the program was killed and left no trace: {}\n", e.what());
    std::error_code ignored;
    fs::remove(options.output + ".part", ignored);
  }
}

/// Of a program that has left no trace. Where it was not started, or ended by a signal, which shells number from
/// kExitNotExecutable on, or by the recorder, that was said.
void say_no_trace(const std::string& program, int code) {
  constexpr char kWhat[] = "launched no kernel that was to be recorded, or none that ended; no trace is written";
  if (code == 0) throw InputError(program, kWhat);
  if (code != kExitSimulation && code != kExitFiles && code < kExitNotExecutable)
    tell("atoll: {}: ended with exit code {} and {}\n", program, code, kWhat);
}

/// Its absolute path.
std::string made_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error && access(path.c_str(), W_OK) != 0) error = {errno, std::generic_category()};
  if (error) throw IoError(path, "cannot be written into (" + error.message() + ")");
  return fs::absolute(path).lexically_normal().string();
}

int record(RecordCommand& c) {
  if (!c.record.kernels.empty()) cuda::LaunchSelection{c.record.kernels};  // before the program runs: it may be wrong
  if (!c.ctas.empty()) {
    const auto [first, last] = cuda::parse_range(c.ctas, "--ctas");
    c.record.first_cta = first;
    if (last != ~0ull) c.record.max_ctas = std::min(c.record.max_ctas, last - first + 1);
  }
  if (!c.device.empty()) c.record.device = device_of(c.device, c.record.devices);
  const std::string program = cuda::find_program(c.program.front());
  if (const std::string closed = cuda::check_recordable(program); !closed.empty())
    tell(
        "atoll: warning: {} uses {}, whose kernels are there as machine code only: its functions fail, which the "
        "program may not look at, and nothing of them is in the trace\n",
        program, closed);
  const Preloadable library(find_runtime());
  if (c.record.output.empty()) c.record.output = fs::path(program).filename().string() + ".h5";
  c.record.output = fs::absolute(c.record.output).lexically_normal().string();
  check_output(c.record.output, c.force);
  if (!c.record.ptx_folder.empty()) c.record.ptx_folder = made_folder(c.record.ptx_folder);
  std::error_code ignored;
  fs::remove(c.record.output + ".part", ignored);  // of a recording that was killed with its parent
  const EarlierTrace earlier(c.record.output);
  c.record.source = quoted(c.program);
  c.record.importer =
      fmt::format("atoll record {} ({}){}", version(), git_commit(), c.device.empty() ? "" : " --device " + c.device);
  if (c.record.devices > 1) c.record.importer += fmt::format(" --devices {}", c.record.devices);
  const int code = run_program(program, c.program, program_environment(c.record, library.path()));
  if (!file_exists(c.record.output) && file_exists(c.record.output + ".part")) save_rest(c.record);
  if (!file_exists(c.record.output)) say_no_trace(program, code);
  return code;
}

}  // namespace

void add_record(Commands& c) {
  auto o = std::make_shared<RecordCommand>();
  CLI::App* cmd = c.app.add_subcommand("record", "Run a CUDA program without a GPU and record its kernels as a trace");
  cmd->footer(
      "Examples:\n"
      "  atoll record -o vadd.h5 -- ./vectorAdd 100000\n"
      "  atoll record --kernels 3-10 --max-ctas 512 -- ./bfs graph.txt\n"
      "  atoll record --kernels 'gemm*' --stop-after 2 -- ./bench\n"
      "The program must hold PTX for sm_70 to sm_90: nvcc's default, or -gencode arch=compute_75,code=compute_75.\n"
      "Messages name lines of the source if it was compiled with -lineinfo, and else those of its PTX.\n"
      "Its exit code is passed on; 3: it did what no GPU survives or Atoll does not execute, 4: the disk is full.");
  cmd->add_option("-o,--output", o->record.output, "trace to write (.h5); default: the program's name in this folder")
      ->check(kNamed);
  cmd->add_flag("-f,--force", o->force, "replace an existing trace");
  cmd->add_option("--kernels", o->record.kernels,
                  "record only these launches, by number (3-10, the first is 0), by name ('gemm*'), or both ('gemm*:0-2': "
                  "the first three of these), with commas between; all are executed")
      ->type_name("LIST");
  cmd->add_option("--stop-after", o->record.stop_after,
                  "the trace ends with N recorded launches; the program goes on at functional speed")
      ->type_name("N")
      ->check(whole(1, kAnyNumber));
  cmd->add_option("--ctas", o->ctas, "record only these thread blocks of each kernel, counted from 0")
      ->type_name("FIRST-LAST");
  cmd->add_option("--max-ctas", o->record.max_ctas, "record only the first N thread blocks of each kernel (of --ctas)")
      ->check(whole(1, kAnyNumber));
  cmd->add_option("--max-ops", o->record.max_ops, "of each kernel: record whole thread blocks until there are N ops")
      ->check(whole(1, kAnyNumber));
  cmd->add_option("--device", o->device,
                  "the GPU that the program is told it has: a preset or system file, or for example sm_80,sms=108,mem=40g "
                  "(docs/recording.md); default: sm_90 with 128 SMs")
      ->type_name("DEVICE");
  cmd->add_option(
         "--devices", o->record.devices,
         "the program has N such GPUs; device i runs on chip i (workload.device_chips); default: one, for all chips")
      ->type_name("N")
      ->check(whole(1, cuda::kMostDevices));
  cmd->add_option("--threads", o->record.threads,
                  "that execute thread blocks which cannot learn of each other; default: one per processor")
      ->type_name("N")
      ->check(whole(1, 1024));
  auto* seed =
      cmd->add_option("--schedule-seed", o->record.schedule_seed,
                      "of the order in which blocks that can learn of each other, and their warps, take short turns, "
                      "as on a GPU (docs/recording.md); default: 0")
          ->type_name("N")
          ->check(whole(0, kAnyNumber));
  cmd->add_flag("--long-turns", o->record.long_turns,
                "one block after the other instead, each warp to its next barrier: faster, less like a GPU")
      ->excludes(seed);
  cmd->add_flag("--tolerate-oob", o->record.tolerate_oob,
                "near allocations, loads out of bounds give 0 and stores are dropped, instead of ending the program");
  cmd->add_option("--compression", o->record.compression, "of the trace: 1, fast, to 9, small; 0: none")
      ->type_name("LEVEL")
      ->check(whole(0, 9))
      ->capture_default_str();
  cmd->add_flag("--check", o->record.check,
                "compare every store with the read-only analysis, and say where races are (slower)");
  cmd->add_option("--keep-ptx", o->record.ptx_folder,
                  "write the PTX of what the program uses into this folder, under the names that messages have for it")
      ->type_name("FOLDER")
      ->check(kNamed);
  cmd->add_flag("-q,--quiet", o->record.quiet, "no progress, no counts");
  cmd->add_option("PROGRAM", o->program, "program and its arguments, after --")->required()->expected(-1);
  cmd->positionals_at_end();
  cmd->callback([&c, o] { c.chosen = [&c, o] { c.exit_code = record(*o); }; });
}

}  // namespace atl
