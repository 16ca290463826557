// SPDX-License-Identifier: Apache-2.0
#include "change/rejected.h"

#include <utility>

#include "change/state_directory.h"
#include "change/way_out.h"
#include "json/fields.h"
#include "json/parse.h"

namespace pintle::change {

Result<std::optional<Rejected>> ReadRejected(const Root& root) {
  const auto read = [&]() -> Result<std::optional<Rejected>> {
    if (!TRY(root.Status(kRejected))) return std::nullopt;
    json::Report report;
    auto document = TRY(WithoutVersion(format::kRejected, TRY(json::Parse(TRY(root.ReadFile(kRejected))))));
    auto rejected = json::Decode<Rejected>(std::move(document), report);
    TRY(report.ToResult());
    return rejected;
  };
  return WithWayOut(kRejected, read());
}

Result<> KeepRejected(const Root& root, const std::optional<Rejected>& rejected) {
  TRY(ExpectKnownVersion(root, format::kRejected));
  if (!rejected) return root.Remove(kRejected);
  TRY(root.MakeDirectories(kStateDirectory, kPrivateDirectory));
  return root.WriteFile(kRejected, TextWithVersion(format::kRejected, json::Encode(*rejected)));
}

}  // namespace pintle::change
