// SPDX-License-Identifier: Apache-2.0
#include "change/kept_policy.h"

#include <string>
#include <utility>

#include "change/state_directory.h"
#include "change/way_out.h"
#include "json/fields.h"
#include "json/parse.h"

namespace pintle::change {

Result<api::NodeDisruptionPolicy> ReadKeptPolicy(const Root& root) {
  const auto read = [&]() -> Result<api::NodeDisruptionPolicy> {
    if (!TRY(root.Status(kKeptPolicy))) return api::NodeDisruptionPolicy();
    json::Report report;
    auto document = TRY(WithoutVersion(format::kPolicy, TRY(json::Parse(TRY(root.ReadFile(kKeptPolicy))))));
    auto policy = json::Decode<api::NodeDisruptionPolicy>(std::move(document), report);
    TRY(report.ToResult());
    return policy;
  };
  return WithWayOut(kKeptPolicy, read());
}

Result<> KeepPolicy(const Root& root, const api::NodeDisruptionPolicy& policy) {
  const std::string text = TextWithVersion(format::kPolicy, json::Encode(policy));
  TRY(ExpectKnownVersion(root, format::kPolicy));
  if (TRY(root.Status(kKeptPolicy)) && TRY(WithWayOut(kKeptPolicy, root.ReadFile(kKeptPolicy))) == text) return {};
  TRY(root.MakeDirectories(kStateDirectory, kPrivateDirectory));
  return root.WriteFile(kKeptPolicy, text);
}

}  // namespace pintle::change
