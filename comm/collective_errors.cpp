#include "comm/collective_errors.hpp"

#include <algorithm>
#include <string>
#include <system_error>

#include "core/engine/exit_code.hpp"

namespace atl {

int exit_code_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const PeerFailure& e) {
    return e.exit_code();
  } catch (const InputError&) {
    return kExitInput;
  } catch (const SimulationError&) {
    return kExitSimulation;
  } catch (const IoError&) {
    return kExitFiles;
  } catch (const std::system_error&) {  // of the standard library, or fmt: standard output is full
    return kExitFiles;
  } catch (...) {
    return kExitOther;
  }
}

void throw_if_any_failed(Transport& transport, const std::exception_ptr& mine) {
  const auto all = transport.all_gather(mine ? std::to_string(exit_code_of(mine)) : std::string{});
  transport.agree_on_failure(std::ranges::any_of(all, [](const std::string& code) { return !code.empty(); }));
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (all[r].empty()) continue;
    if (static_cast<int>(r) == transport.rank()) std::rethrow_exception(mine);
    throw PeerFailure(std::stoi(all[r]));
  }
}

void run_collectively(Transport& transport, const std::function<void()>& step) {
  std::exception_ptr error;
  try {
    step();
  } catch (...) {
    error = std::current_exception();
  }
  throw_if_any_failed(transport, error);
}

}  // namespace atl
