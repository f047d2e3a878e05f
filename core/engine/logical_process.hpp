#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/engine/error.hpp"
#include "core/engine/message.hpp"

namespace atl {

/// A directed connection to another logical process. A message sent at cycle t arrives at t + latency or later: the
/// latency is the receiver's lookahead.
struct Edge {
  LpId to = 0;
  Cycle latency = 1;
};

/// What a process has sent in a window, whoever it is for, in the order of sending: with links between all, each of 64 chips
/// sends to each other one, and few messages each.
struct Outbox {
  template <class T> struct Sent {
    LpId to;
    T message;
  };
  std::vector<Sent<Message>> data;
  std::vector<Sent<ControlMessage>> control;
};

/// A part of the simulated machine that owns its state and its events and meets the others only through messages.
/// It can therefore live in any rank. Called once per window, never per event.
class LogicalProcess {
 public:
  LogicalProcess(LpId id, std::vector<Edge> edges) : id_(id), edges_(std::move(edges)) {}
  virtual ~LogicalProcess() = default;
  LogicalProcess(const LogicalProcess&) = delete;
  LogicalProcess& operator=(const LogicalProcess&) = delete;

  LpId id() const { return id_; }
  const std::vector<Edge>& edges() const { return edges_; }
  /// To processes that an edge leads to.
  Outbox& outbox() { return outbox_; }

  /// Messages from one source whose arrival lies in the window about to run, in the order of sending. Called for the
  /// sources in ascending order.
  virtual void receive(std::span<const Message> messages) = 0;
  virtual void receive(const ControlMessage& message) = 0;

  /// Handles every event before `end`. Messages go to the outbox.
  virtual void run_until(Cycle end) = 0;
  /// Cycle of the earliest pending event, kNever if idle.
  virtual Cycle next_event() const = 0;
  virtual std::uint64_t digest() const = 0;
  virtual std::uint64_t events() const = 0;

 private:
  LpId id_;
  std::vector<Edge> edges_;
  Outbox outbox_;
};

}  // namespace atl
