#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>

#include "inputs/cuda/runtime/copy.hpp"
#include "inputs/cuda/runtime/runtime.hpp"

namespace atl::cudart {
namespace {

/// What is at an address that may be anything, so that the kernel of the host copies it: up to the end of its page.
std::string bytes_at(const void* at, std::size_t most) {
  constexpr std::uintptr_t kPage = 4096;
  std::string bytes(std::min<std::size_t>(most, kPage - reinterpret_cast<std::uintptr_t>(at) % kPage), '\0');
  const iovec to{bytes.data(), bytes.size()}, from{const_cast<void*>(at), bytes.size()};
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(process_vm_readv(getpid(), &to, 1, &from, 1, 0), 0)));
  return bytes;
}

/// The variable that a text at `at` names, or "".
std::string variable_named_at(Runtime& r, const void* at) {
  std::string name = bytes_at(at, 255);
  name.resize(std::min(name.find('\0'), name.size()));
  return r.code.has_variable(name) ? name : "";
}

/// Programs from before CUDA 5 name a variable by a text, and many do not look at the error that they get for it. Of a text
/// that is no literal, the templates of later versions pass the address of the pointer.
void warn_of_text(Runtime& r, const void* host) {
  std::string name = variable_named_at(r, host);
  const void* text = nullptr;
  if (const std::string bytes = bytes_at(host, sizeof text); name.empty() && bytes.size() == sizeof text) {
    std::memcpy(&text, bytes.data(), sizeof text);
    name = variable_named_at(r, text);
  }
  static std::set<std::string> told;  // a program may go on for a thousand copies
  if (name.empty() || !told.insert(name).second) return;
  std::fprintf(
      stderr,
      "atoll: warning: the program names variable %s by a text, which CUDA took up to version 4: nothing is copied, and "
      "it gets cudaErrorInvalidSymbol (without the quotes it works, in the .cu file that defines the variable)\n",
      name.c_str());
}

/// Runs `body` with the address of `count` bytes at `offset` of the variable.
template <typename Body> int with_symbol(const void* host, std::size_t offset, std::size_t count, Body&& body) {
  return call([&](Runtime& r) -> int {
    Symbol* symbol = r.code.find_symbol(host);
    if (!symbol) return warn_of_text(r, host), kInvalidSymbol;
    const std::uint64_t address = r.code.address(*symbol);
    if (offset > symbol->size || count > symbol->size - offset) return kInvalidValue;
    return body(r, reinterpret_cast<void*>(address + offset), *symbol);
  });
}

}  // namespace

extern "C" {

int cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t count, std::size_t offset, int kind) {
  return with_symbol(symbol, offset, count,
                     [&](Runtime& r, void* to, const Symbol&) { return copy_bytes(r, to, from, count, kind); });
}

int cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t count, std::size_t offset, int kind,
                            void* stream) {
  return in_stream(stream, NodeType::copy, [=](Runtime&) { return cudaMemcpyToSymbol(symbol, from, count, offset, kind); });
}

int cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t count, std::size_t offset, int kind) {
  return with_symbol(symbol, offset, count,
                     [&](Runtime& r, void* from, const Symbol&) { return copy_bytes(r, to, from, count, kind); });
}

int cudaMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t count, std::size_t offset, int kind, void* stream) {
  return in_stream(stream, NodeType::copy, [=](Runtime&) { return cudaMemcpyFromSymbol(to, symbol, count, offset, kind); });
}

int cudaGetSymbolAddress(void** out, const void* symbol) {
  if (!out) return remember(kInvalidValue);
  return with_symbol(symbol, 0, 0, [&](Runtime&, void* at, const Symbol&) -> int { return *out = at, kSuccess; });
}

int cudaGetSymbolSize(std::size_t* out, const void* symbol) {
  if (!out) return remember(kInvalidValue);
  return with_symbol(symbol, 0, 0, [&](Runtime&, void*, const Symbol& s) -> int { return *out = s.size, kSuccess; });
}

}  // extern "C"
}  // namespace atl::cudart
