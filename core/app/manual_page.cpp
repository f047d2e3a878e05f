#include <fmt/format.h>

#include <cctype>
#include <sstream>
#include <utility>

#include "core/app/completion.hpp"
#include "core/engine/exit_code.hpp"
#include "core/stats/version.hpp"

namespace atl {
namespace {

/// Text as roff takes it: hyphens that can be copied, and no line that begins with a request.
std::string roff(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\\')
      safe += "\\e";
    else if (c == '-')
      safe += "\\-";
    else if ((c == '.' || c == '\'') && (safe.empty() || safe.back() == '\n'))
      safe += std::string("\\&") + c;
    else
      safe += c;
  }
  return safe;
}

/// Lines that begin with blanks stand as they are; the others are paragraphs.
std::string paragraphs(const std::string& text) {
  std::string page, line;
  std::istringstream in(text);
  bool verbatim = false, gap = false;
  while (std::getline(in, line)) {
    const bool indented = line.starts_with("  ");
    if (!line.empty() && indented != verbatim)
      page += indented ? ".PP\n.nf\n" : ".fi\n.PP\n", verbatim = indented;
    else if (gap && !line.empty())
      page += ".PP\n";
    gap = line.empty();
    if (!gap) page += roff(line) + "\n";
  }
  return page + (verbatim ? ".fi\n" : "");
}

std::string entry(const CLI::Option& o) {
  std::string name = o.get_positional() ? o.get_name(true) : o.get_name(false, true);
  std::string type = o.get_items_expected_max() == 0 || o.get_positional() ? "" : o.get_type_name();
  for (std::size_t at = 0; (at = name.find(',', at)) != std::string::npos; at += 2) name.insert(at + 1, " ");
  return fmt::format(".TP\n\\fB{}\\fR{}{}\n{}\n", roff(name), type.empty() ? "" : " ", roff(type),
                     roff(o.get_description()));
}

}  // namespace

std::string manual_page(const CLI::App& app) {
  const bool whole = app.get_parent() == nullptr;
  const std::string name = whole ? "atoll" : "atoll-" + app.get_name();
  const std::string about = whole ? "simulate the memory system of multi-chip GPUs" : app.get_description();
  std::string title = name;
  for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string page = fmt::format(".TH {} 1 \"\" \"Atoll {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n", title,
                                 version(), roff(name), roff(about));
  std::string arguments, options;
  for (const CLI::Option* o : app.get_options()) {
    (o->get_positional() ? arguments : options) += entry(*o);
  }
  std::string synopsis = whole ? " \\fICOMMAND\\fR [\\fIOPTIONS\\fR]" : " " + roff(app.get_name()) + " [\\fIOPTIONS\\fR]";
  for (const CLI::Option* o : app.get_options())
    if (o->get_positional())
      synopsis += " \\fI" + roff(o->get_name(true)) + "\\fR" + (o->get_items_expected_max() > 1 ? "..." : "");
  page += "\\fBatoll\\fR" + synopsis + "\n.SH DESCRIPTION\n" + paragraphs(app.get_description()) + "\n";
  const auto below = app.get_subcommands([](const CLI::App* c) { return !c->get_name().empty(); });
  if (!below.empty()) page += ".SH COMMANDS\n";
  for (const CLI::App* c : below) {
    page += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(c->get_name()), roff(c->get_description()));
    if (whole) continue;  // which have pages of their own
    page += ".RS\n";
    for (const CLI::Option* o : c->get_options()) page += entry(*o);
    page += ".RE\n";
  }
  if (!arguments.empty()) page += ".SH ARGUMENTS\n" + arguments;
  if (!options.empty()) page += ".SH OPTIONS\n" + options;
  if (!app.get_footer().empty()) page += ".SH NOTES\n" + paragraphs(app.get_footer());
  page += ".SH EXIT STATUS\n";
  constexpr std::pair<int, const char*> kCodes[] = {
      {kExitDone, "success"},
      {kExitOther, "anything that no other code stands for"},
      {kExitInput, "the input or the command line was refused"},
      {kExitSimulation, "the simulation failed"},
      {kExitFiles, "a file could not be read or written, or a monitor not be reached"},
      {kExitCheckpointed, "stopped with a checkpoint to go on from"},
      {kExitInterrupted, "interrupted, with a result that says so"},
      {kExitTerminated, "ended by SIGTERM"}};
  for (const auto& [code, meaning] : kCodes) page += fmt::format(".TP\n{}\n{}\n", code, meaning);
  if (whole) {
    page += ".SH SEE ALSO\n";
    for (std::size_t i = 0; i < below.size(); ++i)
      page += fmt::format(".BR {} (1){}\n", roff("atoll-" + below[i]->get_name()), i + 1 < below.size() ? "," : "");
  } else {
    page += ".SH SEE ALSO\n.BR atoll (1)\n";
  }
  return page;
}

}  // namespace atl
