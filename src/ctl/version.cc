// SPDX-License-Identifier: Apache-2.0
#include "base/version.h"

#include <fmt/core.h>

#include "ctl/verbs.h"

namespace pintle::ctl {

Result<ExitStatus> Version(const CommandLine& /*line*/) {
  fmt::print("pintle {}\n", kVersion);
  return ExitStatus::kFine;
}

}  // namespace pintle::ctl
