// SPDX-License-Identifier: Apache-2.0
#pragma once

// Executes a template with data and prints its text.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "gotemplate/function.h"
#include "gotemplate/template.h"
#include "gotemplate/value.h"

namespace pintle::gotemplate {

// The result of looking up a key that a map does not have: an invalid Value, the zero value of the map's elements, or
// an error.
enum class MissingKey : std::uint8_t { kInvalid, kZero, kError };

struct ExecuteOptions {
  MissingKey missing_key = MissingKey::kInvalid;
  // These limits are needed because templates have loops and can call themselves.
  std::size_t max_steps = 10'000'000;  // The number of nodes that are walked or evaluated, and of loop iterations.
  std::size_t max_output = std::size_t{64} << 20;   // The size of the printed text.
  std::size_t max_memory = std::size_t{256} << 20;  // The size of the texts and lists that functions make.
};

// Appends the printed text to `output`, even if the execution fails later.  Errors have the words of Go: "template:
// NAME:1:2: executing "NAME" at <.X>: ...".  `functions` take precedence over the built-in ones.
Result<> Execute(const Template& parsed, const Functions& functions, const Value& data, std::string& output,
                 const ExecuteOptions& options = {});

}  // namespace pintle::gotemplate
