// SPDX-License-Identifier: Apache-2.0
#pragma once

// What templates call by name.

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gotemplate/value.h"

namespace pintle::gotemplate {

struct Function {
  // What it takes.  If it takes any number of the last one, that is the type of each.
  std::vector<const Type*> parameters;
  bool is_variadic = false;
  // With kAnyType, what is returned is an interface.  With kAnyValueType, it stays what it is.
  const Type* result = &kAnyType;
  // The error becomes "error calling NAME: ...".  What is made lives in `memory`.
  std::function<Result<Value>(std::span<const Value> arguments, Memory& memory)> call;
};

using Functions = std::map<std::string, Function, std::less<>>;

// What all templates have: and, or, not, len, index, slice, print, printf, println, html, js, urlquery, call and the
// comparisons.
const Functions& Builtins();

}  // namespace pintle::gotemplate
