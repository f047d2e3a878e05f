#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "comm/collective_errors.hpp"
#include "comm/launcher.hpp"
#include "comm/mpi_transport.hpp"
#include "core/app/commands.hpp"
#include "core/app/stop_signals.hpp"
#include "core/engine/exit_code.hpp"
#include "core/engine/standard_descriptors.hpp"
#include "core/stats/version.hpp"
#include "inputs/config/suggest.hpp"

namespace {

/// What the user is told, once for the whole job.
void report(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const atl::PeerFailure&) {
    // The failing rank speaks.
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "atoll: out of memory\n");
  } catch (const std::filesystem::filesystem_error& e) {
    std::fprintf(stderr, "atoll: %s\n", e.what());
  } catch (const std::system_error& e) {  // fmt's
    std::fprintf(stderr, "atoll: standard output: cannot be written: %s\n", e.code().message().c_str());
    std::clearerr(stdout);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "atoll: %s\n", e.what());
  }
}

/// `atoll help [COMMAND]`, and a first word that is no command: the exit code. -1: neither.
int answer_first(CLI::App& app, int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  const bool help = first == "help";
  const std::string word = help ? (argc > 2 ? argv[2] : "") : first;
  if (!help && (word.empty() || word[0] == '-')) return -1;
  std::vector<std::string> known{"help"};
  const CLI::App* command = word.empty() ? &app : nullptr;
  for (const CLI::App* c : app.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(c->get_name());
    if (c->get_name() == word) command = c;
  }
  if (!help && command != nullptr) return -1;
  if (command != nullptr) {
    std::fputs(command->help(command == &app ? "" : "atoll").c_str(), stdout);
    return 0;
  }
  const std::string close = atl::closest_key(word, known);
  std::fprintf(stderr, "atoll: there is no command `%s`%s; `atoll --help` lists all\n", word.c_str(),
               close.empty() ? "" : (", did you mean `" + close + "`?").c_str());
  return atl::kExitInput;
}

/// --threads, before all options are read: MPI has to know when it starts. 1 if it makes no sense, which is said later.
int threads_asked(int argc, char** argv) {
  constexpr std::string_view kOption = "--threads";
  int threads = 1;
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    if (!word.starts_with(kOption)) continue;
    if (word == kOption) {
      word = i + 1 < argc ? argv[i + 1] : "";
    } else {
      word.remove_prefix(std::min(word.size(), kOption.size() + 1));
    }
    std::from_chars(word.data(), word.data() + word.size(), threads);
  }
  return threads;
}

/// What was printed may be in memory still: a disk that is full is heard of here. The exit code.
int flushed(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  std::fprintf(stderr, "atoll: standard output: cannot be written: %s\n", std::strerror(errno));
  return code == 0 ? atl::kExitFiles : code;
}

}  // namespace

int main(int argc, char** argv) {       // NOLINT(bugprone-exception-escape): nothing runs yet that a message could name
  const atl::StandardDescriptors held;  // before any file is opened
  const std::string_view command = argc > 1 ? argv[1] : "";
  const bool parallel = command == "run" || command == "resume";
  // A file that grows beyond its limit is an error of the write, and no end; a recorded program has signals of its own.
  if (command != "record") std::signal(SIGXFSZ, SIG_IGN);
  if (parallel) atl::note_stop_signals();
  if (!parallel && atl::started_by_launcher()) {
    if (atl::launched_rank() != 0) return 0;
    std::fprintf(stderr, "note: only `run` and `resume` are parallel; rank 0 does this, and the others have ended\n");
  }
  atl::MpiSession mpi(argc, argv, parallel, parallel ? threads_asked(argc, argv) : 1);
  CLI::App app{
      "Atoll simulates the memory system of multi-chip GPUs, one chip per MPI rank.\n\n"
      "  atoll list                                            what there is to run\n"
      "  atoll run sac-4chip --workload W.json -o out.h5       one simulation on this core\n"
      "  mpirun -n 5 atoll run sac-4chip --workload W.json     the same, one chip per rank\n"
      "  atoll resume out.h5.512000.ckpt                       go on from a checkpoint of a run\n"
      "  atoll watch URL                                       how a run with --monitor goes on\n"
      "  atoll info out.h5                                     what came out\n"
      "  atoll explain out.h5                                  where the cycles went, and what limits\n"
      "  atoll sweep EXPERIMENT.json                           many workloads on many systems\n"
      "  atoll table DIR                                       how they compare\n",
      "atoll"};
  app.set_version_flag("--version", std::string(atl::version()) + " (" + std::string(atl::git_commit()) + ")");
  app.require_subcommand(1);
  atl::Commands commands{app, mpi};
  commands.give_up = [&](const std::exception_ptr& error) {
    report(error);
    mpi.abort(atl::exit_code_of(error));
  };
  for (int i = 0; i < argc; ++i) commands.line += (i == 0 ? "" : " ") + std::string(argv[i]);
  atl::add_run(commands);
  atl::add_resume(commands);
  atl::add_watch(commands);
  atl::add_sweep(commands);
  atl::add_table(commands);
  atl::add_import(commands);
  atl::add_record(commands);
  atl::add_info(commands);
  atl::add_explain(commands);
  atl::add_compare(commands);
  atl::add_export(commands);
  atl::add_config(commands);
  atl::add_list(commands);
  atl::add_ptx(commands);
  atl::add_completion(commands);
  atl::add_manual(commands);
  if (const int code = answer_first(app, argc, argv); code >= 0) return flushed(code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const bool fault = e.get_exit_code() != 0;  // --help is none
    if (mpi.transport().rank() == 0) {
      if (!fault) return flushed(app.exit(e));
      const bool early = dynamic_cast<const CLI::RequiredError*>(&e) != nullptr && argc > 1 && argv[1][0] == '-';
      const std::string what = early ? "`" + std::string(argv[1]) + "` is not for the program itself: a command comes first"
                                     : std::string(e.what());
      std::fprintf(stderr, "atoll: %s\nRun with --help for more information.\n", what.c_str());
    }
    return fault ? atl::kExitInput : atl::kExitDone;
  }
  try {
    commands.chosen();
  } catch (const std::bad_alloc&) {  // anywhere, also where others wait for this rank and would never hear of it
    commands.give_up(std::current_exception());
    return atl::kExitOther;
  } catch (...) {
    report(std::current_exception());
    return atl::exit_code_of(std::current_exception());
  }
  return mpi.transport().rank() == 0 ? flushed(commands.exit_code) : commands.exit_code;
}
