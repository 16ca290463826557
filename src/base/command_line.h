// SPDX-License-Identifier: Apache-2.0
#pragma once

// The words after a verb, sorted into options and operands.
//
//     pintle render --pool POOL.yaml --controller-config=CC.yaml -o name FILE...
//
// Each verb lists its options once; parsing, `--help` and shell completion all use that list.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pintle {

struct Option {
  std::string_view name;  // Such as "--pool" or "-o".
  // The placeholder of the value in the help, such as "FILE", or the values that are allowed, such as "json|yaml".
  // Empty if the option is a switch without a value.
  std::string_view value;
  std::string_view summary;  // A phrase for the help.
};

class CommandLine {
 public:
  // Separates the options, which must be among those of the verb, from the operands.  The value of an option is the
  // next word, or the text after "=".  An option may be given more than once, and may stand anywhere before "--".  All
  // words after "--" are operands.
  static Result<CommandLine> Parse(std::span<const Option> options, std::span<const std::string_view> words);
  static Result<CommandLine> Parse(std::span<const Option> options, std::span<const char* const> words);

  bool Has(std::string_view option) const { return values_.contains(option); }
  // Returns the value that was given last, so that a later one overrides an earlier one.
  std::optional<std::string> Value(std::string_view option) const;
  // Returns all values of an option in the order in which they were given.
  std::vector<std::string> Values(std::string_view option) const;
  // Returns the value of a required option, or an error if the option was not given or its value is empty.
  Result<std::string> Needed(std::string_view option) const;
  // Returns the operands: all words except the options and their values.
  const std::vector<std::string>& operands() const { return operands_; }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> operands_;
};

// Returns the lines for `--help`, one for each option.
std::string Describe(std::span<const Option> options);

// Returns the parts of a value such as "a,b".  Empty parts are left out.
std::vector<std::string> SplitAtCommas(std::string_view text);

}  // namespace pintle
