// SPDX-License-Identifier: Apache-2.0
#pragma once

// What YAML text without quotes means: 0644 is 420, `no` is false, 12:30 is a text.
//
// The rules are those of YAML 1.1 as Go's yaml.v2 applies them, since kubectl and the Machine Config Operator read YAML
// through it.  The name of a rendered config depends on the same rules: a text that would mean something else without
// quotes is written with them.

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

PlainScalar MeaningOf(std::string_view plain);

// A whole number or a fraction that a JSON text may hold.  No value: infinity, or not a number.
using Number = std::variant<std::int64_t, std::uint64_t, double>;
// The number that remains when Go has written it as JSON and someone reads it back: a whole number in most cases.
std::optional<Number> ThroughJson(double number);

// The shortest text that reads back as this number, as Go's %g has it: "0.5", "1e+20", "+Inf".
std::string GoText(double number);
std::string GoText(float number);

}  // namespace pintle::machineconfig
