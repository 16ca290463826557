// SPDX-License-Identifier: Apache-2.0
#include "base/command_line.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/nearest.h"

namespace pintle {
namespace {

Error UsageError(std::string message) { return Error(ErrorKind::kInvalid, std::move(message) + " (see --help)"); }

// kubectl has --output as a long form of -o, so people may type it.
Error UnknownOption(std::string_view name, std::span<const Option> options) {
  std::vector<std::string_view> known = {"--help"};
  std::transform(options.begin(), options.end(), std::back_inserter(known), [](const Option& o) { return o.name; });
  const bool is_long_form = name == "--output" && std::find(known.begin(), known.end(), "-o") != known.end();
  return UsageError(
      fmt::format("unknown option {}{}", name, is_long_form ? "; did you mean -o?" : SuggestionFor(name, known)));
}

// If the word is a short option with its value, such as "-ojson", returns the option, and otherwise nullptr.
const Option* ShortOptionOf(std::string_view word, std::span<const Option> options) {
  constexpr std::size_t kShort = 2;
  const auto option = std::find_if(options.begin(), options.end(), [&](const Option& o) {
    return o.name.size() == kShort && !o.value.empty() && word.starts_with(o.name);
  });
  return option == options.end() || word.size() == kShort || word[kShort] == '=' ? nullptr : &*option;
}

// Returns whether `value` is one of `choices`, such as "json|yaml".  Choices without a "|" are the name of a
// placeholder, such as "FILE", for which any value will do.
bool IsPossible(std::string_view value, std::string_view choices) {
  if (choices.find('|') == std::string_view::npos) return true;
  while (true) {
    const std::size_t end = choices.find('|');
    if (choices.substr(0, end) == value) return true;
    if (end == std::string_view::npos) return false;
    choices.remove_prefix(end + 1);
  }
}

Error ImpossibleValue(const Option& option, std::string_view value) {
  return UsageError(fmt::format("{} {}: the value must be one of {}", option.name, value, option.value));
}

}  // namespace

Result<CommandLine> CommandLine::Parse(std::span<const Option> options, std::span<const char* const> words) {
  return Parse(options, std::vector<std::string_view>(words.begin(), words.end()));
}

Result<CommandLine> CommandLine::Parse(std::span<const Option> options, std::span<const std::string_view> words) {
  CommandLine line;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--") {
      line.operands_.insert(line.operands_.end(), words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      break;
    }
    if (word.size() < 2 || word[0] != '-') {  // "-" alone stands for standard input.
      line.operands_.emplace_back(word);
      continue;
    }
    if (const Option* option = ShortOptionOf(word, options); option != nullptr) {
      const std::string_view value = word.substr(option->name.size());
      if (!IsPossible(value, option->value)) return ImpossibleValue(*option, value);
      line.values_[std::string(option->name)].emplace_back(value);
      continue;
    }
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const auto option = std::find_if(options.begin(), options.end(), [&](const Option& o) { return o.name == name; });
    if (option == options.end()) return UnknownOption(name, options);
    std::vector<std::string>& values = line.values_[std::string(name)];
    if (option->value.empty()) {
      if (equals != std::string_view::npos) return UsageError(fmt::format("{} takes no value", name));
    } else if (equals != std::string_view::npos) {
      values.emplace_back(word.substr(equals + 1));
    } else if (i + 1 < words.size()) {
      values.emplace_back(words[++i]);
    } else {
      return UsageError(fmt::format("{} needs a value: {}", name, option->value));
    }
    if (!option->value.empty() && !IsPossible(values.back(), option->value)) {
      return ImpossibleValue(*option, values.back());
    }
  }
  return line;
}

std::vector<std::string> CommandLine::Values(std::string_view option) const {
  const auto found = values_.find(option);
  return found == values_.end() ? std::vector<std::string>() : found->second;
}

std::optional<std::string> CommandLine::Value(std::string_view option) const {
  const std::vector<std::string> values = Values(option);
  return values.empty() ? std::nullopt : std::optional(values.back());
}

Result<std::string> CommandLine::Needed(std::string_view option) const {
  auto value = Value(option);
  if (!value) return UsageError(fmt::format("{} is needed", option));
  if (value->empty()) return UsageError(fmt::format("{}: the value must not be empty", option));
  return *std::move(value);
}

std::string Describe(std::span<const Option> options) {
  std::string text;
  for (const Option& option : options) {
    const std::string usage =
        option.value.empty() ? std::string(option.name) : fmt::format("{} {}", option.name, option.value);
    text += fmt::format("  {:<28} {}\n", usage, option.summary);
  }
  return text;
}

std::vector<std::string> SplitAtCommas(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    if (comma != 0) parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return parts;
}

}  // namespace pintle
