// SPDX-License-Identifier: Apache-2.0
#pragma once

// The machine that a verb is about: this machine, or the file tree of a machine that is not running.

#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "base/root.h"
#include "ctl/command_line.h"
#include "host/host.h"
#include "host/systemd/power.h"
#include "host/systemd/systemd_offline.h"
#include "host/this_machine.h"

namespace pintle::ctl {

// The options that the verbs for a machine share.
inline constexpr Option kRootOption = {"--root", "DIR", "another machine's file tree instead of this machine"};
inline constexpr Option kYesOption = {"--yes", "", "do it without asking"};
inline constexpr Option kNoRebootOption = {"--no-reboot", "", "leave the reboot to someone else if one is needed"};
inline constexpr Option kPolicyOption = {"--policy", "FILE",
                                         "the NodeDisruptionPolicy, or the MachineConfiguration that has it"};

class Machine {
 public:
  // Returns the machine that --root names, or this one.
  static Result<Machine> Of(const CommandLine& line);

  // Returns references to the parts of the machine, which are valid while this object exists.
  host::Host host() const;
  const Root& root() const { return running_ ? running_->root() : offline_->root; }
  // A machine that is not running cannot start or reload anything, and needs no reboot.
  bool IsRunning() const { return directory_.empty(); }
  // Returns the option that a printed command needs in order to act on this machine, such as " --root /mnt", or "".
  std::string RootOptionText() const;
  // Reboots this machine.  For a machine that is not running, returns an error: a reboot would be that of the machine
  // on which this program runs.
  Result<> Reboot(const std::string& reason) const;
  // Keeps the machine from being shut down while the result exists.  The result is empty, and inhibits nothing, if the
  // machine is not running or logind grants no inhibitor.
  host::Inhibitor InhibitShutdown(const std::string& why) const;

 private:
  Machine() = default;

  struct Offline {
    explicit Offline(Root opened) : root(std::move(opened)) {}

    Root root;
    host::SystemdOffline systemd{root};
    SystemClock clock;
  };

  std::string directory_;
  std::unique_ptr<host::ThisMachine> running_;  // Only one of these two is set.
  std::unique_ptr<Offline> offline_;
};

}  // namespace pintle::ctl
