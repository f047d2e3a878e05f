#pragma once
#include <pybind11/embed.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "inputs/config/system_config.hpp"
#include "policies/policy.hpp"

namespace py = pybind11;

/// What passes between a Python policy and Atoll: the numbers of the C++ interface, with arrays as numpy arrays. The
/// caller holds the interpreter's lock. Errors: Python exceptions.
namespace atl {

/// All keys of the configuration, dotted: `config["llc.ways"]`.
py::dict config_values(const SystemConfig& config);
/// Attributes kernel, end, length; counters [chip, counter]; at_home, at_requester [chip, slice]; profile_requests and the
/// rest of LlcProfile [chip]; degrees_sampled, degrees_hits, degrees_routed [chip, ...].
py::object epoch_values(const Epoch& epoch);
/// Attributes kernel, end; counters [chip, counter].
py::object kernel_end_values(const KernelEnd& end);

/// `returned`: None, Modes for all chips, a list of Modes, or one of these and a Decision (or a list of them).
/// `now`: kernel and cycle of decisions.
std::optional<Verdict> verdict(const py::object& returned, std::uint32_t chips, const Decision& now);
std::vector<Decision> decisions(const py::object& returned, const Decision& now);

/// The class attribute `options`, {"threshold": 0.5}, with the values of `text` (options.hpp) as attributes; of whole
/// numbers, whole ones.
py::object option_values(const py::object& policy_class, const std::string& text);
/// Class attributes roles, switches, replicates, llc_profile.
PolicyTraits traits_of(const py::object& policy_class);

}  // namespace atl
