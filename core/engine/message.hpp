#pragma once
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "core/engine/archive.hpp"
#include "core/engine/types.hpp"

/// What logical processes send each other. Nothing else crosses from one to another.
namespace atl {

/// A data-plane packet on its way: trivially copyable, carried by memcpy.
struct Message {
  using PlainState = void;
  static constexpr std::size_t kPayload = 32;
  Cycle arrival = 0;
  LpId source = 0;
  std::uint32_t port = 0;  ///< meaning is the receiver's
  alignas(8) unsigned char payload[kPayload] = {};

  template <class T> static Message make(Cycle arrival, LpId source, std::uint32_t port, const T& value) {
    static_assert(kPlain<T> && sizeof(T) <= kPayload);
    Message m{arrival, source, port, {}};
    std::memcpy(m.payload, &value, sizeof value);
    return m;
  }
  template <class T> T as() const {
    static_assert(kPlain<T> && sizeof(T) <= kPayload);
    T value;
    std::memcpy(&value, payload, sizeof value);
    return value;
  }
};
static_assert(std::is_trivially_copyable_v<Message> && sizeof(Message) == 48);

/// A control message: rare, of any size, its body a serialised struct.
struct ControlMessage {
  Cycle arrival = 0;
  LpId source = 0;
  std::uint32_t kind = 0;
  std::string body;
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, arrival, source, kind, body); }
};

/// Messages of one window to one receiver, in the order of sending.
struct Mail {
  std::vector<Message> data;
  std::vector<ControlMessage> control;
  bool empty() const { return data.empty() && control.empty(); }
  void clear() { data.clear(), control.clear(); }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, data, control); }
};

}  // namespace atl
