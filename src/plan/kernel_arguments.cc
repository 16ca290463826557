// SPDX-License-Identifier: Apache-2.0
#include "plan/kernel_arguments.h"

namespace pintle::plan {
namespace {

constexpr std::string_view kBlanks = " \f\n\r\t\v";

bool IsBlank(char c) { return kBlanks.find(c) != std::string_view::npos; }

// The first argument of a text that does not begin with a blank.
std::string_view FirstArgument(std::string_view text) {
  bool is_quoted = false;
  std::size_t end = 0;
  for (; end < text.size() && (is_quoted || !IsBlank(text[end])); ++end) {
    if (text[end] == '"') is_quoted = !is_quoted;
  }
  return text.substr(0, end);
}

void Split(std::string_view text, std::vector<std::string>& arguments) {
  for (;;) {
    const std::size_t begin = text.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return;
    text.remove_prefix(begin);
    const std::string_view argument = FirstArgument(text);
    text.remove_prefix(argument.size());
    // A quote that is never closed takes all the rest, but for the blanks at its end.
    arguments.emplace_back(argument.substr(0, argument.find_last_not_of(kBlanks) + 1));
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
