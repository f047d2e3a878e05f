#pragma once
#include <cstring>
#include <string>
#include <utility>

#include "core/engine/archive.hpp"

/// Bodies of control messages: structs that list their members as state does (core/engine/archive.hpp).
namespace atl {

/// Bytes one after the other. Without streams, whose locales cost more than most bodies.
struct BodyWriter {
  using is_saving = std::true_type;
  std::string bytes{};
  void save_binary(const void* from, std::size_t size) { bytes.append(static_cast<const char*>(from), size); }
};

/// A body that is too short or too long is refused: it may come from a checkpoint.
struct BodyReader {
  using is_saving = std::false_type;
  const std::string& bytes;
  std::size_t at = 0;
  void load_binary(void* to, std::size_t size) {
    require_state(bytes.size() - at >= size);
    std::memcpy(to, bytes.data() + at, size);
    at += size;
  }
};

template <class T> std::string pack(T value) {
  BodyWriter out;
  carry(out, value);
  return std::move(out.bytes);
}

template <class T> T unpack(const std::string& body) {
  BodyReader in{body};
  T value{};
  carry(in, value);
  require_state(in.at == body.size());
  return value;
}

}  // namespace atl
