#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "comm/transport.hpp"

/// An object goes from one rank to another of the same address space (Transport::address_space) by a stream between them:
/// what crosses is where it lies.
namespace atl {

template <class T> void hand_over(Stream& to, std::unique_ptr<T> object) {
  const auto address = std::bit_cast<std::uintptr_t>(object.get());
  to.send(std::string(reinterpret_cast<const char*>(&address), sizeof address));
  static_cast<void>(object.release());  // not before: a send that throws leaves it here
}

template <class T> std::unique_ptr<T> take_over(Stream& from) {
  std::string body;
  from.receive(body);
  std::uintptr_t address = 0;
  std::memcpy(&address, body.data(), sizeof address);
  return std::unique_ptr<T>(std::bit_cast<T*>(address));
}

}  // namespace atl
