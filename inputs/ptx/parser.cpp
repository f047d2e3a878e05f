#include "inputs/ptx/parser.hpp"

#include "inputs/ptx/body_parser.hpp"
#include "inputs/ptx/cfg.hpp"
#include "inputs/ptx/shared_layout.hpp"
#include "inputs/ptx/variable_parser.hpp"

namespace atl::ptx {
namespace {

class ModuleParser {
 public:
  ModuleParser(Cursor& in, const std::string& name, std::uint32_t lines, Unsupported unsupported)
      : in_(in), unsupported_(unsupported) {
    m_.name = name;
    m_.lines.add_text(name, lines);
  }

  Module run() {
    while (!in_.done()) top_level();
    if (m_.version == 0) in_.fail("no .version: this is no PTX");
    for (Function& f : m_.functions) find_reconvergence(f);
    lay_out_shared(m_);
    return std::move(m_);
  }

 private:
  void top_level() {
    if (in_.accept(";")) return;
    if (in_.peek().kind != Token::word || in_.peek().text.front() != '.') in_.expected("a directive");
    const std::string_view word = in_.next().text;
    if (word == ".version") return version();
    if (word == ".target") return target();
    if (word == ".address_size") return address_size();
    if (word == ".file") return m_.lines.read_file(in_);
    if (word == ".loc") return in_.skip_line();
    if (word == ".pragma") return in_.skip_past(";");
    if (word == ".section") return section();
    if (word == ".alias") return alias();
    Linkage linkage;
    declared(word, linkage);
  }

  void declared(std::string_view word, Linkage& linkage) {
    Space space{};
    if (word == ".visible" || word == ".extern" || word == ".weak" || word == ".common") {
      (word == ".visible"  ? linkage.visible
       : word == ".extern" ? linkage.external
       : word == ".weak"   ? linkage.weak
                           : linkage.common) = true;
      return declared(in_.next().text, linkage);
    }
    if (word == ".entry" || word == ".func") return function(word == ".entry", linkage);
    if (word == ".global")
      space = Space::global;
    else if (word == ".const")
      space = Space::constant;
    else if (word == ".shared")
      space = Space::shared;
    else
      in_.fail("unknown directive '" + std::string(word) + "'");
    parse_variables(in_, space, linkage, kNone, names_, m_);
  }

  void version() {
    const std::string_view text = in_.next().text;  // 9.0
    for (const char c : text)
      if (c != '.') m_.version = m_.version * 10 + static_cast<unsigned>(c - '0');
  }

  void target() {
    do {
      std::string_view word = in_.next().text;  // sm_75, debug, texmode_unified
      if (word == "texmode_independent") in_.fail("textures with a separate sampler are not supported");
      if (!word.starts_with("sm_")) continue;
      word.remove_prefix(3);
      for (; !word.empty() && word.front() >= '0' && word.front() <= '9'; word.remove_prefix(1))
        m_.target = m_.target * 10 + static_cast<unsigned>(word.front() - '0');
      if (!word.empty()) m_.target_suffix = word.front();
    } while (in_.accept(","));
  }

  void address_size() {
    const std::uint32_t line = in_.peek().line;
    if (in_.count("an address size") != 64) in_.fail_at(line, "only 64-bit addresses are supported");
  }

  void section() {
    while (!in_.done() && !in_.at("{")) in_.next();
    in_.skip_block();
  }

  void alias() {
    const std::string_view name = in_.name_of("a name");
    in_.expect(",");
    const std::uint32_t of = m_.find_function(std::string(in_.name_of("a function")));
    if (of == kNone) in_.fail("the alias '" + std::string(name) + "' stands for nothing that is known");
    names_.functions.insert_or_assign(std::string(name), of);
    in_.expect(";");
  }

  /// A declaration and the later definition are one function.
  void function(bool entry, const Linkage& linkage) {
    Function head;
    head.entry = entry;
    head.line = in_.peek().line;
    head.visible = linkage.visible;
    head.weak = linkage.weak;
    std::uint32_t frame = 0;
    if (in_.accept(".attribute")) in_.skip_past(")");
    if (in_.at("(")) head.results = parse_params(in_, frame);
    head.name = in_.name_of("a function name");
    frame = 0;
    head.params = parse_params(in_, frame);
    if (entry) head.param_block = frame;
    place_results(head.results, frame);
    head.param_frame = frame;
    tuning(head);
    const auto [at, fresh] = names_.functions.emplace(head.name, static_cast<std::uint32_t>(m_.functions.size()));
    const std::uint32_t index = at->second;
    if (fresh) m_.functions.emplace_back();
    Function& f = m_.functions[index];
    const bool body = in_.at("{");
    if (body && f.defined) in_.fail_at(head.line, "'" + head.name + "' is defined twice");
    if (f.defined) return in_.expect(";");
    head.address_taken = f.address_taken;
    f = std::move(head);
    if (!body) return in_.expect(";");
    f.defined = true;
    BodyParser(in_, names_, m_, index, unsupported_).parse();
    m_.lines.end_function(in_.line());
  }

  /// Hints between the parameters and the body.
  void tuning(Function& f) {
    while (in_.peek().kind == Token::word) {
      const std::string_view word = in_.next().text;
      if (word == ".maxntid" || word == ".reqntid") {
        f.max_threads = {1, 1, 1};
        f.exact_threads = word == ".reqntid";
        for (unsigned d = 0; d < 3; ++d) {
          f.max_threads[d] = static_cast<std::uint32_t>(in_.count("a number of threads"));
          if (!in_.accept(",")) break;
        }
      } else if (word == ".reqnctapercluster") {
        f.cluster = {1, 1, 1};
        for (unsigned d = 0; d < 3; ++d) {
          f.cluster[d] = static_cast<std::uint32_t>(in_.count("a number of thread blocks"));
          if (!in_.accept(",")) break;
        }
      } else if (word == ".minnctapersm") {
        f.min_ctas = static_cast<std::uint32_t>(in_.count("a number of thread blocks"));
      } else if (word == ".maxnreg") {
        f.max_registers = static_cast<std::uint32_t>(in_.count("a number of registers"));
      } else if (word == ".pragma") {
        in_.skip_past(";");
      } else {
        while (in_.peek().kind == Token::number || in_.at(",")) in_.next();
      }
    }
  }

  Cursor& in_;
  Names names_;
  Module m_;
  Unsupported unsupported_;
};

template <typename T> std::uint32_t find(const std::vector<T>& all, const std::string& name, bool (*counts)(const T&)) {
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].name == name && counts(all[i])) return static_cast<std::uint32_t>(i);
  return kNone;
}

}  // namespace

Module parse(std::string_view text, const std::string& name, Unsupported unsupported) {
  const std::vector<Token> tokens = tokenise(text, name);
  Cursor in(tokens, name);
  return ModuleParser(in, name, tokens.back().line, unsupported).run();
}

std::uint32_t Module::find_function(const std::string& function) const {
  return find<Function>(functions, function, [](const Function&) { return true; });
}

std::uint32_t Module::find_variable(const std::string& variable) const {
  return find<Variable>(variables, variable, [](const Variable& v) { return v.owner == kNone; });
}

}  // namespace atl::ptx
