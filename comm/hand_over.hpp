#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "comm/transport.hpp"

/// Ranks of one address space (Transport::address_space) give each other objects: what crosses is where they lie.
namespace atl {

/// The object goes from one rank to another by a stream between them.
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

/// Collective, of ranks of one address space: all of them keep the object that `make` makes on the first.
template <class Make> auto share(Transport& transport, Make&& make) {
  decltype(make()) mine;
  if (transport.rank() == 0) mine = make();
  auto address = std::bit_cast<std::uintptr_t>(&mine);
  std::string body(reinterpret_cast<const char*>(&address), sizeof address);
  transport.broadcast(body, 0);
  std::memcpy(&address, body.data(), sizeof address);
  auto kept = *std::bit_cast<decltype(&mine)>(address);
  transport.all_gather({});  // the first one's is there until all have theirs
  return kept;
}

}  // namespace atl
