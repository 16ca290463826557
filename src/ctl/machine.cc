// SPDX-License-Identifier: Apache-2.0
#include "ctl/machine.h"

#include <fmt/core.h>
#include <unistd.h>

#include <utility>

#include "base/printable.h"
#include "host/systemd/systemd_offline.h"

namespace pintle::ctl {

Result<Machine> Machine::Of(const CommandLine& line) {
  Machine machine;
  machine.directory_ = line.Value("--root").value_or("");
  if (line.Has("--root") && machine.directory_.empty()) return Error(ErrorKind::kInvalid, "--root needs a directory");
  if (machine.IsRunning()) {
    if (::geteuid() != 0) return Error(ErrorKind::kInvalid, "only root may do this; run it as root");
    machine.running_ = TRY(host::ThisMachine::Open());
  } else {
    machine.offline_ = std::make_unique<Offline>(TRY(Root::Open(machine.directory_)));
  }
  return machine;
}

host::Host Machine::host() const {
  return running_ ? running_->host() : host::Host{offline_->root, offline_->systemd, offline_->clock, {}};
}

std::string Machine::RootOptionText() const { return IsRunning() ? "" : " --root " + ShellQuoted(directory_); }

Result<> Machine::Reboot(const std::string& reason) const {
  if (IsRunning()) return running_->power().Reboot(reason);
  return Error(ErrorKind::kInvalid,
               fmt::format("the machine in {} is not running, and cannot be rebooted", directory_));
}

host::Inhibitor Machine::InhibitShutdown(const std::string& why) const {
  if (!IsRunning()) return {};
  auto inhibitor = running_->power().InhibitShutdown(why);
  return inhibitor ? *std::move(inhibitor) : host::Inhibitor();
}

}  // namespace pintle::ctl
