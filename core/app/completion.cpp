#include "core/app/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <initializer_list>
#include <utility>

namespace atl {
namespace {

constexpr const char* kBash = R"end(# bash completion for atoll, made by `atoll completion bash`
_atoll() {
  local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
  local options='' words='' known=''
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" completion commands 2>/dev/null) --help --version" -- "$cur")
    return
  fi
  case $command in
    help) words=commands ;;
@OPTIONS@  esac
  if [[ $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
    return
  fi
  case $command:$previous in
@VALUES@    *:-*) words='' known='' ;;
  esac
  [[ -z $words ]] || known=$("${COMP_WORDS[0]}" completion "$words" 2>/dev/null)
  if [[ $words == keys || $words == commands ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$known" -- "$cur")
    [[ $words == commands ]] || compopt -o nospace 2>/dev/null
  else
    mapfile -t COMPREPLY < <(compgen -W "$known" -- "$cur"; compgen -f -- "$cur")
    compopt -o filenames 2>/dev/null
  fi
  return 0
}
complete -F _atoll atoll
)end";

constexpr const char* kZsh = R"end(#compdef atoll
# zsh completion for atoll, made by `atoll completion zsh`
_atoll_words() {
  local -a known
  known=(${(f)"$(_call_program words atoll completion $1 2>/dev/null)"})
  compadd -a known
  [[ $1 == commands ]] || _files
}
_atoll_keys() {
  local -a known
  known=(${(f)"$(_call_program keys atoll completion keys 2>/dev/null)"})
  compadd -S '' -a known
}
_atoll() {
  local -a commands=(
@COMMANDS@    'help:Show the options of a command'
  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
    help) _atoll_words commands ;;
@CASES@  esac
}
_atoll "$@"
)end";

/// The text with every placeholder replaced.
std::string filled(std::string text, std::initializer_list<std::pair<std::string, std::string>> parts) {
  for (const auto& [placeholder, part] : parts) text.replace(text.find(placeholder), placeholder.size(), part);
  return text;
}

std::vector<const CLI::App*> commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* c) { return !c->get_name().empty(); });
}

bool is_flag(const CLI::Option& o) { return o.get_items_expected_max() == 0; }

/// `-o --output`, as they are typed.
std::vector<std::string> spellings(const CLI::Option& o) {
  std::vector<std::string> names;
  for (const std::string& n : o.get_snames()) names.push_back("-" + n);
  for (const std::string& n : o.get_lnames()) names.push_back("--" + n);
  return names;
}

/// The words that its first argument can be, after options and after none.
std::string argument_words(const CLI::App& command) {
  for (const CLI::Option* o : command.get_options())
    if (o->get_positional() && !words_of(*o).empty()) return words_of(*o);
  return "";
}

/// For a text between single quotes inside zsh's `[...]`.
std::string zsh_text(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\'')
      safe += "'\\''";
    else if (c == '[' || c == ']' || c == ':' || c == '\\')
      safe += std::string("\\") + c;
    else
      safe += c == '\n' ? ' ' : c;
  }
  return safe;
}

std::string zsh_action(const std::string& words) {
  if (words == "keys") return "_atoll_keys";
  return words.empty() ? "_files" : "_atoll_words " + words;
}

}  // namespace

std::string words_of(const CLI::Option& option) {
  const std::string name = option.get_positional() ? option.get_name(true) : "--" + option.get_lnames().front();
  if (name == "SYSTEM") return "systems";
  if (name == "EXPERIMENT") return "experiments";
  if (name == "COMMAND") return "commands";
  if (name == "--workload") return "workloads";
  return name == "--set" ? "keys" : "";
}

std::string bash_completion(const CLI::App& app) {
  std::string options, values;
  for (const CLI::App* c : commands(app)) {
    std::vector<std::string> all, below;
    for (const CLI::Option* o : c->get_options()) {
      const std::vector<std::string> names = spellings(*o);
      all.insert(all.end(), names.begin(), names.end());
      if (names.empty() || words_of(*o).empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& n : names) patterns.push_back(c->get_name() + ":" + n);
      values += fmt::format("    {}) words={} ;;\n", fmt::join(patterns, "|"), words_of(*o));
    }
    for (const CLI::App* sub : commands(*c)) below.push_back(sub->get_name());
    options += fmt::format("    {}) options='{}' known='{}' words={} ;;\n", c->get_name(), fmt::join(all, " "),
                           fmt::join(below, " "), argument_words(*c));
  }
  return filled(kBash, {{"@OPTIONS@", options}, {"@VALUES@", values}});
}

std::string zsh_completion(const CLI::App& app) {
  std::string names, cases;
  for (const CLI::App* c : commands(app)) {
    names += fmt::format("    '{}:{}'\n", c->get_name(), zsh_text(c->get_description()));
    cases += fmt::format("    {})\n      _arguments -s \\\n", c->get_name());
    for (const CLI::Option* o : c->get_options()) {
      if (o->get_positional()) continue;
      const std::string value = is_flag(*o) ? ""
                                            : ":" + zsh_text(o->get_type_name().empty() ? "value" : o->get_type_name()) +
                                                  ":" + zsh_action(words_of(*o));
      for (const std::string& s : spellings(*o))
        cases += fmt::format("        '*{}[{}]{}' \\\n", s, zsh_text(o->get_description()), value);
    }
    cases += fmt::format("        '*:argument:{}' ;;\n", zsh_action(argument_words(*c)));
  }
  return filled(kZsh, {{"@COMMANDS@", names}, {"@CASES@", cases}});
}

}  // namespace atl
