#include "comm/mailbox.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "comm/control_message.hpp"
#include "core/engine/error.hpp"

namespace atl {

namespace {
void require_lookahead(LpId source, Cycle arrival, Cycle now) {
  if (arrival < now) [[unlikely]]
    throw SimulationError(
        fmt::format("a message from process {} arrives at cycle {}, before the window that starts at {}: "
                    "its edge's latency is smaller than promised",
                    source, arrival, now));
}
}  // namespace

void Mailbox::put(LpId source, const Message& message, Cycle now) {
  require_lookahead(source, message.arrival, now);
  const Cycle index = message.arrival / window_;
  ATOLL_ASSERT(index >= current_ && message.source == source);
  near(index) ? slot(index).place(source, message) : far(index).data.push_back(message);
  ++kept_;
}

void Mailbox::put(LpId source, ControlMessage&& message, Cycle now) {
  require_lookahead(source, message.arrival, now);
  const Cycle index = message.arrival / window_;
  ATOLL_ASSERT(index >= current_ && message.source == source);
  near(index) ? slots_[index % kSlots].place(source, std::move(message)) : far(index).control.push_back(std::move(message));
  ++kept_;
}

void Mailbox::put(LpId source, Mail& mail, Cycle now) {
  for (const Message& m : mail.data) put(source, m, now);
  for (ControlMessage& c : mail.control) put(source, std::move(c), now);
  mail.clear();
}

/// What arrives in window `index` is in taken_, by source. False if nothing does.
bool Mailbox::open(Cycle index) {
  ATOLL_ASSERT(index >= current_);
  current_ = index + 1;
  if (kept_ == 0) return false;
  std::swap(taken_, slots_[index % kSlots]);
  if (far_first_ < current_ + kSlots) sort_far(index);
  kept_ -= taken_.data.size() + taken_.control.size();
  // Of one source, the run that begins first was sent first.
  const auto first = [](const Run& a, const Run& b) {
    return a.source != b.source ? a.source < b.source : a.begin < b.begin;
  };
  std::sort(taken_.runs.begin(), taken_.runs.end(), first);
  std::sort(taken_.control_runs.begin(), taken_.control_runs.end(), first);
  return true;
}

/// What comes into reach joins its slot; later messages of the same window can only be sent later, so order is kept.
void Mailbox::sort_far(Cycle index) {
  Mail mail = std::exchange(far_, {});
  far_first_ = kNever;
  for (const Message& m : mail.data) {
    const Cycle w = m.arrival / window_;
    if (w == index)
      taken_.place(m.source, m);
    else
      near(w) ? slot(w).place(m.source, m) : far(w).data.push_back(m);
  }
  for (ControlMessage& c : mail.control) {
    const Cycle w = c.arrival / window_;
    if (w == index)
      taken_.place(c.source, std::move(c));
    else
      near(w) ? slots_[w % kSlots].place(c.source, std::move(c)) : far(w).control.push_back(std::move(c));
  }
}

void Mailbox::put_away() {
  taken_.runs.clear(), taken_.control_runs.clear(), taken_.control.clear(), taken_.data.clear();
  if (taken_.data.capacity() != 0) spare_->push_back(std::exchange(taken_.data, {}));
}

/// Window by window; of one window all lie in one place.
std::vector<Mail> Mailbox::undelivered() const {
  std::vector<Mail> all(sources_.size());
  const auto of = [&](LpId source) -> Mail& {
    return all[static_cast<std::size_t>(std::lower_bound(sources_.begin(), sources_.end(), source) - sources_.begin())];
  };
  const auto add = [&](const auto& mail) {
    for (const Message& m : mail.data) of(m.source).data.push_back(m);
    for (const ControlMessage& c : mail.control) of(c.source).control.push_back(c);
  };
  for (Cycle w = current_; w < current_ + kSlots; ++w) add(slots_[w % kSlots]);
  add(far_);
  return all;
}

Cycle Mailbox::earliest() const {
  if (kept_ == 0) return kNever;
  Cycle first = kNever;
  const auto look = [&](const auto& mail) {
    for (const Message& m : mail.data) first = std::min(first, m.arrival);
    for (const ControlMessage& c : mail.control) first = std::min(first, c.arrival);
  };
  for (const Slot& s : slots_) look(s);
  look(far_);
  return first;
}

namespace {
struct EntryHeader {
  std::uint32_t from, to, data, control_bytes;
};
}  // namespace
void encode(const Mail& mail, LpId from, LpId to, std::string& out) {
  const std::string control = mail.control.empty() ? std::string{} : pack(mail.control);
  const EntryHeader header{from, to, static_cast<std::uint32_t>(mail.data.size()),
                           static_cast<std::uint32_t>(control.size())};
  const std::size_t data_bytes = mail.data.size() * sizeof(Message), at = out.size();
  out.resize(at + sizeof header + data_bytes + control.size());
  char* p = out.data() + at;
  std::memcpy(p, &header, sizeof header);
  if (data_bytes != 0) std::memcpy(p + sizeof header, mail.data.data(), data_bytes);
  std::copy(control.begin(), control.end(), p + sizeof header + data_bytes);
}

bool decode(const std::string& in, std::size_t& offset, LpId& from, LpId& to, Mail& mail) {
  if (offset == in.size()) return false;
  EntryHeader header;
  if (in.size() - offset < sizeof header) throw SimulationError("a batch between ranks is cut short");
  std::memcpy(&header, in.data() + offset, sizeof header);
  offset += sizeof header;
  const std::size_t data_bytes = std::size_t{header.data} * sizeof(Message);
  if (in.size() - offset < data_bytes + header.control_bytes) throw SimulationError("a batch between ranks is cut short");
  mail.clear();
  mail.data.resize(header.data);
  if (data_bytes != 0) std::memcpy(static_cast<void*>(mail.data.data()), in.data() + offset, data_bytes);
  offset += data_bytes;
  if (header.control_bytes != 0) mail.control = unpack<std::vector<ControlMessage>>(in.substr(offset, header.control_bytes));
  offset += header.control_bytes;
  from = header.from, to = header.to;
  return true;
}

}  // namespace atl
