#include "inputs/cuda/runtime/copy.hpp"
#include "inputs/cuda/runtime/runtime.hpp"

namespace atl::cudart {
namespace {

/// Runs `body` with the address of `count` bytes at `offset` of the variable.
template <typename Body> int with_symbol(const void* host, std::size_t offset, std::size_t count, Body&& body) {
  return call([&](Runtime& r) -> int {
    Symbol* symbol = r.code.find_symbol(host);
    if (!symbol) return kInvalidSymbol;
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
