#pragma once
#include <CLI/CLI.hpp>
#include <string>

/// What shells and `man` know of the program, made from the declared commands and options: nothing is written twice.
namespace atl {

/// A script for bash, and one for zsh (`#compdef atoll`). What is no option is completed by `atoll completion WORDS`.
std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);

/// A page for `man` (roff) of a command, or of all if it is the program itself.
std::string manual_page(const CLI::App& app);

/// Which of the words that `atoll completion` prints an option or argument takes; "" if it takes none or a file.
std::string words_of(const CLI::Option& option);

}  // namespace atl
