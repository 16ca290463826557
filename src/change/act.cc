// SPDX-License-Identifier: Apache-2.0
#include "change/act.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <string_view>
#include <variant>

#include "host/files/files.h"
#include "host/program.h"
#include "host/systemd/unit_files.h"
#include "plan/actions.h"

namespace pintle::change {
namespace {

namespace action_type = plan::action_type;

// The service that makes the machine trust the authorities in /etc/pki/ca-trust, and the program that it runs.  An OS
// may have only one of them.
constexpr std::string_view kTrustService = "coreos-update-ca-trust.service";
constexpr const char* kTrustProgram = "update-ca-trust";

// A restart, reload or stop of a service, or the program of the trust service, counts as hung if it takes longer than
// this.
constexpr auto kServicePatience = std::chrono::minutes(5);

bool RemovesUnitFile(std::span<const plan::Step> steps, const std::string& unit) {
  const std::string path = fmt::format("{}/{}", host::kUnitDirectory, unit);
  return std::any_of(steps.begin(), steps.end(), [&](const plan::Step& step) {
    const auto* file = std::get_if<host::FilePut>(&step);
    return file != nullptr && file->key == path && !file->want;
  });
}

// Returns whether the service manager has read the thing that a step changes.
bool IsReadBySystemd(const plan::Step& step) {
  if (const auto* file = std::get_if<host::FilePut>(&step)) {
    constexpr std::string_view kDirectories[] = {"/etc/systemd/", "/run/systemd/", "/usr/lib/systemd/",
                                                 "/usr/local/lib/systemd/"};
    return std::any_of(std::begin(kDirectories), std::end(kDirectories),
                       [&](std::string_view directory) { return file->key.starts_with(directory); });
  }
  return std::holds_alternative<resource::Put<resource::UnitState>>(step) ||
         std::holds_alternative<resource::Put<resource::UnitLinks>>(step);
}

class Actor {
 public:
  Actor(const host::Host& host, std::span<const plan::Step> steps) : host_(host), steps_(steps) {}

  Result<> Act(const api::NodeDisruptionAction& action) const {
    const std::string service(plan::ServiceOf(action));
    if (action.type == action_type::kRestart) {
      TRY(service == kTrustService ? UpdateTrust(service) : Run(host::JobKind::kRestart, service),
          fmt::format("restarting {} service failed", service));
    } else if (action.type == action_type::kReload) {
      TRY(Run(host::JobKind::kReload, service), fmt::format("reloading {} configuration failed", service));
    } else if (action.type == action_type::kSpecial) {
      TRY(Run(host::JobKind::kReload, "crio.service"), "reloading crio configuration failed");
    } else if (action.type == action_type::kDaemonReload) {
      TRY(host_.systemd.Reload(), "reloading systemd's configuration failed");
    }
    return {};  // The drain was done before, the reboot follows later, and None needs nothing.
  }

 private:
  Result<> Run(host::JobKind job, const std::string& service) const {
    if (!RemovesUnitFile(steps_, service)) return host_.systemd.Run(job, service, kServicePatience);
    const host::UnitStatus status = TRY(host_.systemd.Observe(service));
    if (status.load_state != "not-found") return host_.systemd.Run(job, service, kServicePatience);
    const bool is_running = status.active_state != "inactive" && status.active_state != "failed";
    return is_running ? host_.systemd.Run(host::JobKind::kStop, service, kServicePatience) : Result<>();
  }

  Result<> UpdateTrust(const std::string& service) const {
    const auto restarted = Run(host::JobKind::kRestart, service);
    if (restarted) return {};
    const auto updated = host::RunProgram({{kTrustProgram}, host::PlainEnvironment(), kServicePatience}, {});
    if (updated) return {};
    return Error(restarted.error().kind(), fmt::format("{}; and without the service: {}", restarted.error().message(),
                                                       updated.error().message()));
  }

  const host::Host& host_;
  std::span<const plan::Step> steps_;
};

}  // namespace

bool HasReboot(Actions actions) {
  return std::any_of(actions.begin(), actions.end(),
                     [](const auto& action) { return action.type == action_type::kReboot; });
}

bool ChangesSystemd(std::span<const plan::Step> steps) {
  return std::any_of(steps.begin(), steps.end(), IsReadBySystemd);
}

Result<> Act(const host::Host& host, Actions actions, std::span<const plan::Step> steps) {
  TRY(plan::ExpectKnownActions(actions));
  if (ChangesSystemd(steps)) {
    TRY(host.systemd.Reload(), "reloading systemd's configuration failed");
  }
  const Actor actor(host, steps);
  for (const api::NodeDisruptionAction& action : actions) TRY(actor.Act(action));
  return {};
}

}  // namespace pintle::change
