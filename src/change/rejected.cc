// SPDX-License-Identifier: Apache-2.0
#include "change/rejected.h"

#include "change/state_directory.h"
#include "change/way_out.h"
#include "json/fields.h"
#include "json/parse.h"

namespace pintle::change {

Result<std::optional<Rejected>> ReadRejected(const Root& root) {
  const auto read = [&]() -> Result<std::optional<Rejected>> {
    if (!TRY(root.Status(kRejected))) return std::nullopt;
    json::Report report;
    auto rejected = json::Decode<Rejected>(TRY(json::Parse(TRY(root.ReadFile(kRejected)))), report);
    TRY(report.ToResult());
    return rejected;
  };
  return WithWayOut(kRejected, read());
}

Result<> KeepRejected(const Root& root, const std::optional<Rejected>& rejected) {
  if (!rejected) return root.Remove(kRejected);
  TRY(root.MakeDirectories(kStateDirectory));
  return root.WriteFile(kRejected, json::ToIndentedText(json::Encode(*rejected)) + "\n");
}

}  // namespace pintle::change
