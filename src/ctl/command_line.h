// SPDX-License-Identifier: Apache-2.0
#pragma once

// The words after a verb of `pintle`.

#include <span>
#include <string_view>

#include "base/command_line.h"

namespace pintle::ctl {

using pintle::CommandLine;
using pintle::Describe;
using pintle::Option;
using pintle::SplitAtCommas;

inline bool IsHelpOption(std::string_view word) { return word == "--help" || word == "-h"; }

// Returns whether one of the words before "--" asks for help.
inline bool HasHelpOption(std::span<const char* const> words) {
  for (const std::string_view word : words) {
    if (word == "--") return false;
    if (IsHelpOption(word)) return true;
  }
  return false;
}

}  // namespace pintle::ctl
