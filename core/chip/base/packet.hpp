#pragma once
#include <bit>
#include <cstdint>

#include "core/engine/types.hpp"

namespace atl {

/// Requests travel from an SM, or from an LLC slice that misses, towards the home; responses travel back. The two use
/// separate networks and virtual channels, and responses are always consumed: that is what rules out protocol deadlock.
/// `own` tells a line's home that the sender has written its copy; `invalidate` tells a chip that its copy is void.
enum class PacketKind : std::uint8_t {
  read,
  write,
  atomic,
  writeback,
  own,
  invalidate,
  read_data,
  write_ack,
  atomic_data,
  writeback_ack,
  own_ack,
  invalidate_ack
};
inline constexpr std::size_t kPacketKinds = 12;
inline constexpr bool is_response(PacketKind k) { return k >= PacketKind::read_data; }
inline constexpr PacketKind response_to(PacketKind k) {
  return static_cast<PacketKind>(static_cast<unsigned>(k) + kPacketKinds / 2);
}

enum PacketFlags : std::uint8_t {
  kToSlice = 1,     ///< asked for by an LLC slice (its `entry`), not by an SM
  kFromMemory = 2,  ///< the data came from DRAM
  kDirect = 4,      ///< `token` is a warp and scoreboard slot: the request holds no L1 MSHR
  kReadOnlyData = 8,
  kPartialWrite = 32,  ///< bytes of its sectors stay as they are
  kFromL2 = 32,        ///< of data: they came out of the L2
  kLlcRemote = 16,     ///< the data came out of a slice of another chip than the requester's
  kRides = 128,        ///< no bytes of its own: an invalidation that another one's message names, or its acknowledgement
  kFromOwner = 64,     ///< asked of the chip that wrote the line last: `home` is that chip, `token` the line's home
};

/// One request or response. Trivially copyable; fits a Message.
struct Packet {
  using PlainState = void;
  LineAddr line;
  std::uint32_t token = 0;  ///< of the requesting SM: L1 MSHR, or warp << 8 | slot with kDirect
  std::uint32_t entry = 0;  ///< of the requesting slice: its MSHR
  std::uint32_t born = 0;   ///< low bits of the cycle at which the L1 missed
  std::uint16_t sm = 0;
  std::uint8_t source = 0;  ///< chip that asked
  std::uint8_t home = 0;    ///< chip that owns the page
  PacketKind kind = PacketKind::read;
  std::uint8_t sectors = 0;  ///< bit mask of 32-byte sectors
  std::uint8_t flags = 0;
  /// Slice index of the line, the same in every chip; of the L2 where there is one, but towards memory.
  std::uint8_t slice = 0;
  /// Of a write-back: sectors whose other bytes nobody has read. With it a copy is of two whole words of 16 bytes.
  std::uint32_t in_part = 0;

  bool has(PacketFlags f) const { return (flags & f) != 0; }
  LpId destination() const { return is_response(kind) ? source : home; }
  /// For digests: what tells this packet from another, in two words. The slice follows from the line, and so does the home
  /// unless kFromOwner, where the token is the line's and the home the owner. `in_part` shows in what is read afterwards.
  std::uint64_t word0() const { return line.value ^ (std::uint64_t{token} << 40); }
  std::uint64_t word1() const {
    return std::uint64_t{entry} | std::uint64_t{sm} << 32 | std::uint64_t{source} << 42 |
           std::uint64_t{static_cast<unsigned>(kind)} << 48 | std::uint64_t{sectors} << 52 | std::uint64_t{flags} << 56;
  }
};
static_assert(sizeof(Packet) == 32);

}  // namespace atl
