#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "inputs/ptx/ir.hpp"
#include "inputs/ptx/lexer.hpp"

namespace atl::ptx {

/// Names of the module's scope. References into a module may only be made to names that stand before them.
struct Names {
  std::map<std::string, std::uint32_t, std::less<>> functions, variables;
};

/// `.align 8 .b8 name[2][3]`: what stands between the state space and the initialiser or comma.
struct Declaration {
  std::string_view name;
  Type type = Type::none;
  std::uint32_t align = 0;     ///< 0: natural
  std::uint32_t vector = 1;    ///< .v2, .v4
  std::uint64_t elements = 1;  ///< 0: unsized array
  bool array = false, managed = false;
  std::uint64_t size() const { return std::uint64_t{size_of(type)} * vector * elements; }
  std::uint32_t alignment() const { return align != 0 ? align : size_of(type) * vector; }
};

/// Qualifiers and type; then, unless it is a prototype's, the name with its dimensions.
Declaration parse_declaration(Cursor& in);
/// A further name after a comma, with the qualifiers of `first`.
Declaration parse_next_name(Cursor& in, const Declaration& first);

/// `(.param .u64 a, .param .align 4 .b8 b[12])`; empty if there is no parenthesis. Offsets are set, starting at `frame`,
/// which grows; formals in registers get the running number of such formals as `reg`.
std::vector<Param> parse_params(Cursor& in, std::uint32_t& frame);

/// Results stand before the parameters in the text, but behind them in the frame.
void place_results(std::vector<Param>& results, std::uint32_t& frame);

/// Next multiple of a power of two.
constexpr std::uint32_t align_up(std::uint32_t value, std::uint32_t align) { return (value + align - 1) / align * align; }

}  // namespace atl::ptx
