// SPDX-License-Identifier: Apache-2.0
#include "ignition/losses.h"

#include <fmt/core.h>

namespace pintle::ignition {

std::string ToIgnitionText(const json::Report& report) {
  std::string text;
  for (const json::Problem& problem : report.problems()) {
    const char* kind = problem.severity == json::Severity::kError ? "error" : "warning";
    text += fmt::format("{} at {}: {}\n", kind, problem.path, problem.what);
  }
  return text;
}

}  // namespace pintle::ignition
