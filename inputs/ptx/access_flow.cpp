#include "inputs/ptx/access_flow.hpp"

#include <algorithm>
#include <limits>

namespace atl::ptx {
namespace {

constexpr std::int64_t kNoOffset = std::numeric_limits<std::int64_t>::min();
constexpr unsigned kPointerBytes = 8;  ///< bytes

bool is_pointer_sized(const Param& p) { return p.array ? p.size >= kPointerBytes : p.size == kPointerBytes; }

}  // namespace

AccessFlow::AccessFlow(const Module& m, std::uint32_t kernel, const std::vector<std::uint32_t>& functions,
                       std::vector<DataObject>& objects)
    : m_(m), kernel_(kernel), functions_(functions), objects_(objects), states_(m.functions.size()) {
  find_objects();
  for (const std::uint32_t f : functions_) {
    states_[f].registers.resize(m.functions[f].registers.size());
    find_local_offsets(f);
  }
}

void AccessFlow::run() {
  do {
    changed_ = false;
    for (const std::uint32_t f : functions_)
      for (const Instruction& i : m_.functions[f].code) step(f, i);
  } while (changed_);
}

/// Each eight bytes of the parameters may be a pointer; each variable that is named is a structure.
void AccessFlow::find_objects() {
  const Function& k = m_.functions[kernel_];
  for (std::uint32_t p = 0; p < k.params.size(); ++p) {
    if (!is_pointer_sized(k.params[p])) continue;
    for (std::uint32_t at = 0; at + kPointerBytes <= k.params[p].size; at += kPointerBytes) {
      DataObject o;
      o.index = p;
      o.offset = k.params[p].offset + at;
      o.name = k.params[p].name + (k.params[p].size > kPointerBytes ? "+" + std::to_string(at) : "");
      objects_.push_back(std::move(o));
    }
  }
  object_of_variable_.assign(m_.variables.size(), kNone);
  const auto note = [&](const Operand& o) {
    if (!o.is(Operand::variable) || object_of_variable_[o.index] != kNone) return;
    if (m_.variables[o.index].space == Space::shared) return;
    object_of_variable_[o.index] = static_cast<std::uint32_t>(objects_.size());
    DataObject object;
    object.parameter = false;
    object.index = o.index;
    object.name = m_.variables[o.index].name;
    objects_.push_back(std::move(object));
  };
  for (const std::uint32_t f : functions_) {
    for (const Instruction& i : m_.functions[f].code) {
      std::for_each(i.dst.begin(), i.dst.end(), note);
      std::for_each(i.src.begin(), i.src.end(), note);
    }
    std::for_each(m_.functions[f].elements.begin(), m_.functions[f].elements.end(), note);
    for (const Call& c : m_.functions[f].calls) std::for_each(c.arguments.begin(), c.arguments.end(), note);
  }
}

/// Registers written once, with a local address: they keep spilled pointers apart.
void AccessFlow::find_local_offsets(std::uint32_t f) {
  const Function& function = m_.functions[f];
  auto& offset = states_[f].offset;
  offset.assign(function.registers.size(), kNoOffset);
  std::vector<unsigned> writes(function.registers.size());
  const auto note = [&](const Operand& o) {
    if (o.is(Operand::reg)) ++writes[o.index];
  };
  for (const Instruction& i : function.code)
    for (const Operand& o : i.dst) {
      note(o);
      for (unsigned e = 0; o.is(Operand::vector) && e < o.count; ++e) note(function.elements[o.index + e]);
    }
  for (const Call& c : function.calls) std::for_each(c.results.begin(), c.results.end(), note);
  for (const Instruction& i : function.code) {
    if (!i.dst[0].is(Operand::reg) || writes[i.dst[0].index] != 1) continue;
    std::int64_t& to = offset[i.dst[0].index];
    if (i.op == Op::mov || i.op == Op::cvta) to = local_offset(f, i.src[0]);
    if (i.op == Op::add && i.src[1].is(Operand::imm)) {
      const std::int64_t from = local_offset(f, i.src[0]);
      if (from != kNoOffset) to = from + i.src[1].value;
    }
  }
}

std::int64_t AccessFlow::local_offset(std::uint32_t f, const Operand& address) const {
  if (address.is(Operand::local)) return address.value;
  if (!address.is(Operand::reg) || states_[f].offset[address.index] == kNoOffset) return kNoOffset;
  return states_[f].offset[address.index] + address.value;
}

ObjectSet AccessFlow::value(std::uint32_t f, const Operand& o) const {
  ObjectSet places;
  switch (o.kind) {
    case Operand::reg:
      return states_[f].registers[o.index];
    case Operand::variable:
      places.add(m_.variables[o.index].space == Space::shared ? Places::kShared
                                                              : first_object() + object_of_variable_[o.index]);
      break;
    case Operand::local:
      places.add(Places::kLocal + f);
      break;
    case Operand::param:
      places.add(Places::kFrame);
      break;
    case Operand::vector:
      for (unsigned e = 0; e < o.count; ++e) places.add(value(f, m_.functions[f].elements[o.index + e]));
      break;
    default:
      break;
  }
  return places;
}

void AccessFlow::assign(std::uint32_t f, const Operand& destination, const ObjectSet& places) {
  if (destination.is(Operand::reg)) changed_ |= states_[f].registers[destination.index].add(places);
  for (unsigned e = 0; destination.is(Operand::vector) && e < destination.count; ++e)
    assign(f, m_.functions[f].elements[destination.index + e], places);
}

void AccessFlow::put(Cell& cell, const ObjectSet& places, bool narrow) {
  changed_ |= cell.places.add(places);
  changed_ |= narrow && !cell.narrow;
  cell.narrow |= narrow;
}

ObjectSet AccessFlow::loaded(const Cell& cell, bool wide) const {
  ObjectSet places = cell.places;
  if (wide && cell.narrow) places.add(Places::kUnknown);
  return places;
}

ObjectSet AccessFlow::load_local(std::uint32_t owner, std::int64_t offset, bool wide) const {
  const State& s = states_[owner];
  ObjectSet places = loaded(s.anywhere, wide);
  for (const auto& [granule, cell] : s.local)
    if (offset == kNoOffset || granule == offset / kPointerBytes || granule == offset / kPointerBytes + 1)
      places.add(loaded(cell, wide));
  return places;
}

/// The pointers that a load of `bytes` bytes at `from` in the kernel's parameters may deliver.
ObjectSet AccessFlow::kernel_params(std::int64_t from, std::int64_t bytes) const {
  ObjectSet places;
  for (std::uint32_t o = 0; o < objects_.size(); ++o)
    if (objects_[o].parameter && objects_[o].offset < from + bytes &&
        from < objects_[o].offset + std::int64_t{kPointerBytes})
      places.add(first_object() + o);
  return places;
}

void AccessFlow::load(std::uint32_t f, const Instruction& i, bool atomic) {
  const std::int64_t bytes = std::int64_t{size_of(i.type)} * i.vector;
  const bool wide = size_of(i.type) >= kPointerBytes;
  const Operand& at = i.src[0];
  ObjectSet result;
  if (i.space == Space::param) {
    const bool formal = at.is(Operand::param) && at.index < m_.functions[f].params.size();
    if (at.is(Operand::param) && !(f == kernel_ && formal))
      result = load_param(f, at, bytes, wide);
    else
      result = at.is(Operand::param) ? kernel_params(at.value, bytes) : kernel_params(0, m_.functions[kernel_].param_block);
    if (!at.is(Operand::param) && f != kernel_ && wide) result.add(Places::kUnknown);
    return assign(f, i.dst[0], result);
  }
  const ObjectSet places = value(f, at);
  const auto from_place = [&](std::uint32_t place) {
    if (place == Places::kShared)
      result.add(loaded(shared_, wide));
    else if (place == Places::kFrame)
      result.add(kernel_params(0, m_.functions[kernel_].param_block)), result.add(Places::kUnknown);
    else if (place >= Places::kLocal && place < first_object())
      result.add(load_local(place - Places::kLocal, place - Places::kLocal == f ? local_offset(f, at) : kNoOffset, wide));
    else if (wide)
      result.add(Places::kUnknown);
  };
  if (i.space == Space::shared)
    from_place(Places::kShared);
  else if (i.space == Space::local && places.empty())
    from_place(Places::kLocal + f);
  else
    places.for_each(from_place);
  // An address without origin is made of numbers: what it points to is anybody's guess.
  if (places.empty() && wide && (i.space == Space::generic || i.space == Space::global || i.space == Space::constant))
    result.add(Places::kUnknown);
  if (atomic && wide) result.add(Places::kUnknown);
  assign(f, i.dst[0], result);
}

void AccessFlow::store(std::uint32_t f, const Instruction& i, const Operand& what) {
  const Operand& at = i.src[0];
  const ObjectSet stored = value(f, what);
  const bool narrow = size_of(i.type) < kPointerBytes && (what.is(Operand::reg) || what.is(Operand::vector));
  if (i.space == Space::param) {
    if (at.is(Operand::param)) put_param(f, at, std::int64_t{size_of(i.type)} * i.vector, stored, narrow);
    return;
  }
  const auto to_place = [&](std::uint32_t place) {
    if (place == Places::kShared) return put(shared_, stored, narrow);
    if (place < Places::kLocal || place >= first_object()) return;
    const std::uint32_t owner = place - Places::kLocal;
    const std::int64_t offset = owner == f ? local_offset(f, at) : kNoOffset;
    if (offset == kNoOffset) return put(states_[owner].anywhere, stored, narrow);
    const std::int64_t bytes = std::max<std::int64_t>(1, std::int64_t{size_of(i.type)} * i.vector);
    for (std::int64_t g = offset / kPointerBytes; g <= (offset + bytes - 1) / kPointerBytes; ++g)
      put(states_[owner].local[g], stored, narrow);
  };
  const ObjectSet places = value(f, at);
  if (i.space == Space::shared)
    to_place(Places::kShared);
  else if (i.space == Space::local && places.empty())
    put(states_[f].anywhere, stored, narrow);
  else
    places.for_each(to_place);
}

}  // namespace atl::ptx
