// SPDX-License-Identifier: Apache-2.0
#pragma once

// The functions that templates call by name.

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "gotemplate/value.h"

namespace pintle::gotemplate {

struct Function {
  // The types of the parameters.  In a variadic function, the last type is the type of each remaining argument.
  std::vector<const Type*> parameters;
  bool is_variadic = false;
  // With kAnyType, the result is an interface.  With kAnyValueType, the result keeps its own type.
  const Type* result = &kAnyType;
  // An error becomes "error calling NAME: ...".  New values are stored in `memory`.
  std::function<Result<Value>(std::span<const Value> arguments, Memory& memory)> call;
};

using Functions = std::map<std::string, Function, std::less<>>;

// Returns the built-in functions: and, or, not, len, index, slice, print, printf, println, html, js, urlquery, call and
// the comparisons.
const Functions& Builtins();

}  // namespace pintle::gotemplate
