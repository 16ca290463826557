// SPDX-License-Identifier: Apache-2.0
#pragma once

// The meaning of YAML text without quotes: 0644 is 420, `no` is false, 12:30 is a string.
//
// The rules are those of YAML 1.1 as implemented by Go's yaml.v2, which kubectl and the Machine Config Operator use.
// The name of a rendered config depends on the same rules: a text that would mean something else without quotes is
// quoted.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace pintle::machineconfig {

struct Null {};
struct Timestamp {};
struct Text {};

using PlainScalar = std::variant<Text, Null, bool, std::int64_t, std::uint64_t, double, Timestamp>;

// Returns the value that a text without quotes stands for.
PlainScalar MeaningOf(std::string_view plain);

// A whole number or a fraction that JSON can hold.
using Number = std::variant<std::int64_t, std::uint64_t, double>;
// Returns the number that Go would have after writing it as JSON and reading it back: an integer if it is whole and
// fits into 64 bits, otherwise a double.  Returns nullopt for infinity and NaN.
std::optional<Number> ThroughJson(double number);

// Returns the shortest text that reads back as this number, in the format of Go's %g: "0.5", "1e+20", "+Inf".
std::string GoNumberText(double number);
std::string GoNumberText(float number);

}  // namespace pintle::machineconfig
