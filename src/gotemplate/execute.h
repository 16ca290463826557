// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a template prints for some data.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "gotemplate/function.h"
#include "gotemplate/template.h"
#include "gotemplate/value.h"

namespace pintle::gotemplate {

// What a field of a map is that the map does not have.
enum class MissingKey : std::uint8_t { kInvalid, kZero, kError };

struct ExecuteOptions {
  MissingKey missing_key = MissingKey::kInvalid;
  // Templates have loops and can call themselves.
  std::size_t steps = 10'000'000;  // Nodes of the tree that are evaluated.
  std::size_t output = std::size_t{64} << 20;
  std::size_t memory = std::size_t{256} << 20;  // Of the texts and lists that functions make.
};

// Appends to `output`, also where it ends in an error.  Errors have Go's words: "template: NAME:1:2: executing "NAME"
// at
// <.X>: ...".  `functions` come before those that all templates have.
Result<> Execute(const Template& of, const Functions& functions, const Value& data, std::string& output,
                 const ExecuteOptions& options = {});

}  // namespace pintle::gotemplate
