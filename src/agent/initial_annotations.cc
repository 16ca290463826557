// SPDX-License-Identifier: Apache-2.0
#include "agent/initial_annotations.h"

#include "change/format.h"
#include "json/fields.h"
#include "json/parse.h"

namespace pintle::agent {
namespace {

// The Machine Config Operator writes this name without the "s".
constexpr const char* kKeptAside = "/etc/machine-config-daemon/node-annotation.json.bak";

}  // namespace

Result<bool> IsNewToCluster(const Root& root) { return TRY(root.Status(kInitialAnnotations)).has_value(); }

Result<std::map<std::string, std::string>> ReadInitialAnnotations(const Root& root) {
  if (!TRY(IsNewToCluster(root))) return std::map<std::string, std::string>();
  json::Report report;
  auto annotations = json::Decode<std::map<std::string, std::string>>(
      TRY(json::Parse(TRY(root.ReadFile(kInitialAnnotations))), kInitialAnnotations), report);
  TRY(report.ToResult(), kInitialAnnotations);
  return annotations;
}

Result<> MoveInitialAnnotationsAside(const Root& root) {
  if (!TRY(IsNewToCluster(root))) return {};
  TRY(change::ExpectKnownVersions(root));
  TRY(root.WriteFile(kKeptAside, TRY(root.ReadFile(kInitialAnnotations))));
  return root.Remove(kInitialAnnotations);
}

}  // namespace pintle::agent
