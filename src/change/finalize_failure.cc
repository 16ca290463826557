// SPDX-License-Identifier: Apache-2.0
#include "change/finalize_failure.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/first_characters.h"
#include "base/journal_reader.h"

namespace pintle::change {
namespace {

// Pintle's own unit and that of OSTree.  OSTree's unit finalizes deployments that Pintle did not stage.
constexpr std::array<std::string_view, 2> kFinalizers = {"pintle-finalize-staged.service",
                                                         "ostree-finalize-staged.service"};
constexpr std::size_t kLongestCause = 1000;  // Counted in characters.

}  // namespace

std::string FinalizeFailure() {
  const auto lines = log::MessagesOfPreviousBoot(kFinalizers);
  return lines ? FinalizeFailureIn(*lines) : std::string();
}

std::string FinalizeFailureIn(const std::vector<std::string>& lines) {
  const auto is_failure = [](std::string_view line) {
    return line.starts_with("error:") || line.starts_with("pintle: finalize-staged:");
  };
  const auto failure = std::find_if(lines.begin(), lines.end(), is_failure);
  return failure == lines.end() ? "" : *failure;
}

void AddCause(std::string_view failure, std::vector<Finding>& findings) {
  const auto last =
      std::find_if(findings.rbegin(), findings.rend(), [](const Finding& finding) { return finding.about == kOs; });
  if (failure.empty() || last == findings.rend()) return;
  last->text += fmt::format("; possible root cause: {}", FirstCharacters(std::string(failure), kLongestCause));
}

}  // namespace pintle::change
