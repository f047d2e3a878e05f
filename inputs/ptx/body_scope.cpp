#include "inputs/ptx/body_scope.hpp"

#include <algorithm>

#include "core/engine/whole_number.hpp"
#include "inputs/ptx/declaration.hpp"

namespace atl::ptx {
namespace {

/// Is `name` one of %r0 .. %r<count - 1>?
bool in_range(std::string_view name, const BodyScope::Range& range) {
  if (!name.starts_with(range.prefix)) return false;
  const std::string_view digits = name.substr(range.prefix.size());
  if (digits.empty() || (digits.size() > 1 && digits.front() == '0')) return false;
  const auto number = whole_number<std::uint32_t>(digits);
  return number && *number < range.count;
}

}  // namespace

std::vector<PendingLabel> BodyScopes::close() {
  BodyScope scope = std::move(scopes_.back());
  scopes_.pop_back();
  frame_ = scope.frame;
  std::vector<PendingLabel> unknown;
  for (const PendingLabel& use : scope.pending) {
    const auto label = scope.labels.find(use.name);
    if (label == scope.labels.end())
      unknown.push_back(use);
    else if (use.instruction != kNone)
      f_.code[use.instruction].target = label->second;
    else
      f_.branch_tables[use.table][use.position] = label->second;
  }
  if (!scopes_.empty()) {
    auto& outer = scopes_.back().pending;
    outer.insert(outer.end(), unknown.begin(), unknown.end());
    unknown.clear();
  }
  return unknown;
}

std::uint32_t BodyScopes::find_register(std::string_view name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto at = scope->registers.find(name); at != scope->registers.end()) return at->second;
    for (const BodyScope::Range& range : scope->ranges) {
      if (!in_range(name, range)) continue;
      const auto index = static_cast<std::uint32_t>(f_.registers.size());
      f_.registers.push_back({std::string(name), range.type});
      scope->registers.emplace(name, index);
      return index;
    }
  }
  return kNone;
}

const Operand* BodyScopes::find_variable(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto at = scope->variables.find(name); at != scope->variables.end()) return &at->second;
  return nullptr;
}

const Prototype* BodyScopes::find_prototype(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto at = scope->prototypes.find(name); at != scope->prototypes.end()) return &at->second;
  return nullptr;
}

std::uint32_t BodyScopes::find_table(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto at = scope->tables.find(name); at != scope->tables.end()) return at->second;
  return kNone;
}

std::uint32_t BodyScopes::add_register(std::string_view name, Type type) {
  const auto index = static_cast<std::uint32_t>(f_.registers.size());
  f_.registers.push_back({std::string(name), type});
  top().registers.insert_or_assign(name, index);
  return index;
}

void BodyScopes::add_param(std::string_view name, std::uint32_t align, std::uint32_t size) {
  Operand o;
  o.kind = Operand::param;
  o.index = params_++;
  const std::uint32_t offset = align_up(frame_, align);
  o.value = offset;
  frame_ = offset + size;
  f_.param_frame = std::max(f_.param_frame, frame_);
  top().variables.insert_or_assign(std::string(name), o);
}

void BodyScopes::add_formals() {
  for (std::vector<Param>* formals : {&f_.params, &f_.results})
    for (Param& p : *formals) {
      if (p.reg != kNone) {
        p.reg = add_register(p.name, p.type);
        ++params_;
        continue;
      }
      Operand o;
      o.kind = Operand::param;
      o.index = params_++;
      o.value = p.offset;
      top().variables.insert_or_assign(p.name, o);
      frame_ = std::max(frame_, p.offset + p.size);
    }
  f_.param_frame = std::max(f_.param_frame, frame_);
}

void BodyScopes::add_local(std::string_view name, std::uint32_t align, std::uint32_t size) {
  Operand o;
  o.kind = Operand::local;
  const std::uint32_t offset = align_up(f_.local_frame, align);
  o.value = offset;
  f_.local_frame = offset + size;
  f_.local_align = std::max(f_.local_align, align);
  top().variables.insert_or_assign(std::string(name), o);
}

}  // namespace atl::ptx
