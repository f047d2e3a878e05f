#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "inputs/cuda/elf_file.hpp"
#include "inputs/cuda/runtime/runtime.hpp"

// nvcc links the CUDA runtime into programs and libraries by default; no library can be put in front of that. But the
// functions are in their symbol tables, so their first bytes can be overwritten with a jump to ours, before constructors
// run: those register kernels. For what is there at the start, that of this library is the first (-z initfirst). What the
// program opens later is seen where the loader tells debuggers of it, between its mapping and its constructors.
namespace atl::cudart {
namespace {

struct Name {
  const char* name;
  void (*function)();
};
extern "C" const Name atoll_cudart_names[];

std::size_t name_count() {
  std::size_t names = 0;
  while (atoll_cudart_names[names].name) ++names;
  return names;
}

void on_load();

constexpr char kProgram[] = "/proc/self/exe";
constexpr std::size_t kNearJump = 5;  // E9 and 32 bits: some functions are too small for more
constexpr std::size_t kFarJump = 14;  // FF 25 0, then 64 bits

/// The program, or a library: its file and where it was loaded, relative to the addresses in there.
using Object = std::pair<std::string, std::uint64_t>;

std::set<Object> loaded_objects() {
  std::set<Object> out;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* all) {
        auto& objects = *static_cast<std::set<Object>*>(all);
        const bool program = objects.empty();  // the first, and without a name
        objects.emplace(program ? kProgram : info->dlpi_name, info->dlpi_addr);
        return 0;
      },
      &out);
  return out;
}

/// Memory for `bytes` of far jumps that near jumps at `around` reach.
std::uint8_t* map_near(std::uint64_t around, std::size_t bytes) {
  constexpr std::uint64_t kStep = 1 << 20, kReach = 0x7000'0000;
  const std::uint64_t base = around & ~(kStep - 1);
  for (std::uint64_t distance = kStep; distance < kReach; distance += kStep)
    for (const std::uint64_t at : {base - distance, base + distance}) {
      if (distance > base && at == base - distance) continue;
      void* got = mmap(reinterpret_cast<void*>(at), bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (got == reinterpret_cast<void*>(at)) return static_cast<std::uint8_t*>(got);
      if (got != MAP_FAILED) munmap(got, bytes);
    }
  return nullptr;
}

void write_far_jump(std::uint8_t* at, void (*to)()) {
  constexpr std::uint8_t kJump[] = {0xFF, 0x25, 0, 0, 0, 0};
  std::memcpy(at, kJump, sizeof kJump);
  std::memcpy(at + sizeof kJump, &to, sizeof to);
}

bool write_near_jump(std::uint64_t at, const std::uint8_t* to) {
  const auto offset =
      static_cast<std::int32_t>(reinterpret_cast<std::int64_t>(to) - static_cast<std::int64_t>(at + kNearJump));
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t first = at / page * page;
  void* pages = reinterpret_cast<void*>(first);
  const std::size_t bytes = at + kNearJump - first;
  if (mprotect(pages, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
  auto* code = reinterpret_cast<std::uint8_t*>(at);
  code[0] = 0xE9;
  std::memcpy(code + 1, &offset, sizeof offset);
  return mprotect(pages, bytes, PROT_READ | PROT_EXEC) == 0;
}

/// The far jumps, one for each name and then one to `on_load`, within the reach of near jumps at `around`. Libraries share
/// them where they can.
std::uint8_t* jumps_near(std::uint64_t around, const std::string& object) {
  constexpr std::int64_t kReach = 0x7000'0000;
  static std::vector<std::uint8_t*> made;
  for (std::uint8_t* jumps : made)
    if (std::abs(reinterpret_cast<std::int64_t>(jumps) - static_cast<std::int64_t>(around)) < kReach) return jumps;
  const std::size_t bytes = (name_count() + 1) * kFarJump;
  std::uint8_t* jumps = map_near(around, bytes);
  if (!jumps) throw IoError(object, "no free addresses near it to redirect its CUDA runtime; build with -cudart shared");
  for (std::size_t i = 0; i < name_count(); ++i) write_far_jump(jumps + i * kFarJump, atoll_cudart_names[i].function);
  write_far_jump(jumps + name_count() * kFarJump, on_load);
  mprotect(jumps, bytes, PROT_READ | PROT_EXEC);
  return made.emplace_back(jumps);
}

void redirect(const Object& object) {
  const std::string_view file = object.first;
  const std::string_view name = file.substr(file.rfind('/') + 1);                           // with no slash, all of it
  if (name.starts_with("libcudart.so") || access(object.first.c_str(), R_OK) != 0) return;  // ours; the kernel's
  const auto elf = cuda::ElfFile::open(object.first);
  if (!elf) return;
  std::unordered_map<std::string_view, std::uint64_t> found;
  for (const auto& f : elf->functions())
    if (f.name.starts_with("cuda") || f.name.starts_with("__cuda")) found.emplace(f.name, f.address);
  if (found.find("__cudaRegisterFatBinary") == found.end()) return;  // -cudart shared, or no CUDA at all

  const std::string said = file == kProgram ? "the program" : object.first;
  const std::uint64_t bias = object.second;
  const std::uint8_t* jumps = jumps_near(bias + found.begin()->second, said);
  for (std::size_t i = 0; i < name_count(); ++i) {
    const auto function = found.find(atoll_cudart_names[i].name);
    if (function != found.end() && !write_near_jump(bias + function->second, jumps + i * kFarJump))
      throw IoError(said, "its code cannot be changed to redirect its CUDA runtime; build with -cudart shared");
  }
}

/// Redirects what was not there the last time. One closed and opened again comes without jumps.
void redirect_new() {
  static std::set<Object> known;
  std::set<Object> now = loaded_objects();
  for (const Object& object : now)
    if (known.find(object) == known.end()) redirect(object);
  known = std::move(now);
}

/// The loader has mapped or unmapped libraries; it holds its lock, so that one thread at a time is here.
void on_load() {
  if (_r_debug.r_state != r_debug::RT_CONSISTENT) return;
  try {
    redirect_new();
  } catch (...) {
    end_program(std::current_exception());
  }
}

/// The loader calls an empty function for debuggers. If it is another one, libraries opened later are not redirected, and
/// said to be lost when they ask for the driver (driver.cpp).
void watch_loader() {
  constexpr std::uint8_t kMark[] = {0xF3, 0x0F, 0x1E, 0xFA}, kReturn = 0xC3;  // endbr64, ret
  constexpr std::uint64_t kAligned = 16;                                      // up to there, nothing else follows
  const std::uint64_t at = _r_debug.r_brk;
  const auto* code = reinterpret_cast<const std::uint8_t*>(at);
  if (!code || at % kAligned != 0) return;
  if (*(std::memcmp(code, kMark, sizeof kMark) == 0 ? code + sizeof kMark : code) != kReturn) return;
  try {
    write_near_jump(at, jumps_near(at, "the loader") + name_count() * kFarJump);
  } catch (const IoError&) {  // nothing may be opened at all
  }
}

__attribute__((constructor)) void at_start() {
  try {
    redirect_new();
    watch_loader();
  } catch (...) {
    end_program(std::current_exception());
  }
}

}  // namespace

std::string owner_of(const void* code) {
  Dl_info in{};
  if (dladdr(code, &in) == 0 || !in.dli_fname || access(in.dli_fname, R_OK) != 0) return {};
  const auto elf = cuda::ElfFile::open(in.dli_fname);
  return elf && !elf->section(".nv_fatbin").empty() ? in.dli_fname : std::string();
}

}  // namespace atl::cudart
