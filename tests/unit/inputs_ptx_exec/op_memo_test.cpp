#include <doctest/doctest.h>

#include <bit>
#include <cstring>
#include <random>
#include <thread>

#include "inputs/ptx/op_memo.hpp"
#include "inputs/ptx/record_cta.hpp"

using namespace atl;
using namespace atl::ptx;

namespace {

/// An instruction of each kind that warps record, on 8 registers.
RecordTable table_of_all_kinds() {
  RecordTable table;
  table.register_count = 8;
  const auto add = [&](RecordInfo info, std::vector<std::uint32_t> registers, std::uint16_t results) {
    info.first = static_cast<std::uint32_t>(table.registers.size());
    info.results = results, info.sources = static_cast<std::uint16_t>(registers.size() - results);
    table.registers.insert(table.registers.end(), registers.begin(), registers.end());
    table.infos.push_back(info);
  };
  const auto info = [](RecordInfo::Kind kind, std::uint16_t width = 4, std::uint8_t pieces = 1) {
    RecordInfo i;
    i.kind = kind, i.width = width, i.pieces = pieces;
    return i;
  };
  add(info(RecordInfo::compute), {0, 1, 2}, 1);
  add(info(RecordInfo::compute), {2, 3, 3}, 1);
  add(info(RecordInfo::free), {3, 4}, 1);
  add(info(RecordInfo::barrier), {}, 0);
  add(info(RecordInfo::load), {4, 5}, 1);
  add(info(RecordInfo::load, 16), {0, 6}, 1);
  add(info(RecordInfo::store), {5, 6}, 0);
  add(info(RecordInfo::store, 1), {1}, 0);
  add(info(RecordInfo::atomic), {6, 7}, 1);
  RecordInfo copy = info(RecordInfo::copy, 16, 2), texel = info(RecordInfo::load), element = info(RecordInfo::store, 8);
  copy.some_lanes = texel.some_lanes = element.some_lanes = true;
  add(copy, {0, 1}, 0);
  add(texel, {3, 7}, 1);
  add(element, {7, 2}, 0);
  add(info(RecordInfo::copy_commit), {}, 0);
  add(info(RecordInfo::copy_wait), {}, 0);
  add(info(RecordInfo::copy_wait_all), {}, 0);
  add(info(RecordInfo::bulk_load, 1, 2), {2}, 0);
  return table;
}

struct Batch {
  std::vector<WarpEvent> events;
  std::vector<std::uint64_t> addresses;
};

/// `path`: batches of the same have the same instructions. Lanes and addresses are as `random` has it; addresses may be
/// shared or local ones where instructions leave that open. In every other batch all access rows or one place.
Batch batch_of(const RecordTable& table, unsigned path, std::mt19937_64& random) {
  std::mt19937_64 way(path);
  Batch batch;
  const auto count = 1 + way() % 60;
  const bool bulky = path % 5 == 4, rows = random() % 2 == 0;
  for (std::uint64_t n = 0; n < count; ++n) {
    const auto id = static_cast<std::uint32_t>(way() % (table.infos.size() - (bulky ? 0 : 1)));
    const RecordInfo& info = table.infos[id];
    auto mask = static_cast<std::uint32_t>(random() % 2 == 0 ? 0xFFFFFFFF : random() | 1);
    if (way() % 8 == 0) mask = 0;
    batch.events.emplace_back(id, mask);
    if (mask == 0 || !info.accesses()) continue;
    const auto lanes = static_cast<unsigned>(std::popcount(mask));
    const std::uint64_t windows[] = {0, 0, 0, 0, 0, 0, 0, 0, exec::kSharedWindow, exec::kLocalWindow};
    const bool generic = !info.some_lanes && (info.kind == RecordInfo::load || info.kind == RecordInfo::store);
    const std::uint64_t window = generic ? windows[random() % 10] : 0;
    if (rows && info.pieces == 1 && !info.some_lanes && window != exec::kLocalWindow) {  // local memory has all addresses
      WarpEvent& event = batch.events.back();
      event.mask = 0xFFFFFFFF, event.spread = random() % 2 == 0 ? Spread::row : Spread::same;
      batch.addresses.push_back(window | (random() % 4096 * (random() % 4 == 0 ? info.width : 128)));
      continue;
    }
    const bool none = random() % 8 == 0;  // of the lanes that need not access anything
    for (unsigned piece = 0; piece < info.pieces; ++piece) {
      const bool length = info.kind == RecordInfo::bulk_load && piece == 1;
      const std::uint64_t first = random() % 4096 * 16, step = random() % 3 * info.width;
      for (unsigned l = 0; l < lanes; ++l) {
        const std::uint64_t address = first + (random() % 16 == 0 ? random() % 64 * 16 : l * step);
        const bool nowhere = info.some_lanes && piece + 1 == info.pieces && (none || random() % 3 == 0);
        batch.addresses.push_back(nowhere ? kReadsNothing : length ? 16 * (1 + random() % 64) : window | address);
      }
    }
  }
  return batch;
}

bool same(const CtaProgram& a, const CtaProgram& b) {
  const auto equal = [](const auto& x, const auto& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof x[0]) == 0;
  };
  return equal(a.ops, b.ops) && equal(a.accesses, b.accesses) && equal(a.warps, b.warps);
}

void begin(OpMemo& memo, const RecordTable& table) {
  WarpTimeline fresh;
  fresh.begin(table.register_count);
  memo.reset(fresh.state());
}

/// A CTA of 8 warps; all numbers follow from `seed`.
CtaProgram record(CtaRecorder& recorder, OpMemo& memo, const RecordTable& table, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  recorder.begin(table, memo, 8);
  for (unsigned round = 0; round < 4; ++round)
    for (unsigned warp = 0; warp < 8; ++warp) {
      const unsigned path = 10 * round + static_cast<unsigned>(random() % (round == 0 ? 2 : 5));
      const Batch batch = batch_of(table, path, random);
      recorder.events(warp, batch.events, batch.addresses);
    }
  recorder.finish();
  recorder.make_program();
  return recorder.program();
}

}  // namespace

TEST_CASE("warps that do what others did before become the ops that they become alone") {
  const RecordTable table = table_of_all_kinds();
  OpMemo shared;
  begin(shared, table);
  CtaRecorder recorder, other;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const CtaProgram remembered = record(recorder, shared, table, seed);
    // Alone: a memo that holds at most what the warp itself did.
    std::mt19937_64 random(seed);
    CtaProgram alone;
    std::vector<std::vector<Batch>> warps(8);
    for (unsigned round = 0; round < 4; ++round)
      for (std::vector<Batch>& warp : warps) {
        const unsigned path = 10 * round + static_cast<unsigned>(random() % (round == 0 ? 2 : 5));
        warp.push_back(batch_of(table, path, random));
      }
    for (const std::vector<Batch>& warp : warps) {
      OpMemo empty;
      begin(empty, table);
      other.begin(table, empty, 1);
      for (const Batch& batch : warp) other.events(0, batch.events, batch.addresses);
      other.finish();
      other.make_program();
      const auto first_op = static_cast<std::uint32_t>(alone.ops.size());
      const auto first_access = static_cast<std::uint32_t>(alone.accesses.size());
      for (atl::Op op : other.program().ops) op.first_access += first_access, alone.ops.push_back(op);
      alone.accesses.insert(alone.accesses.end(), other.program().accesses.begin(), other.program().accesses.end());
      alone.warps.push_back({first_op, static_cast<std::uint32_t>(other.program().ops.size())});
    }
    REQUIRE(same(remembered, alone));
  }
}

TEST_CASE("what a warp did is known afterwards for the same instructions, whatever the lanes, and for no others") {
  const RecordTable table = table_of_all_kinds();
  OpMemo memo;
  begin(memo, table);
  CtaRecorder recorder;
  recorder.begin(table, memo, 1);
  const std::vector<WarpEvent> events = {{0, 0xFFFFFFFF}, {1, 7}, {2, 0}};
  CHECK(memo.find(*memo.start(), events) == nullptr);
  recorder.events(0, events, {});
  const OpMemo::Step* step = memo.find(*memo.start(), events);
  REQUIRE(step != nullptr);
  CHECK(memo.find(*step, events) == nullptr);
  CHECK(memo.find(*memo.start(), std::vector<WarpEvent>{{0, 1}, {1, 2}, {2, 0}}) == step);
  CHECK(memo.find(*memo.start(), std::vector<WarpEvent>{{0, 1}, {1, 2}, {2, 4}}) == nullptr);
  CHECK(memo.find(*memo.start(), std::vector<WarpEvent>{{0, 1}, {1, 2}, {1, 0}}) == nullptr);
  CHECK(memo.find(*memo.start(), std::vector<WarpEvent>{{0, 1}, {1, 2}}) == nullptr);
  begin(memo, table);
  CHECK(memo.find(*memo.start(), events) == nullptr);
}

TEST_CASE("threads that share a memo make what one makes") {
  const RecordTable table = table_of_all_kinds();
  OpMemo memo;
  begin(memo, table);
  std::vector<CtaProgram> made(80);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      CtaRecorder recorder;
      for (std::size_t n = t; n < made.size(); n += 4) made[n] = record(recorder, memo, table, n);
    });
  for (std::thread& t : threads) t.join();
  CtaRecorder recorder;
  for (std::size_t n = 0; n < made.size(); ++n) {
    OpMemo empty;
    begin(empty, table);
    CHECK(same(made[n], record(recorder, empty, table, n)));
  }
}
