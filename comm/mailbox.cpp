#include "comm/mailbox.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "comm/control_message.hpp"
#include "core/engine/error.hpp"

namespace atl {

void Mailbox::put(Mail& mail, Cycle now) {
  const auto check = [&](Cycle arrival) {
    if (arrival < now) {
      throw SimulationError(
          fmt::format("a message from process {} arrives at cycle {}, before the window that starts at {}: "
                      "its edge's latency is smaller than promised",
                      source_, arrival, now));
    }
  };
  for (const Message& m : mail.data) check(m.arrival), place(m);
  for (ControlMessage& c : mail.control) {
    check(c.arrival);
    const Cycle index = c.arrival / window_;
    ATOLL_ASSERT(index >= current_);
    (index - current_ < kSlots ? slots_[index % kSlots].control : far_.control).push_back(std::move(c));
  }
  kept_ += mail.data.size() + mail.control.size();
  mail.clear();
}

const Mail& Mailbox::take(Cycle index) {
  ATOLL_ASSERT(index >= current_);
  taken_.clear();
  if (taken_.data.capacity() != 0) spare_.push_back(std::exchange(taken_.data, {}));
  if (kept_ == 0) {
    current_ = index + 1;
    return taken_;
  }
  std::swap(taken_, slots_[index % kSlots]);
  current_ = index + 1;
  if (!far_.empty()) {
    // What comes into reach joins its slot; later messages of the same window can only be sent later, so order is kept.
    Mail rest;
    for (const Message& m : far_.data) {
      const Cycle w = m.arrival / window_;
      (w == index ? taken_.data : w - current_ < kSlots ? slots_[w % kSlots].data : rest.data).push_back(m);
    }
    for (ControlMessage& c : far_.control) {
      const Cycle w = c.arrival / window_;
      (w == index              ? taken_.control
       : w - current_ < kSlots ? slots_[w % kSlots].control
                               : rest.control)
          .push_back(std::move(c));
    }
    std::swap(far_, rest);
  }
  kept_ -= taken_.data.size() + taken_.control.size();
  return taken_;
}

/// Window by window; of one window all lie in one place.
Mail Mailbox::undelivered() const {
  Mail all;
  const auto add = [&](const Mail& mail) {
    all.data.insert(all.data.end(), mail.data.begin(), mail.data.end());
    all.control.insert(all.control.end(), mail.control.begin(), mail.control.end());
  };
  for (Cycle w = current_; w < current_ + kSlots; ++w) add(slots_[w % kSlots]);
  add(far_);
  return all;
}

Cycle Mailbox::earliest() const {
  if (kept_ == 0) return kNever;
  Cycle first = kNever;
  const auto look = [&](const Mail& mail) {
    for (const Message& m : mail.data) first = std::min(first, m.arrival);
    for (const ControlMessage& c : mail.control) first = std::min(first, c.arrival);
  };
  for (const Mail& s : slots_) look(s);
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
