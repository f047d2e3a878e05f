#include "run.hpp"

namespace atl::test {
namespace {

Packet packet(PacketKind kind, std::uint8_t sectors) {
  Packet p;
  p.kind = kind, p.sectors = sectors;
  return p;
}

TEST_CASE("a packet is its header, the sectors that it carries, and what fills its last flit") {
  SystemConfig c = tiny(1);
  c.noc.header_bytes = 8;
  for (const auto& [flit, header, one, four] :
       {std::tuple{1u, 8u, 40u, 136u}, {32u, 32u, 64u, 160u}, {40u, 40u, 40u, 160u}}) {
    c.noc.flit_bytes = flit;
    const Machine m(c);
    CHECK(m.bytes(packet(PacketKind::read, 0xF)) == header);
    CHECK(m.bytes(packet(PacketKind::write, 0x4)) == one);
    CHECK(m.bytes(packet(PacketKind::read_data, 0xF)) == four);
  }
}

}  // namespace
}  // namespace atl::test
