// SPDX-License-Identifier: Apache-2.0
#include "agent/installation.h"

#include <utility>

#include "change/current_config.h"
#include "json/parse.h"
#include "machineconfig/ignition_part.h"
#include "machineconfig/objects.h"

namespace pintle::agent {

Result<std::optional<std::vector<plan::IrreconcilableChange>>> CompareWithInstallation(const Root& root) {
  if (!TRY(root.Status(kInstalledConfig))) return std::nullopt;
  auto document = TRY(json::Parse(TRY(root.ReadFile(kInstalledConfig))), kInstalledConfig);
  const auto installed = TRY(machineconfig::ReadMachineConfig(std::move(document)), kInstalledConfig);
  json::Report report;
  const auto ignition = TRY(machineconfig::ParseIgnitionPart(installed, report), kInstalledConfig);
  return plan::IrreconcilableChanges(ignition, TRY(change::ReadCurrentConfig(root)).ignition);
}

}  // namespace pintle::agent
