#include <fmt/format.h>

#include <memory>

#include "core/app/commands.hpp"
#include "core/engine/error.hpp"
#include "core/engine/input_file.hpp"
#include "inputs/ptx/access_table.hpp"
#include "inputs/ptx/parser.hpp"

namespace atl {
namespace {

ptx::Module parse_file(const std::string& file) {
  const std::string text = read_text(file, "cannot be opened");
  if (text.starts_with("\177ELF"))
    throw InputError(file,
                     "is a program and no PTX; `nvcc -ptx` writes the PTX of a source file, and `atoll record --keep-ptx "
                     "FOLDER` that of a program");
  return ptx::parse(text, file);
}

}  // namespace

void add_ptx(Commands& c) {
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* cmd = c.app.add_subcommand("ptx", "Show what each kernel of a PTX text does to its data structures");
  cmd->footer(
      "Examples:\n"
      "  nvcc -ptx -arch=sm_80 prog.cu && atoll ptx prog.ptx       which parameters are read, written, and how");
  cmd->add_option("FILE", *files, "PTX, as `nvcc -ptx` writes it; several are linked by name (-rdc=true)")
      ->required()
      ->check(kNamed);
  cmd->callback([&c, files] {
    c.chosen = [files] {
      std::vector<ptx::Module> modules;
      for (const std::string& file : *files) modules.push_back(parse_file(file));
      ptx::Module m = modules.size() == 1 ? std::move(modules.front()) : ptx::link(std::move(modules));
      const auto kernels = ptx::analyse(m);
      if (kernels.empty()) fmt::print("no kernels\n");
      for (const ptx::KernelAccess& k : kernels) fmt::print("{}", ptx::access_table(m, k));
    };
  });
}

}  // namespace atl
