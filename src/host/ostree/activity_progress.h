// SPDX-License-Identifier: Apache-2.0
#pragma once

// The progress of an activity that takes minutes, for people who wait for it.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace pintle::host {

struct ActivityProgress {
  std::string doing;                          // The activity, such as "fetching quay.io/os@sha256:4f0a...".
  std::string part = {};                      // The current part of the activity, such as "downloading".
  std::optional<std::uint32_t> percent = {};  // The percentage of that part, 0 to 100; nullopt if it is not known.

  bool operator==(const ActivityProgress&) const = default;
};

// Called on the thread that does the work.  The work continues when the function returns.
using ProgressCallback = std::function<void(const ActivityProgress& progress)>;

// Returns a text such as "fetching quay.io/os@sha256:4f0a...: downloading, 43 %".
std::string InWords(const ActivityProgress& progress);

// Returns the text without the activity: "downloading, 43 %".
std::string PartInWords(const ActivityProgress& progress);

// Returns the percentage, rounded down, so that it is 100 only if all is done.  Returns nullopt if `all` is 0.
std::optional<std::uint32_t> PercentOf(std::uint64_t done, std::uint64_t all);

}  // namespace pintle::host
