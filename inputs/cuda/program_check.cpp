#include "inputs/cuda/program_check.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "core/engine/error.hpp"
#include "inputs/cuda/elf_file.hpp"
#include "inputs/cuda/fatbin.hpp"

namespace atl::cuda {
namespace {

constexpr char kSoname[] = "libcudart.so.13";

bool executable(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(path.c_str(), X_OK) == 0;
}

/// The loader puts the recorder in front of the runtime. Without device code it may be a shell, which starts others.
void check_loader(const ElfFile& elf, const std::string& path) {
  if (!elf.has_loader() && !elf.section(".nv_fatbin").empty())
    throw InputError(path,
                     "is linked statically, so that its calls of CUDA cannot be redirected; rebuild it without "
                     "-static (nvcc -cudart shared, without -Xcompiler -static)");
}

std::vector<FatbinEntry> device_code(const ElfFile& elf, const std::string& path) {
  std::vector<FatbinEntry> entries = list_section(elf.section(".nv_fatbin"), path);
  for (FatbinEntry& e : list_section(elf.section("__nv_relfatbin"), path)) entries.push_back(std::move(e));
  return entries;
}

void check_ptx(const std::vector<FatbinEntry>& entries, const std::string& path) {
  if (entries.empty()) return;
  unsigned arch = 0;
  bool lto = false;
  for (const FatbinEntry& e : entries) {
    if (e.kind == FatbinEntry::Kind::ptx) return;
    lto = lto || e.kind == FatbinEntry::Kind::lto;
    if (arch == 0 || e.arch < arch) arch = e.arch;
  }
  const std::string number = std::to_string(std::clamp(arch, 75u, 90u));
  throw InputError(path, std::string("its kernels are there only as ") + (lto ? "LTO code" : "machine code") + " for sm_" +
                             std::to_string(arch) + ", without PTX; rebuild it with nvcc -gencode arch=compute_" + number +
                             ",code=compute_" + number +
                             (lto ? " and without -dlto" : ", which NVCC_APPEND_FLAGS adds to any makefile's"));
}

/// nvcc leaves device code without kernels in what it links, too.
bool may_have_kernels(const FatbinEntry& entry, const std::string& path) {
  if (entry.kind == FatbinEntry::Kind::ptx) return ptx_text(entry, path).find(".entry") != std::string::npos;
  if (entry.kind != FatbinEntry::Kind::cubin || entry.packing != FatbinEntry::Packing::raw) return true;
  constexpr std::string_view kSection = ".text.";
  return std::search(entry.payload.begin(), entry.payload.end(), kSection.begin(), kSection.end()) != entry.payload.end();
}

/// Whether the program has kernels of its own among its device code. Throws where there will be none, whatever it is rebuilt
/// with. `library`: of only_machine_code() ones.
bool check_kernels(const ElfFile& elf, const std::vector<FatbinEntry>& entries, const std::string& path,
                   std::string& library) {
  std::string driver;
  for (const std::string& name : elf.needed()) {
    if (name.rfind("libcuda.so", 0) == 0 || name.rfind("libnvrtc.so", 0) == 0) driver = name;
    if (only_machine_code(name)) library = name;
  }
  const bool kernels = std::any_of(entries.begin(), entries.end(), [&](const auto& e) { return may_have_kernels(e, path); });
  if (kernels) return true;
  if (!driver.empty()) return false;  // its modules come from elsewhere
  if (!library.empty())
    throw InputError(path, "has no kernels of its own; those of " + library +
                               " are there as machine code only, without PTX, and cannot be recorded");
  return false;
}

void check_runtime(const ElfFile& elf, const std::string& path, bool kernels) {
  for (const std::string& name : elf.needed()) {
    if (name.rfind("libcudart.so", 0) != 0) continue;
    if (name == kSoname) return;
    throw InputError(path, "is linked with " + name + ", but the recorder stands in for " + kSoname +
                               "; rebuild it with CUDA 13's nvcc (-cudart shared or the default)");
  }
  if (elf.section(".nv_fatbin").empty()) return;
  const auto functions = elf.functions();
  if (std::any_of(functions.begin(), functions.end(), [](const auto& f) { return f.name == "__cudaRegisterFatBinary"; }))
    return;
  // nvcc leaves device code without kernels, and not always the runtime, in a program that uses the driver API only.
  if (!kernels && !functions.empty()) return;
  throw InputError(path,
                   functions.empty()
                       ? "has the CUDA runtime linked into it and is stripped, so that its calls cannot be redirected; "
                         "rebuild it with nvcc -cudart shared, or do not strip it"
                       : "has device code but neither asks for libcudart.so.13 nor contains the CUDA runtime; rebuild "
                         "it with nvcc -cudart shared");
}

}  // namespace

bool only_machine_code(std::string_view library) {
  constexpr std::string_view kClosed[] = {"libcublas", "libcufft", "libcudnn", "libcusparse", "libcusolver",
                                          "libcurand", "libnpp",   "libnccl",  "libnvjpeg",   "libcutensor"};
  return std::any_of(std::begin(kClosed), std::end(kClosed), [&](auto name) { return library.starts_with(name); });
}

std::string find_program(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    if (access(program.c_str(), F_OK) != 0) throw InputError(program, "there is no such program");
    if (!executable(program)) throw InputError(program, "is not an executable file");
    return program;
  }
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string candidate = (folder.empty() ? "." : folder) + "/" + program;
    if (executable(candidate)) return candidate;
  }
  throw InputError(program, "there is no such program on the PATH" +
                                std::string(executable("./" + program) ? "; did you mean ./" + program + "?" : ""));
}

std::string check_recordable(const std::string& path) {
  const auto elf = ElfFile::open(path);
  if (!elf) return {};
  check_loader(*elf, path);
  const std::vector<FatbinEntry> entries = device_code(*elf, path);
  std::string library;
  const bool kernels = check_kernels(*elf, entries, path, library);
  check_runtime(*elf, path, kernels);
  if (kernels) check_ptx(entries, path);
  return library;
}

}  // namespace atl::cuda
