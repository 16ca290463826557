// SPDX-License-Identifier: Apache-2.0
#include "ctl/machine.h"

#include <fmt/core.h>
#include <unistd.h>

#include <utility>

#include "host/open_deployments.h"
#include "host/power_dbus.h"
#include "host/systemd_dbus.h"
#include "host/systemd_offline.h"

namespace pintle::ctl {

namespace {

// The kubelet's.
constexpr const char* kPullSecrets = "/var/lib/kubelet/config.json";

}  // namespace

Result<Machine> Machine::Of(const CommandLine& line) {
  Machine machine;
  machine.directory_ = line.Value("--root").value_or("");
  if (line.Has("--root") && machine.directory_.empty()) return Error(ErrorKind::kInvalid, "--root needs a directory");
  if (machine.IsRunning() && ::geteuid() != 0) return Error(ErrorKind::kInvalid, "only root may do this; be root");
  const std::string directory = machine.IsRunning() ? "/" : machine.directory_;
  machine.root_ = std::make_unique<Root>(TRY(Root::Open(directory)));
  if (machine.IsRunning()) {
    machine.systemd_ = std::make_unique<host::SystemdDbus>(*machine.root_);
    machine.labels_ = host::Labels::OfThisMachine();
    // It is there on all that were booted from a deployment.
    if (TRY(machine.root_->Status("/run/ostree-booted"))) {
      host::RegistryAccess registries;
      if (TRY(machine.root_->Status(kPullSecrets))) registries.auth_file = kPullSecrets;
      auto deployments = host::OpenDeployments(*machine.systemd_, std::move(registries));
      if (!deployments && deployments.error().kind() != ErrorKind::kNotFound) return deployments.error();
      if (deployments) machine.deployments_ = *std::move(deployments);
    }
  } else {
    machine.systemd_ = std::make_unique<host::SystemdOffline>(*machine.root_);
  }
  return machine;
}

std::string Machine::RootWords() const { return IsRunning() ? "" : " --root " + directory_; }

host::Inhibitor Machine::KeepUp(const std::string& why) const {
  if (!IsRunning()) return {};
  auto inhibitor = host::PowerDbus().InhibitShutdown(why);
  return inhibitor ? *std::move(inhibitor) : host::Inhibitor();
}

Result<bool> WantsJson(const CommandLine& line) {
  const std::string format = line.Value("-o").value_or("");
  if (!format.empty() && format != "json") {
    return Error(ErrorKind::kInvalid, fmt::format("-o {}: there is only json", format));
  }
  return !format.empty();
}

}  // namespace pintle::ctl
