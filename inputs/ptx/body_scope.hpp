#pragma once
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "inputs/ptx/ir.hpp"

namespace atl::ptx {

/// `.callprototype`, or the list of `.calltargets`.
struct Prototype {
  std::vector<Param> results, arguments;
  std::vector<std::uint32_t> targets;
};

/// A use of a label that may stand further down.
struct PendingLabel {
  std::string_view name;
  std::uint32_t line = 0;
  std::uint32_t instruction = kNone;          ///< the branch, or
  std::uint32_t table = kNone, position = 0;  ///< an entry of a branch table
};

/// Names between two braces of a body. Inner names hide outer ones.
struct BodyScope {
  struct Range {
    std::string_view prefix;  ///< `%r<5>` declares %r0 .. %r4
    std::uint32_t count = 0;
    Type type = Type::b32;
  };
  std::vector<Range> ranges;
  std::unordered_map<std::string_view, std::uint32_t> registers;  ///< numbered at their first use
  std::map<std::string, Operand, std::less<>> variables;          ///< param, local, variable
  std::unordered_map<std::string_view, std::uint32_t> labels;
  std::unordered_map<std::string_view, std::uint32_t> tables;
  std::unordered_map<std::string_view, Prototype> prototypes;
  std::vector<PendingLabel> pending;
  std::uint32_t frame = 0;  ///< parameter frame when the scope was opened: its own variables are gone at its end
};

/// The open scopes of one body, and the function that they belong to.
class BodyScopes {
 public:
  explicit BodyScopes(Function& f) : f_(f) {}

  void open() {
    scopes_.emplace_back();
    scopes_.back().frame = frame_;
  }
  /// Binds the branches to the labels of this scope and hands on the others. Returns those that no scope knows.
  std::vector<PendingLabel> close();

  BodyScope& top() { return scopes_.back(); }
  std::uint32_t find_register(std::string_view name);  ///< or kNone
  const Operand* find_variable(std::string_view name) const;
  const Prototype* find_prototype(std::string_view name) const;
  std::uint32_t find_table(std::string_view name) const;  ///< or kNone

  std::uint32_t add_register(std::string_view name, Type type);
  void add_param(std::string_view name, std::uint32_t align, std::uint32_t size);
  void add_formals();  ///< the function's own parameters and results
  void add_local(std::string_view name, std::uint32_t align, std::uint32_t size);

 private:
  Function& f_;
  std::vector<BodyScope> scopes_;
  std::uint32_t frame_ = 0;
  std::uint32_t params_ = 0;  ///< numbered so far
};

}  // namespace atl::ptx
