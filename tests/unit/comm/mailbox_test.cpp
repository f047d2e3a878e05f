#include "comm/mailbox.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <compare>
#include <random>
#include <string>
#include <vector>

#include "core/engine/assert.hpp"
#include "core/engine/error.hpp"

namespace atl::test {
namespace {

constexpr Cycle kWindow = 10;

Mail mail_of(std::initializer_list<Cycle> arrivals) {
  Mail mail;
  std::uint64_t order = 0;
  for (const Cycle at : arrivals) mail.data.push_back(Message::make(at, 3, 7, order++));
  return mail;
}

std::vector<Cycle> arrivals(const Mail& mail) {
  std::vector<Cycle> out;
  for (const Message& m : mail.data) out.push_back(m.arrival);
  return out;
}

using Cycles = std::vector<Cycle>;

/// Of a process that hears from three others.
struct Box : Mailbox {
  Box() : Mailbox({1, 3, 8}, kWindow, spare) {}
  Mail taken(Cycle index) {
    Mail all;
    take(
        index, [&](std::span<const Message> data) { all.data.insert(all.data.end(), data.begin(), data.end()); },
        [&](const ControlMessage& c) { all.control.push_back(c); });
    return all;
  }
  Spare spare;
};

TEST_CASE("messages are handed over at the window of their arrival, first and last cycle included, and only once") {
  Box box;
  Mail mail = mail_of({10, 19, 20, 39});
  box.put(3, mail, 10);
  CHECK(mail.empty());
  CHECK(box.taken(0).empty());
  CHECK(arrivals(box.taken(1)) == Cycles{10, 19});
  CHECK(arrivals(box.taken(2)) == Cycles{20});
  CHECK(arrivals(box.taken(3)) == Cycles{39});
  CHECK(box.taken(4).empty());
}

TEST_CASE("within a window the order is that of sending, not of arrival") {
  Box box;
  Mail mail = mail_of({18, 12, 15}), later = mail_of({11});
  box.put(3, mail, 10);
  box.put(3, later, 10);
  CHECK(arrivals(box.taken(1)) == Cycles{18, 12, 15, 11});
}

TEST_CASE("a message many windows ahead waits for its window and keeps its place before later ones") {
  Box box;
  Mail far = mail_of({1005, 500});
  box.put(3, far, 10);
  Mail near = mail_of({1001});
  for (Cycle w = 1; w < 100; ++w) {
    if (w == 95) box.put(3, near, 950);
    CHECK(arrivals(box.taken(w)) == (w == 50 ? Cycles{500} : Cycles{}));
  }
  CHECK(arrivals(box.taken(100)) == Cycles{1005, 1001});
}

TEST_CASE("windows may be skipped over when nothing is due in them") {
  Box box;
  Mail mail = mail_of({123456});
  box.put(3, mail, 10);
  CHECK(box.earliest() == 123456);
  CHECK(arrivals(box.taken(12345)) == Cycles{123456});
  CHECK(box.earliest() == kNever);
  Mail next = mail_of({123470, 123460});
  box.put(3, next, 123460);
  CHECK(box.earliest() == 123460);
  CHECK(arrivals(box.taken(12346)) == Cycles{123460});
  CHECK(arrivals(box.taken(12347)) == Cycles{123470});
}

/// Those of `kept` that arrive in a window, by source and order of sending; they are kept no longer.
struct Sent {
  LpId source;
  std::uint64_t order;
  Cycle window;
  auto operator<=>(const Sent&) const = default;
};
std::vector<Sent> due(std::vector<Sent>& kept, Cycle index) {
  std::vector<Sent> found;
  std::erase_if(kept, [&](const Sent& m) { return m.window == index && (found.push_back(m), true); });
  std::sort(found.begin(), found.end());
  return found;
}

TEST_CASE("random messages, near and far, come by window, source and order of sending, whatever windows are skipped") {
  std::mt19937 random(7);
  for (int run = 0; run < 200; ++run) {
    CAPTURE(run);
    Box box;
    const Cycle reach = run % 2 == 0 ? 20 : 300;  // windows ahead, of which 16 have slots
    std::vector<Sent> data, control;
    std::uint64_t order = 0, came = 0;
    Cycle index = 0;
    while (index < 1000 || !data.empty() || !control.empty()) {
      for (auto n = index < 1000 ? random() % 4 : 0; n-- > 0; ++order) {
        const LpId source = box.sources()[random() % 3];
        const Cycle arrival = index * kWindow + random() % (reach * kWindow);
        if (random() % 3 == 0) {
          box.put(source, ControlMessage{arrival, source, 1, std::to_string(order)}, index * kWindow);
          control.push_back({source, order, arrival / kWindow});
        } else {
          box.put(source, Message::make(arrival, source, 7, order), index * kWindow);
          data.push_back({source, order, arrival / kWindow});
        }
      }
      if (const Cycle first = box.earliest(); random() % 3 == 0 && first != kNever) index = first / kWindow;
      const Mail got = box.taken(index);
      std::vector<Sent> seen, told;
      for (const Message& m : got.data) seen.push_back({m.source, m.as<std::uint64_t>(), m.arrival / kWindow});
      for (const ControlMessage& m : got.control) told.push_back({m.source, std::stoull(m.body), m.arrival / kWindow});
      CHECK(seen == due(data, index));
      CHECK(told == due(control, index));
      came += seen.size() + told.size();
      ++index;
    }
    CHECK(came == order);
    CHECK(box.earliest() == kNever);
  }
}

TEST_CASE("control messages are kept beside data and handed over in their own window") {
  Box box;
  Mail mail;
  mail.control.push_back({25, 3, 1, "b"});
  mail.control.push_back({905, 3, 2, "far"});
  mail.control.push_back({21, 3, 1, "a"});
  box.put(3, mail, 20);
  CHECK(box.earliest() == 21);
  const Mail now = box.taken(2);
  REQUIRE(now.control.size() == 2);
  CHECK(now.control[0].body == "b");
  CHECK(now.control[1].body == "a");
  const Mail then = box.taken(90);
  REQUIRE(then.control.size() == 1);
  CHECK(then.control[0].body == "far");
}

TEST_CASE("a control message many windows ahead keeps its place before those that are sent later for its window") {
  Box box;
  Mail mail;
  mail.control.push_back({1005, 3, 1, "first"});
  box.put(3, mail, 10);
  for (Cycle w = 1; w < 95; ++w) CHECK(box.taken(w).empty());
  mail.control.push_back({1001, 3, 1, "second"});
  box.put(3, mail, 950);
  for (Cycle w = 95; w < 100; ++w) CHECK(box.taken(w).empty());
  const Mail now = box.taken(100);
  REQUIRE(now.control.size() == 2);
  CHECK(now.control[0].body == "first");
  CHECK(now.control[1].body == "second");
}

TEST_CASE("what several sent for a window comes by source, of each its messages before its control messages") {
  Box box;
  const auto put = [&](LpId source, std::uint64_t number, bool control) {
    Mail mail;
    mail.data.push_back(Message::make(25, source, 0, number));
    if (control) mail.control.push_back({25, source, 0, std::to_string(number)});
    box.put(source, mail, 10);
  };
  put(8, 80, true), put(1, 10, true), put(3, 30, false), put(1, 11, false), put(8, 81, true);
  std::vector<std::string> seen;
  box.take(
      2,
      [&](std::span<const Message> data) {
        for (const Message& m : data) seen.push_back("data " + std::to_string(m.as<std::uint64_t>()));
      },
      [&](const ControlMessage& c) { seen.push_back("control " + c.body); });
  CHECK(seen == std::vector<std::string>{"data 10", "data 11", "control 10", "data 30", "data 80", "data 81", "control 80",
                                         "control 81"});
}

TEST_CASE("random messages come out by window, by source and in the order of sending, whatever the distance") {
  std::mt19937 random(11);
  Box box, resumed;
  std::vector<Message> sent;
  std::size_t received = 0;
  for (Cycle w = 0; w < 500; ++w) {
    if (w == 200) {  // as from a checkpoint: the same hand-overs
      resumed.restart(w);
      std::vector<Mail> left = box.undelivered();
      for (std::size_t i = 0; i < left.size(); ++i) resumed.put(box.sources()[i], left[i], w * kWindow);
    }
    std::vector<std::uint64_t> wanted, got, again;
    for (const LpId source : box.sources())
      for (const Message& m : sent)
        if (m.source == source && m.arrival / kWindow == w) wanted.push_back(m.as<std::uint64_t>());
    for (const Message& m : box.taken(w).data) got.push_back(m.as<std::uint64_t>());
    CHECK(got == wanted);
    if (w >= 200) {
      for (const Message& m : resumed.taken(w).data) again.push_back(m.as<std::uint64_t>());
      CHECK(again == wanted);
    }
    received += got.size();
    if (w >= 400) continue;
    for (unsigned sender = random() % 4; sender != 0; --sender) {
      const LpId source = box.sources()[random() % 3];
      Mail more;
      for (unsigned i = random() % 5; i != 0; --i) {
        const Cycle at = (w + 1) * kWindow + random() % (random() % 4 == 0 ? 900u : 60u);
        sent.push_back(Message::make(at, source, 0, std::uint64_t{sent.size()}));
        more.data.push_back(sent.back());
      }
      Mail copy = more;
      box.put(source, more, (w + 1) * kWindow);
      if (w >= 200) resumed.put(source, copy, (w + 1) * kWindow);
    }
  }
  CHECK(received == sent.size());
}

TEST_CASE("a message in the past is an error that names its source, its cycle and the window's") {
  Box box;
  Mail mail = mail_of({49});
  CHECK_THROWS_WITH_AS(
      box.put(3, mail, 50),
      "a message from process 3 arrives at cycle 49, before the window that starts at 50: its edge's latency is "
      "smaller than promised",
      SimulationError);
  Mail control;
  control.control.push_back({48, 3, 1, ""});
  CHECK_THROWS_AS(box.put(3, control, 50), SimulationError);
}

TEST_CASE("a batch of several entries comes back as it was encoded") {
  Mail first = mail_of({1, 2, 3}), second, empty;
  second.control.push_back({77, 5, 9, std::string("\0binary\n", 8)});
  second.control.push_back({78, 5, 10, ""});
  second.data.push_back(Message::make(80, 5, 4, 2.5));
  std::string batch;
  encode(first, 3, 1, batch);
  encode(empty, 4, 1, batch);
  encode(second, 5, 2, batch);

  std::size_t offset = 0;
  LpId from = 0, to = 0;
  Mail mail;
  REQUIRE(decode(batch, offset, from, to, mail));
  CHECK(from == 3);
  CHECK(to == 1);
  CHECK(arrivals(mail) == Cycles{1, 2, 3});
  CHECK(mail.data[2].as<std::uint64_t>() == 2);
  CHECK(mail.data[2].port == 7);
  REQUIRE(decode(batch, offset, from, to, mail));
  CHECK(from == 4);
  CHECK(mail.empty());
  REQUIRE(decode(batch, offset, from, to, mail));
  CHECK(from == 5);
  CHECK(to == 2);
  CHECK(mail.data.at(0).as<double>() == 2.5);
  REQUIRE(mail.control.size() == 2);
  CHECK(mail.control[0].arrival == 77);
  CHECK(mail.control[0].source == 5);
  CHECK(mail.control[0].kind == 9);
  CHECK(mail.control[0].body == std::string("\0binary\n", 8));
  CHECK(mail.control[1].body.empty());
  CHECK_FALSE(decode(batch, offset, from, to, mail));
}

TEST_CASE("a batch that is cut short anywhere but between entries is an error") {
  Mail mail = mail_of({1, 2});
  mail.control.push_back({3, 3, 1, "body"});
  std::string batch;
  encode(mail, 3, 1, batch);
  for (std::size_t size = 1; size < batch.size(); ++size) {
    std::size_t offset = 0;
    LpId from = 0, to = 0;
    Mail out;
    CHECK_THROWS_AS(decode(batch.substr(0, size), offset, from, to, out), SimulationError);
  }
}

TEST_CASE("a window is taken once, in order, where assertions are built in" * doctest::skip(!kAssertions)) {
  Box box;
  box.taken(4);
  CHECK_THROWS_AS(box.taken(4), AssertionFailure);
}

TEST_CASE("what has not been handed over is kept for a checkpoint, the far future included") {
  Box box;
  Mail mail = mail_of({15, 25, 10'000});
  mail.control.push_back({20'000, 3, 1, "x"});
  box.put(3, mail, 10);
  box.taken(1);
  const Mail left = box.undelivered().at(1);
  CHECK(arrivals(left) == Cycles{25, 10'000});
  REQUIRE(left.control.size() == 1);
  CHECK(left.control[0].arrival == 20'000);
}

}  // namespace
}  // namespace atl::test
