// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads /etc/pivot/kernel-args, with which a person tunes a machine's kernel beside its config: lines `ADD argument`
// and `DELETE argument`.  What may be tuned depends on the OS, as with the Machine Config Operator.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/root.h"

namespace pintle::change {

inline constexpr const char* kTuning = "/etc/pivot/kernel-args";

struct Tuning {
  std::vector<std::string> add;
  std::vector<std::string> remove;
  std::vector<std::string> refused;  // The arguments that may not be tuned here.
};

// `os_release` is the text of that file.
Tuning ParseTuning(std::string_view text, std::string_view os_release);

// Returns an empty tuning if there is no such file.
Result<Tuning> ReadTuning(const Root& root);

}  // namespace pintle::change
