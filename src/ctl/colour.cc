// SPDX-License-Identifier: Apache-2.0
#include "ctl/colour.h"

#include <fmt/core.h>
#include <unistd.h>

#include "base/output.h"
#include "ctl/environment.h"

namespace pintle::ctl {
namespace {

// Returns the code of one of the terminal's own colours, so that people's settings for these colours apply.
std::string_view CodeOf(Colour colour) {
  switch (colour) {
    case Colour::kGood:
      return "32";  // Green.
    case Colour::kAttention:
      return "33";  // Yellow.
    case Colour::kBad:
      return "31";  // Red.
    case Colour::kPlace:
      return "36";  // Cyan.
    case Colour::kNone:
      break;
  }
  return "";
}

}  // namespace

bool OutputHasColours() {
  const std::string_view terminal = FromEnvironment("TERM");
  const bool are_allowed = FromEnvironment("NO_COLOR").empty() && !terminal.empty() && terminal != "dumb";
  return are_allowed && ::isatty(STDOUT_FILENO) == 1;
}

std::string Coloured(std::string_view text, ColourOfLine colour_of) {
  std::string coloured;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const Colour colour = colour_of(line);
    coloured += colour == Colour::kNone ? std::string(line) : fmt::format("\x1b[{}m{}\x1b[0m", CodeOf(colour), line);
    if (end == std::string_view::npos) break;
    coloured += '\n';
    text.remove_prefix(end + 1);
  }
  return coloured;
}

void PrintColoured(std::string_view text, ColourOfLine colour_of) {
  Print(OutputHasColours() ? Coloured(text, colour_of) : std::string(text));
}

Colour ColourOfDiff(std::string_view line) {
  if (line.starts_with('+')) return Colour::kGood;
  if (line.starts_with('-')) return Colour::kBad;
  return line.starts_with("@@") ? Colour::kPlace : Colour::kNone;
}

}  // namespace pintle::ctl
