#pragma once
#include "inputs/ptx/operand_parser.hpp"
#include "inputs/ptx/parser.hpp"

namespace atl::ptx {

/// Reads the body of one function, from its opening to its closing brace.
class BodyParser {
 public:
  BodyParser(Cursor& in, Names& names, Module& module, std::uint32_t function, Unsupported unsupported);
  void parse();

 private:
  void statement();
  void block();
  bool declaration(std::string_view word);  ///< false if `word` declares nothing
  void declare_registers();
  void declare_param();
  void declare_local();
  void declare_variables(Space space);
  void label(std::string_view name);
  void branch_targets(std::string_view name);
  Prototype prototype();
  Prototype call_targets();

  void instruction();
  void operands(Instruction& i);
  void destination(Instruction& i, unsigned& used);
  void texel(Instruction& i);
  void source(Instruction& i, const Operand& o);
  void call(Instruction& i);
  std::vector<Operand> call_operands();
  void unsupported(Instruction& i, std::string_view spelled, std::string_view part);
  std::uint16_t intern(std::string_view spelled);
  void end_of_body();

  Cursor& in_;
  Names& names_;
  Module& module_;
  std::uint32_t index_;
  Function& f_;
  BodyScopes scopes_;
  OperandParser operand_;
  Unsupported unsupported_;
  std::map<std::string, std::uint16_t, std::less<>> spellings_;
  static constexpr unsigned kDeepest = 1000;  ///< the parser is recursive
  unsigned depth_ = 0;
  bool label_at_end_ = false;  ///< a label stands behind the last instruction
};

}  // namespace atl::ptx
