// SPDX-License-Identifier: Apache-2.0
#pragma once

// The words behind a verb: options, and what they are about.
//
//     pintle render --pool POOL.yaml --controller-config=CC.yaml -o name FILE...
//
// Each verb lists its options once; from that list come parsing, `--help` and the completion.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pintle {

struct Option {
  std::string_view name;  // "--pool", or "-o".
  // What its value stands for in the help: "FILE"; or the values that it may have: "json|yaml".  Empty: a switch
  // without a value.
  std::string_view value;
  std::string_view summary;  // Half a sentence for the help.
};

class CommandLine {
 public:
  // Sorts the words by the options a verb knows.  An option takes its value as the next word or behind "=", may be
  // given more than once, and may stand anywhere; behind "--" there are none.
  static Result<CommandLine> Parse(std::span<const Option> options, std::span<const std::string_view> words);
  static Result<CommandLine> Parse(std::span<const Option> options, std::span<const char* const> words);

  bool Has(std::string_view option) const { return values_.contains(option); }
  // The last value given, so that a later one overrides an earlier one.
  std::optional<std::string> Value(std::string_view option) const;
  std::vector<std::string> Values(std::string_view option) const;
  // The value of an option that the verb cannot do without.
  Result<std::string> Needed(std::string_view option) const;
  // The words that are no options.
  const std::vector<std::string>& words() const { return words_; }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> words_;
};

// Lines for `--help`, one an option.
std::string Describe(std::span<const Option> options);

// The parts of a value such as "a,b"; empty ones do not count.
std::vector<std::string> SplitAtCommas(std::string_view text);

}  // namespace pintle
