// SPDX-License-Identifier: Apache-2.0
#include "change/rejected.h"

#include "json/parse.h"

namespace pintle::change {
namespace {

constexpr const char* kDirectory = "/var/lib/pintle";
constexpr const char* kRejected = "/var/lib/pintle/rejected.json";

}  // namespace

Result<std::optional<Rejected>> ReadRejected(const Root& root) {
  if (!TRY(root.Status(kRejected))) return std::nullopt;
  json::Report report;
  auto rejected = json::Decode<Rejected>(TRY(json::Parse(TRY(root.ReadFile(kRejected))), kRejected), report);
  TRY(report.ToResult(), kRejected);
  return rejected;
}

Result<> KeepRejected(const Root& root, const std::optional<Rejected>& rejected) {
  if (!rejected) return root.Remove(kRejected);
  TRY(root.MakeDirectories(kDirectory));
  return root.WriteFile(kRejected, json::ToIndentedText(json::Encode(*rejected)) + "\n");
}

}  // namespace pintle::change
