#pragma once
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "core/engine/error.hpp"
#include "inputs/ptx/parser.hpp"

namespace atl::ptx::test {

inline const std::string kHeader = ".version 9.0\n.target sm_75\n.address_size 64\n";

inline Module parse_text(const std::string& text) { return parse(kHeader + text, "test.ptx"); }

/// One kernel with the given parameters and body, and registers of each kind; the first body line is line 6.
inline std::string kernel_text(const std::string& params, const std::string& body, const std::string& name = "k") {
  return ".visible .entry " + name + "(" + params +
         ") {\n.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<30>; .reg .b64 %rd<30>; .reg .f32 %f<9>; .reg .f64 "
         "%fd<9>;\n" +
         body + "\n}\n";
}

/// The only kernel's code.
inline Function parse_body(const std::string& body) { return parse_text(kernel_text("", body)).functions.at(0); }
inline Instruction parse_one(const std::string& instruction) { return parse_body(instruction).code.at(0); }

/// The message of the error that parsing throws; empty if it throws none.
inline std::string error_of(const std::string& text) {
  try {
    parse_text(text);
  } catch (const InputError& e) {
    return e.what();
  }
  return {};
}

inline Module parse_fixture(const std::string& file) {
  std::ifstream in(std::string(ATOLL_SOURCE_DIR "/tests/unit/inputs_ptx/fixtures/") + file);
  REQUIRE(in);
  return parse(std::string{std::istreambuf_iterator<char>(in), {}}, file);
}

inline const Function& function(const Module& m, const std::string& name) {
  const std::uint32_t at = m.find_function(name);
  REQUIRE(at != kNone);
  return m.functions[at];
}
inline const Variable& variable(const Module& m, const std::string& name) {
  const std::uint32_t at = m.find_variable(name);
  REQUIRE(at != kNone);
  return m.variables[at];
}

}  // namespace atl::ptx::test
