// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads /etc/pivot/kernel-args, in which a person adds or removes kernel arguments beside those of the config, with
// lines `ADD argument` and `DELETE argument`.  As in the Machine Config Operator, it depends on the OS which
// arguments are allowed.

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
  std::vector<std::string> refused;  // The arguments that are not allowed on this OS.
};

// `os_release` is the text of os-release(5).
Tuning ParseTuning(std::string_view text, std::string_view os_release);

// Reads the file, and the os-release(5) of the same tree.  Returns an empty tuning if there is no such file.
Result<Tuning> ReadTuning(const Root& root);

}  // namespace pintle::change
