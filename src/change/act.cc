// SPDX-License-Identifier: Apache-2.0
#include "change/act.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "plan/actions.h"

namespace pintle::change {
namespace {

namespace action_type = plan::action_type;

// A service that takes longer than this to come up again hangs.
constexpr auto kPatience = std::chrono::minutes(5);

Result<> ActOnce(const host::Host& host, const api::NodeDisruptionAction& action) {
  const std::string service(plan::ServiceOf(action));
  if (action.type == action_type::kRestart) {
    TRY(host.systemd.Run(host::JobKind::kRestart, service, kPatience),
        fmt::format("restarting {} service failed", service));
  } else if (action.type == action_type::kReload) {
    TRY(host.systemd.Run(host::JobKind::kReload, service, kPatience),
        fmt::format("reloading {} configuration failed", service));
  } else if (action.type == action_type::kSpecial) {
    TRY(host.systemd.Run(host::JobKind::kReload, "crio.service", kPatience), "reloading crio configuration failed");
  } else if (action.type == action_type::kDaemonReload) {
    TRY(host.systemd.Reload(), "reloading systemd's configuration failed");
  }
  return {};  // Draining is done before, and a reboot after.
}

}  // namespace

bool HasReboot(Actions actions) {
  return std::any_of(actions.begin(), actions.end(),
                     [](const auto& action) { return action.type == action_type::kReboot; });
}

Result<> Act(const host::Host& host, Actions actions) {
  TRY(host.systemd.Reload(), "reloading systemd's configuration failed");
  for (const api::NodeDisruptionAction& action : actions) TRY(ActOnce(host, action));
  return {};
}

}  // namespace pintle::change
