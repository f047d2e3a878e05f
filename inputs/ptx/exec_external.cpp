#include <cstdio>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "inputs/ptx/exec_warp.hpp"

/// The functions that device code calls and nobody defines: the runtime's own.
namespace atl::ptx::exec {
namespace {

std::uint64_t argument(Warp& w, const CallSite& site, std::size_t n, unsigned lane) {
  if (n >= site.arguments.size()) throw Fault{ExecutionError::Kind::unsupported, lane, "a call passes too few parameters"};
  return read_argument(w, w.frame(), site.arguments[n], lane);
}
void give(Warp& w, const CallSite& site, unsigned lane, std::uint64_t value) {
  if (!site.results.empty()) write_argument(w, w.frame(), site.results[0], lane, value);
}

/// Reads printf's packed arguments: natural alignment after C's promotions.
class Arguments {
 public:
  Arguments(Warp& w, unsigned lane, std::uint64_t base) : w_(w), lane_(lane), base_(base) {}
  std::uint64_t take(unsigned bytes) {
    at_ = (at_ + bytes - 1) / bytes * bytes;
    std::uint64_t v = 0;
    std::memcpy(&v, translate(w_, lane_, base_ + at_, bytes, 1), bytes);
    at_ += bytes;
    return v;
  }

 private:
  Warp& w_;
  unsigned lane_;
  std::uint64_t base_, at_ = 0;
};

template <class T> std::string formatted(const std::string& spec, T value) {
  char small[128];
  const int n = std::snprintf(small, sizeof small, spec.c_str(), value);
  if (n < static_cast<int>(sizeof small)) return {small, static_cast<std::size_t>(n < 0 ? 0 : n)};
  std::string large(static_cast<std::size_t>(n) + 1, '\0');
  std::snprintf(large.data(), large.size(), spec.c_str(), value);
  large.pop_back();
  return large;
}

/// One conversion, from its '%' on; moves `at` behind it.
std::string convert(Warp& w, unsigned lane, const std::string& format, std::size_t& at, Arguments& arguments) {
  std::string spec = "%";
  bool wide = false;
  for (++at; at < format.size(); ++at) {
    const char c = format[at];
    if (c == '*') {
      spec += std::to_string(static_cast<int>(arguments.take(4)));
    } else if (std::string("-+ #0123456789.").find(c) != std::string::npos) {
      spec += c;
    } else if (std::string("lhjzt").find(c) != std::string::npos) {
      wide |= c != 'h';
      if (c == 'h') spec += c;
    } else {
      break;
    }
  }
  const char kind = at < format.size() ? format[at++] : '%';
  switch (kind) {
    case '%':
      return "%";
    case 'c':
      return formatted(spec + 'c', static_cast<int>(arguments.take(4)));
    case 'd':
    case 'i':
      return wide ? formatted(spec + "lld", static_cast<long long>(arguments.take(8)))
                  : formatted(spec + 'd', static_cast<int>(arguments.take(4)));
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      return wide ? formatted(spec + "ll" + kind, static_cast<unsigned long long>(arguments.take(8)))
                  : formatted(spec + kind, static_cast<unsigned>(arguments.take(4)));
    case 'p':
      return formatted(spec + 'p', reinterpret_cast<const void*>(arguments.take(8)));  // as the host has it: null is (nil)
    case 's': {
      const std::uint64_t text = arguments.take(8);
      return formatted(spec + 's', text != 0 ? read_string(w, lane, text).c_str() : "(null)");
    }
    default:
      if (std::string("eEfFgGaA").find(kind) != std::string::npos)
        return formatted(spec + kind, std::bit_cast<double>(arguments.take(8)));
      return spec + kind;
  }
}

void print(Warp& w, const CallSite& site, unsigned lane) {
  const std::string format = read_string(w, lane, argument(w, site, 0, lane));
  Arguments arguments(w, lane, argument(w, site, 1, lane));
  std::string text;
  int conversions = 0;
  for (std::size_t at = 0; at < format.size();) {
    if (format[at] != '%') {
      text += format[at++];
    } else {
      conversions += at + 1 < format.size() && format[at + 1] != '%';
      text += convert(w, lane, format, at, arguments);
    }
  }
  if (w.launch->device->print)
    w.launch->device->print(text);
  else
    std::fwrite(text.data(), 1, text.size(), stdout);
  give(w, site, lane, static_cast<std::uint32_t>(conversions));
}

/// As CUDA says it of a thread.
std::string failed_assertion(Warp& w, const CallSite& site, unsigned lane) {
  const auto text = [&](std::size_t n) { return read_string(w, lane, argument(w, site, n, lane)); };
  const std::array<std::uint32_t, 3> thread = thread_of(w, lane);
  return fmt::format("{}:{}: {}: block: [{}], thread: [{}] Assertion `{}` failed.", text(1), argument(w, site, 2, lane),
                     text(3), fmt::join(w.cta->id, w.cta->id + 3, ","), fmt::join(thread, ","), text(0));
}

[[noreturn]] void assertion_failed(Warp& w, const CallSite& site) {
  std::string all;
  for_active(w.active, [&](unsigned lane) { all += (all.empty() ? "" : "\n") + failed_assertion(w, site, lane); });
  throw Fault{ExecutionError::Kind::assertion, static_cast<unsigned>(std::countr_zero(w.active)), all};
}

void free_memory(Warp& w, unsigned lane, std::uint64_t address) {
  const DeviceMemory& memory = w.launch->device->memory;
  const Allocation* const begins = memory.find(address, 0);
  if (address != 0 && (begins == nullptr || begins->address != address))
    throw Fault{ExecutionError::Kind::illegal_address, lane,
                fmt::format("free of {:#x}, {}", address,
                            memory.freed(address) != nullptr ? "which has been freed" : "which malloc has not returned")};
  release_memory(w, address);
}

}  // namespace

void release_memory(Warp& w, std::uint64_t address) {
  for (Range& seen : w.seen) seen = {};
  if (address == 0) return;
  Device& device = *w.launch->device;
  const Allocation* const found = device.memory.find(address);
  if (GlobalRaces* const races = w.launch->spec->races; races != nullptr && found != nullptr)
    races->forget(found->address, found->size);
  device.release ? device.release(address) : device.default_release(address);
}

void call_external(Warp& w, const Function& function, const CallSite& site) {
  Device& device = *w.launch->device;
  const std::uint32_t active = w.active;
  if (function.name == "__assertfail") assertion_failed(w, site);
  for_active(active, [&](unsigned lane) {
    if (function.name == "vprintf") {
      print(w, site, lane);
    } else if (function.name == "malloc") {
      const std::uint64_t size = argument(w, site, 0, lane);
      give(w, site, lane, device.allocate ? device.allocate(size) : device.default_allocate(size));
    } else if (function.name == "free") {
      free_memory(w, lane, argument(w, site, 0, lane));
    } else if (is_device_runtime(function.name)) {
      give(w, site, lane, call_device_runtime(w, function.name, site, lane));
    } else {
      throw Fault{ExecutionError::Kind::unsupported, lane, "function " + function.name + " is not defined in any module"};
    }
  });
  w.change();
}

}  // namespace atl::ptx::exec
