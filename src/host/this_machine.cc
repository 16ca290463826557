// SPDX-License-Identifier: Apache-2.0
#include "host/this_machine.h"

#include <utility>

#include "host/ostree/open_deployments.h"
#include "host/systemd/power_dbus.h"
#include "host/systemd/systemd_dbus.h"

namespace pintle::host {
namespace {

// The kubelet's pull secrets.  kInternalPullSecrets has these and also those of the cluster's internal registry.
constexpr const char* kPullSecrets = "/var/lib/kubelet/config.json";
constexpr const char* kInternalPullSecrets = "/etc/mco/internal-registry-pull-secret.json";

}  // namespace

ThisMachine::ThisMachine(Root root)
    : root_(std::move(root)),
      systemd_(std::make_unique<SystemdDbus>(root_)),
      power_(std::make_unique<PowerDbus>()),
      labels_(Labels::OfThisMachine()) {}

ThisMachine::ThisMachine(Root root, std::unique_ptr<Systemd> systemd, std::unique_ptr<Power> power,
                         std::unique_ptr<Deployments> deployments, Labels labels)
    : root_(std::move(root)),
      systemd_(std::move(systemd)),
      power_(std::move(power)),
      deployments_(std::move(deployments)),
      labels_(std::move(labels)) {}

Result<std::unique_ptr<ThisMachine>> ThisMachine::Open() {
  auto machine = std::unique_ptr<ThisMachine>(new ThisMachine(TRY(Root::Open("/"))));
  // This file exists on every machine that was booted from a deployment.
  machine->is_package_based_ = !TRY(machine->root_.Status("/run/ostree-booted"));
  if (machine->is_package_based_) return machine;
  RegistryAccess registries;
  registries.auth_file = kPullSecrets;
  registries.preferred_auth_file = kInternalPullSecrets;
  auto deployments = OpenDeployments(*machine->systemd_, std::move(registries));
  if (!deployments && deployments.error().kind() != ErrorKind::kNotFound) return deployments.error();
  if (deployments) machine->deployments_ = *std::move(deployments);
  return machine;
}

}  // namespace pintle::host
