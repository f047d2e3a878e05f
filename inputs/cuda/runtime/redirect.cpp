#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string_view>
#include <unordered_map>

#include "inputs/cuda/elf_file.hpp"
#include "inputs/cuda/runtime/runtime.hpp"

// nvcc links the CUDA runtime into the program by default; no library can be put in front of that. But the functions are in
// its symbol table, so their first bytes can be overwritten with a jump to ours, before the program's constructors run.
namespace atl::cudart {
namespace {

struct Name {
  const char* name;
  void (*function)();
};
extern "C" const Name atoll_cudart_names[];

constexpr std::size_t kNearJump = 5;  // E9 and 32 bits: some functions are too small for more
constexpr std::size_t kFarJump = 14;  // FF 25 0, then 64 bits

/// Where the program was loaded, relative to the addresses in its file.
std::uint64_t load_bias(bool relocatable) {
  if (!relocatable) return 0;
  std::uint64_t bias = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        *static_cast<std::uint64_t*>(out) = info->dlpi_addr;
        return 1;  // the first is the program
      },
      &bias);
  return bias;
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

void redirect(const cuda::ElfFile& elf) {
  std::unordered_map<std::string_view, std::uint64_t> found;
  for (const auto& f : elf.functions())
    if (f.name.starts_with("cuda") || f.name.starts_with("__cuda")) found.emplace(f.name, f.address);
  if (found.find("__cudaRegisterFatBinary") == found.end()) return;  // -cudart shared, or no CUDA at all

  const std::uint64_t bias = load_bias(elf.relocatable());
  std::size_t names = 0;
  while (atoll_cudart_names[names].name) ++names;
  const std::size_t bytes = names * kFarJump;
  std::uint8_t* jumps = map_near(bias + found.begin()->second, bytes);
  if (!jumps)
    throw IoError("the program", "no free addresses near it to redirect its CUDA runtime; build with -cudart shared");
  for (std::size_t i = 0; i < names; ++i) {
    const auto function = found.find(atoll_cudart_names[i].name);
    if (function == found.end()) continue;
    std::uint8_t* jump = jumps + i * kFarJump;
    write_far_jump(jump, atoll_cudart_names[i].function);
    if (!write_near_jump(bias + function->second, jump))
      throw IoError("the program", "its code cannot be changed to redirect its CUDA runtime; build with -cudart shared");
  }
  mprotect(jumps, bytes, PROT_READ | PROT_EXEC);
}

__attribute__((constructor)) void at_start() {
  try {
    const auto elf = cuda::ElfFile::open("/proc/self/exe");
    if (elf) redirect(*elf);
  } catch (...) {
    end_program(std::current_exception());
  }
}

}  // namespace
}  // namespace atl::cudart
