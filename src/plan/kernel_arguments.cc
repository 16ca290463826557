// SPDX-License-Identifier: Apache-2.0
#include "plan/kernel_arguments.h"

#include <algorithm>
#include <array>

namespace pintle::plan {
namespace {

constexpr std::string_view kBlanks = " \f\n\r\t\v";

bool IsBlank(char c) { return kBlanks.find(c) != std::string_view::npos; }

// Returns the first argument of a text, which must not begin with a blank.
std::string_view FirstArgument(std::string_view text) {
  bool is_quoted = false;
  std::size_t end = 0;
  for (; end < text.size() && (is_quoted || !IsBlank(text[end])); ++end) {
    if (text[end] == '"') is_quoted = !is_quoted;
  }
  return text.substr(0, end);
}

// Go's strings.TrimSpace() removes all these characters from the ends of an argument.  Only kBlanks separate arguments.
constexpr auto kWhiteSpace = std::to_array<std::string_view>({
    " ",      "\t",     "\n",     "\v",     "\f",     "\r",     "\u0085", "\u00A0", "\u1680",
    "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008",
    "\u2009", "\u200A", "\u2028", "\u2029", "\u202F", "\u205F", "\u3000",
});

std::string_view Trimmed(std::string_view text) {
  for (;;) {
    const auto at_an_end = [&](std::string_view space) { return text.starts_with(space) || text.ends_with(space); };
    const auto space = std::find_if(kWhiteSpace.begin(), kWhiteSpace.end(), at_an_end);
    if (space == kWhiteSpace.end()) return text;
    text.starts_with(*space) ? text.remove_prefix(space->size()) : text.remove_suffix(space->size());
  }
}

void Split(std::string_view text, std::vector<std::string>& arguments) {
  for (;;) {
    const std::size_t begin = text.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return;
    text.remove_prefix(begin);
    const std::string_view argument = FirstArgument(text);
    text.remove_prefix(argument.size());
    // If a quote is never closed, the argument extends to the end of the text.
    arguments.emplace_back(Trimmed(argument));
  }
}

}  // namespace

std::vector<std::string> SplitArguments(std::span<const std::string> texts) {
  std::vector<std::string> arguments;
  for (const std::string& text : texts) Split(text, arguments);
  return arguments;
}

std::vector<std::string> RpmOstreeArguments(std::span<const std::string> from, std::span<const std::string> to) {
  std::vector<std::string> options;
  for (const std::string& argument : SplitArguments(from)) options.push_back("--delete-if-present=" + argument);
  for (const std::string& argument : SplitArguments(to)) options.push_back("--append=" + argument);
  return options;
}

}  // namespace pintle::plan
