#include "inputs/cuda/arena.hpp"

#include <doctest/doctest.h>

#include <cstring>

#include "core/engine/error.hpp"

using namespace atl;
using namespace atl::cuda;

namespace {

constexpr std::uint64_t kBase = 0x2100'0000'0000, kReserved = 1 << 24, kCapacity = 1 << 20;

char* bytes(std::uint64_t address) { return reinterpret_cast<char*>(address); }

}  // namespace

TEST_CASE("the same allocations get the same addresses in every run, from the fixed base up") {
  for (int run = 0; run < 2; ++run) {
    DeviceArena arena(kCapacity, kBase, kReserved);
    CHECK(arena.allocate(1000) == kBase);
    CHECK(arena.allocate(1) == kBase + 1024 + 512);
    CHECK(arena.allocate(512) == kBase + 1024 + 512 + 512 + 512);
  }
}

TEST_CASE("blocks are aligned to 512 bytes and at least 512 bytes apart") {
  DeviceArena arena(kCapacity, kBase, kReserved);
  std::uint64_t end = 0;
  for (std::uint64_t size = 1; size < 3000; size += 77) {
    const std::uint64_t at = arena.allocate(size);
    CHECK(at % 512 == 0);
    if (end != 0) CHECK(at - end >= 512);
    CHECK(arena.find(at + size) == nullptr);
    end = at + size;
  }
}

TEST_CASE("a block knows its size, its kind and its place in the order of allocations") {
  DeviceArena arena(kCapacity, kBase, kReserved);
  arena.allocate(100);
  const std::uint64_t at = arena.allocate(200, MemoryKind::managed);
  const Allocation* block = arena.find(at + 199);
  REQUIRE(block);
  CHECK(block->address == at);
  CHECK(block->size == 200);
  CHECK(block->ordinal == 1);
  CHECK(block->kind == MemoryKind::managed);
}

TEST_CASE("freed addresses are used again, lowest first, and read as zero") {
  DeviceArena arena(kCapacity, kBase, kReserved);
  const std::uint64_t a = arena.allocate(10000), b = arena.allocate(10000);
  std::memset(bytes(a), 1, 10000);
  std::memset(bytes(b), 1, 10000);
  CHECK(arena.release(a));
  CHECK(arena.find(a) == nullptr);
  CHECK(arena.allocate(9000) == a);
  for (int i = 0; i < 9000; ++i) REQUIRE(bytes(a)[i] == 0);
  for (int i = 0; i < 10000; ++i) REQUIRE(bytes(b)[i] == 1);
  CHECK(arena.allocate(1 << 18) > b);
}

TEST_CASE("a part of a block that is zeroed has whole pages and ends of pages, and its neighbours keep what they hold") {
  DeviceArena arena(kCapacity, kBase, kReserved);
  constexpr std::uint64_t kSize = 5 * 4096;
  const std::uint64_t at = arena.allocate(kSize);
  for (const auto& [first, size] : {std::pair(100u, 3u * 4096u), {4096u, 4096u}, {5000u, 10u}, {0u, 5u * 4096u}}) {
    std::memset(bytes(at), 7, kSize);
    DeviceArena::zero(at + first, size);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < kSize; ++i) wrong += bytes(at)[i] != (i >= first && i < first + size ? 0 : 7);
    CHECK(wrong == 0);
  }
}

TEST_CASE("neighbouring free blocks join") {
  DeviceArena arena(kCapacity, kBase, 3 * 65536);
  const std::uint64_t a = arena.allocate(65536 - 512), b = arena.allocate(65536 - 512), c = arena.allocate(65536 - 512);
  CHECK(arena.allocate(1) == 0);
  CHECK(arena.release(a));
  CHECK(arena.release(c));
  CHECK(arena.release(b));
  CHECK(arena.allocate(3 * 65536 - 512) == a);
}

TEST_CASE("more than the capacity is refused, and freeing gives it back") {
  DeviceArena arena(kCapacity, kBase, kReserved);
  CHECK(arena.allocate(kCapacity + 1) == 0);
  CHECK(arena.allocate(0) == 0);
  const std::uint64_t a = arena.allocate(kCapacity);
  CHECK(arena.free_bytes() == 0);
  CHECK(arena.allocate(1) == 0);
  CHECK(arena.release(a));
  CHECK(arena.free_bytes() == kCapacity);
}

TEST_CASE("only the address where a block begins frees it, and only once") {
  DeviceArena arena(kCapacity, kBase, kReserved);
  const std::uint64_t a = arena.allocate(1000);
  CHECK_FALSE(arena.release(a + 512));
  CHECK(arena.release(a));
  CHECK_FALSE(arena.release(a));
}

TEST_CASE("addresses that are taken are an error that says so") {
  DeviceArena arena(kCapacity, kBase, kReserved);
  CHECK_THROWS_WITH_AS(DeviceArena(kCapacity, kBase, kReserved), doctest::Contains("cannot be reserved"), IoError);
}

TEST_CASE("each of several devices has its memory and its capacity, and an address tells whose it is") {
  DeviceArena arena = DeviceArena::of_devices(1 << 20, 3);
  const std::uint64_t first = arena.allocate(4096, MemoryKind::device, 512, 0);
  const std::uint64_t third = arena.allocate(1 << 20, MemoryKind::device, 512, 2);
  const std::uint64_t managed = arena.allocate(2 << 20, MemoryKind::managed, 512, 1);
  CHECK(first == DeviceArena::kBase);
  CHECK(third == DeviceArena::kBase + 2 * DeviceArena::kWindow);
  CHECK(managed == DeviceArena::kBase + 3 * DeviceArena::kWindow);
  CHECK(arena.device_of(first + 4095) == 0);
  CHECK(arena.device_of(third) == 2);
  CHECK(arena.device_of(managed) == 3);                       // of none
  CHECK(arena.device_of(0x1000) == 3);                        // nor is the program's own memory
  CHECK(arena.allocate(1, MemoryKind::device, 512, 2) == 0);  // it is full
  CHECK(arena.free_bytes(0) == (1 << 20) - 4096);
  CHECK(arena.release(third));
  CHECK(arena.free_bytes(2) == 1 << 20);
  CHECK(arena.allocate(1, MemoryKind::device, 512, 2) == third);
}

TEST_CASE("reserved addresses hold memory where it is mapped, and go to nobody else") {
  DeviceArena arena(kCapacity, kBase, kReserved);
  constexpr std::uint64_t kPiece = 1 << 16;
  const std::uint64_t at = arena.reserve(4 * kPiece, kPiece);
  REQUIRE(at == kBase);
  CHECK(arena.find(at) == nullptr);
  CHECK(arena.free_bytes() == kCapacity);
  CHECK(arena.allocate(512) > at + 4 * kPiece);

  REQUIRE(arena.map(at + kPiece, kPiece));
  CHECK(arena.free_bytes() == kCapacity - kPiece - 512);
  CHECK(arena.find(at + kPiece - 1) == nullptr);
  CHECK(arena.find(at + 2 * kPiece - 1)->address == at + kPiece);
  CHECK(arena.find(at + 2 * kPiece) == nullptr);
  bytes(at + kPiece)[5] = 7;
  REQUIRE(arena.unmap(at + kPiece));
  CHECK_FALSE(arena.unmap(at + kPiece));
  REQUIRE(arena.map(at + kPiece, kPiece));
  CHECK(bytes(at + kPiece)[5] == 0);
  CHECK(arena.unmap(at + kPiece));
  CHECK_FALSE(arena.map(at, 2 * kCapacity));

  arena.unreserve(at, 4 * kPiece);
  CHECK(arena.allocate(1000) == kBase);
}
