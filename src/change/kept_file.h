// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads and writes files of /var/lib/pintle, each of which holds one value and the version of its format.

#include <optional>
#include <utility>

#include "base/root.h"
#include "change/format.h"
#include "change/set_aside_remedy.h"
#include "change/state_directory.h"
#include "json/fields.h"
#include "json/parse.h"

namespace pintle::change {

// Returns the value in the file, or nullopt if there is no such file.
template <typename T>
Result<std::optional<T>> ReadKept(const Root& root, const Format& format) {
  const auto read = [&]() -> Result<std::optional<T>> {
    if (!TRY(root.Status(format.path))) return std::nullopt;
    json::Report report;
    auto document = TRY(WithoutVersion(format, TRY(json::Parse(TRY(root.ReadFile(format.path))))));
    auto kept = json::Decode<T>(std::move(document), report);
    TRY(report.ToResult());
    return kept;
  };
  return WithSetAsideRemedy(format.path, read());
}

// Writes the value to the file.  Removes the file if there is no value.
template <typename T>
Result<> Keep(const Root& root, const Format& format, const std::optional<T>& value) {
  TRY(ExpectKnownVersion(root, format));
  if (!value) return root.Remove(format.path);
  TRY(root.MakeDirectories(kStateDirectory, kPrivateDirectory));
  return root.WriteFile(format.path, TextWithVersion(format, json::Encode(*value)));
}

}  // namespace pintle::change
