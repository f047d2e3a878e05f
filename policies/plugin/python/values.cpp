#include "policies/plugin/python/values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "inputs/config/walk.hpp"
#include "policies/plugin/options.hpp"

namespace atl {
namespace {

using Numbers = py::array_t<std::int64_t>;  ///< no count comes near 2^63, and differences may be below 0

LlcRole role_of(const std::string& word) {
  for (std::size_t i = 0; i < kRoleNames.size(); ++i)
    if (kRoleNames[i] == word) return static_cast<LlcRole>(i);
  throw py::value_error("`" + word + "` is no role: use memory_side, sm_side or split");
}

/// [chip][what]
template <class Chips, class Row> Numbers table(const Chips& chips, Row&& row) {
  const std::size_t columns = chips.empty() ? 0 : row(chips[0]).size();
  Numbers out({chips.size(), columns});
  auto to = out.mutable_unchecked<2>();
  for (std::size_t i = 0; i < chips.size(); ++i) {
    const auto& values = row(chips[i]);
    for (std::size_t k = 0; k < columns && k < values.size(); ++k) to(i, k) = static_cast<std::int64_t>(values[k]);
  }
  return out;
}
template <class Chips, class Value> Numbers column(const Chips& chips, Value&& value) {
  Numbers out(static_cast<py::ssize_t>(chips.size()));
  auto to = out.mutable_unchecked<1>();
  for (std::size_t i = 0; i < chips.size(); ++i) to(i) = static_cast<std::int64_t>(value(chips[i]));
  return out;
}

/// What a policy is told, its arrays made. numpy's NaN of 0 / 0 is neither above nor below a threshold: a policy that
/// forgets to turn a profile on would decide by it, and a line on stderr be all that tells of it.
py::object record(const py::dict& attributes) {
  py::module_::import("numpy").attr("seterr")(py::arg("divide") = "raise", py::arg("invalid") = "raise");
  return py::module_::import("types").attr("SimpleNamespace")(**attributes);
}

/// The elements of a list or tuple of which each is a T.
template <class T> std::optional<std::vector<T>> list_of(const py::object& o) {
  if (!py::isinstance<py::list>(o) && !py::isinstance<py::tuple>(o)) return std::nullopt;
  std::vector<T> list;
  for (const py::handle element : o) {
    if (!py::isinstance<T>(element)) return std::nullopt;
    list.push_back(element.cast<T>());
  }
  return list;
}

/// Calls `f(name, member)` for what a policy in Python says of modes.
template <class M, class F> void for_each_member(M&& m, F&& f) {
  f("llc", m.llc), f("local_ways", m.local_ways), f("profile", m.profile), f("epoch_cycles", m.epoch_cycles);
  f("level", m.replication.level), f("all_lines", m.replication.all_lines);
  f("profile_degrees", m.replication.profile), f("restart", m.replication.restart), f("range_bytes", m.range_bytes);
}

/// One of them, of a value of that kind alone: True is no 1, nor 8.0 an 8.
template <class T> T value_of(const char* name, const py::object& o) {
  const auto refuse = [&](const char* what) {
    throw py::type_error(fmt::format("`{}` of atoll.Modes is {}, not {}", name, what, py::repr(o).cast<std::string>()));
  };
  if constexpr (std::is_same_v<T, LlcRole>) {
    if (!py::isinstance<py::str>(o)) refuse("the name of a role");
    return role_of(o.cast<std::string>());
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!py::isinstance<py::bool_>(o)) refuse("True or False");
    return o.cast<bool>();
  } else {
    constexpr const char* kWhole = "a whole number from 0 to 4294967295";
    if (PyIndex_Check(o.ptr()) == 0 || py::isinstance<py::bool_>(o)) refuse(kWhole);
    const py::object whole = py::reinterpret_steal<py::object>(PyNumber_Index(o.ptr()));
    if (!whole) throw py::error_already_set();
    int beyond = 0;
    const long long value = PyLong_AsLongLongAndOverflow(whole.ptr(), &beyond);
    if (beyond != 0 || value < 0 || value > std::numeric_limits<std::uint32_t>::max()) refuse(kWhole);
    return static_cast<T>(value);
  }
}

std::string kind_of(const py::object& o) { return py::type::of(o).attr("__name__").cast<std::string>(); }

std::vector<Modes> modes_of(const py::object& o, std::uint32_t chips) {
  if (py::isinstance<Modes>(o)) return std::vector<Modes>(chips, o.cast<Modes>());
  if (auto list = list_of<Modes>(o)) return std::move(*list);
  throw py::type_error("returned " + kind_of(o) +
                       "; a policy returns None, Modes, a list of Modes, or modes and a Decision: (modes, decision). To "
                       "decide and keep the modes, return those in force");
}

}  // namespace

PYBIND11_EMBEDDED_MODULE(atoll, m) {
  m.doc() = "What a policy in Python returns to Atoll, and the names of counters.";
  py::class_<Modes> modes(m, "Modes");
  modes.def(py::init([](const py::kwargs& given) {
    Modes m;
    std::vector<std::string> names;
    for_each_member(m, [&](const char* name, auto& member) {
      names.emplace_back(name);
      if (given.contains(name)) member = value_of<std::decay_t<decltype(member)>>(name, given[name]);
    });
    for (const auto& [name, value] : given)
      if (const auto text = name.cast<std::string>(); std::ranges::find(names, text) == names.end())
        throw py::type_error(fmt::format("atoll.Modes has no `{}`; it has {}", text, fmt::join(names, ", ")));
    return m;
  }));
  for_each_member(Modes{}, [&](const char* name, auto) {
    modes.def_property_readonly(name, [name](Modes& m) {
      py::object out;
      for_each_member(m, [&](const char* other, auto& member) {
        if (std::string_view(other) != name) return;
        if constexpr (std::is_same_v<std::decay_t<decltype(member)>, LlcRole>)
          out = py::str(std::string(name_of(member)));
        else
          out = py::cast(member);
      });
      return out;
    });
  });
  modes.def(
      "__eq__", [](const Modes& m, const Modes& other) { return m == other; }, py::is_operator());
  py::class_<Decision>(m, "Decision")
      .def(py::init([](const std::string& choice, const py::dict& values) {
             Decision d;
             d.choice = choice;
             for (const auto& [name, value] : values) {
               if (!py::isinstance<py::str>(name)) throw py::type_error("the names of a Decision's values are strings");
               const double number = PyFloat_AsDouble(value.ptr());
               if (PyErr_Occurred() != nullptr) throw py::error_already_set();
               d.values.emplace_back(name.cast<std::string>(), number);
             }
             return d;
           }),
           py::arg("choice"), py::arg("values") = py::dict());
  py::dict counters;
  for (const CounterInfo& c : counter_table()) counters[py::str(std::string(c.name))] = static_cast<std::size_t>(c.id);
  m.attr("COUNTERS") = counters;
}

py::dict config_values(const SystemConfig& config) {
  py::dict values;
  for_each_leaf(config, "", [&]<class T>(const T& value, const Field&, const std::string& key) {
    if constexpr (std::is_enum_v<T>) {
      for (const auto& w : words<T>())
        if (w.value == value) values[py::str(key)] = std::string(w.word);
    } else {
      values[py::str(key)] = value;
    }
  });
  return values;
}

py::object epoch_values(const Epoch& e) {
  py::dict d;
  d["kernel"] = e.kernel, d["end"] = e.end, d["length"] = e.length;
  d["counters"] = table(
      e.chips, [](const ChipEpoch& c) -> const auto& { return c.count.value; });
  d["at_home"] = table(
      e.chips, [](const ChipEpoch& c) -> const auto& { return c.profile.at_home; });
  d["at_requester"] = table(
      e.chips, [](const ChipEpoch& c) -> const auto& { return c.profile.at_requester; });
  const auto number = [&](const char* name, std::uint64_t LlcProfile::*member) {
    d[name] = column(e.chips, [member](const ChipEpoch& c) { return c.profile.*member; });
  };
  number("profile_requests", &LlcProfile::requests), number("profile_hits", &LlcProfile::hits);
  number("profile_merges", &LlcProfile::merges), number("profile_local", &LlcProfile::local);
  number("profile_remote", &LlcProfile::remote);
  number("crd_requests", &LlcProfile::crd_requests), number("crd_hits", &LlcProfile::crd_hits);
  d["degrees_sampled"] = table(
      e.chips, [](const ChipEpoch& c) -> const auto& { return c.degrees.sampled; });
  d["degrees_hits"] = table(
      e.chips, [](const ChipEpoch& c) -> const auto& { return c.degrees.hits; });
  d["degrees_routed"] = table(
      e.chips, [](const ChipEpoch& c) -> const auto& { return c.degrees.routed; });
  return record(d);
}

py::object kernel_end_values(const KernelEnd& end) {
  py::dict d;
  d["kernel"] = end.kernel, d["end"] = end.end;
  d["counters"] = table(
      end.chips, [](const Counters& c) -> const auto& { return c.value; });
  return record(d);
}

std::vector<Decision> decisions(const py::object& returned, const Decision& now) {
  std::vector<Decision> list;
  if (returned.is_none()) return list;
  if (py::isinstance<Decision>(returned)) {
    list.push_back(returned.cast<Decision>());
  } else if (auto several = list_of<Decision>(returned)) {
    list = std::move(*several);
  } else {
    throw py::type_error("returned " + kind_of(returned) + "; a policy's decisions are None, a Decision, or a list of them");
  }
  for (Decision& d : list) d.kernel = now.kernel, d.cycle = now.cycle;
  return list;
}

std::optional<Verdict> verdict(const py::object& returned, std::uint32_t chips, const Decision& now) {
  if (returned.is_none()) return std::nullopt;
  if (!py::isinstance<py::tuple>(returned)) return Verdict{{}, modes_of(returned, chips)};
  const auto both = returned.cast<py::tuple>();
  if (both.size() != 2) throw py::type_error("a tuple of a policy is (modes, decision)");
  return Verdict{decisions(both[1], now), modes_of(both[0], chips)};
}

py::object option_values(const py::object& c, const std::string& text) {
  const py::object listed = py::hasattr(c, "options") ? py::object(c.attr("options")) : py::dict();
  if (!py::isinstance<py::dict>(listed))
    throw py::type_error("`options` of class Policy is a dict, such as {\"window\": 3}");
  std::vector<PolicyOption> known;
  std::vector<bool> whole;
  for (const auto& [name, value] : py::reinterpret_borrow<py::dict>(listed)) {
    const bool is_whole = py::isinstance<py::int_>(value) && !py::isinstance<py::bool_>(value);
    if (!py::isinstance<py::str>(name) || (!is_whole && !py::isinstance<py::float_>(value)))
      throw py::type_error("`options` of class Policy are numbers by name, such as {\"window\": 3}");
    known.push_back({name.cast<std::string>(), value.cast<double>()}), whole.push_back(is_whole);
  }
  py::dict values;
  const std::vector<PolicyOption> options = policy_options(text, known);
  for (std::size_t i = 0; i < options.size(); ++i) {
    const auto& [name, value] = options[i];
    if (!whole[i]) {
      values[py::str(name)] = value;
    } else if (value == std::trunc(value) && std::abs(value) < 0x1p53) {
      values[py::str(name)] = static_cast<std::int64_t>(value);
    } else {
      throw py::value_error("`llc.policy_options`: `" + name + "` is a whole number");
    }
  }
  return record(values);
}

PolicyTraits traits_of(const py::object& c) {
  PolicyTraits t;
  if (!py::hasattr(c, "roles")) throw py::type_error("class Policy lacks `roles`, such as roles = (\"memory_side\",)");
  t.roles = Roles{};
  const py::object roles = c.attr("roles");
  // A string is a sequence as well, of letters: ("memory_side") without its comma is one.
  if (py::isinstance<py::str>(roles) || !py::isinstance<py::iterable>(roles))
    throw py::type_error("`roles` of class Policy is a tuple of words, such as (\"memory_side\",)");
  for (const py::handle word : roles) {
    if (!py::isinstance<py::str>(word)) throw py::type_error("`roles` of class Policy has something that is no word");
    t.roles = t.roles | role_of(word.cast<std::string>());
  }
  const auto flag = [&](const char* name) {
    if (!py::hasattr(c, name)) return false;
    const py::object value = c.attr(name);
    if (!py::isinstance<py::bool_>(value))
      throw py::type_error(std::string("`") + name + "` of class Policy is True or False");
    return value.cast<bool>();
  };
  t.saves = py::hasattr(c, "save") && py::hasattr(c, "load");
  t.switches = flag("switches"), t.replicates = flag("replicates"), t.llc_profile = flag("llc_profile");
  return t;
}

}  // namespace atl
