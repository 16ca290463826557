// SPDX-License-Identifier: Apache-2.0
#pragma once

// The machine that a verb is about: this one, or the file tree of one that is not running.

#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "base/root.h"
#include "ctl/command_line.h"
#include "host/host.h"
#include "host/power.h"
#include "host/systemd_offline.h"
#include "host/this_machine.h"

namespace pintle::ctl {

// What the verbs for a machine have in common.
inline constexpr Option kRootOption = {"--root", "DIR", "another machine's file tree instead of this machine"};
inline constexpr Option kYesOption = {"--yes", "", "do it without asking"};
inline constexpr Option kNoRebootOption = {"--no-reboot", "", "leave a reboot that is needed to someone else"};
inline constexpr Option kPolicyOption = {"--policy", "FILE",
                                         "the NodeDisruptionPolicy, or the MachineConfiguration that has it"};

class Machine {
 public:
  // The one that --root names, or this one.
  static Result<Machine> Of(const CommandLine& line);

  host::Host host() const;
  const Root& root() const { return running_ ? running_->root() : offline_->root; }
  // Nothing can be started or reloaded on one that does not run, and it needs no reboot to start anew.
  bool IsRunning() const { return directory_.empty(); }
  // What a command about this machine needs: " --root /mnt", or nothing.
  std::string RootWords() const;
  // Keeps it from being shut down, as long as that can be had: without logind, nobody asks it.
  host::Inhibitor KeepUp(const std::string& why) const;

 private:
  Machine() = default;

  struct Offline {
    explicit Offline(Root opened) : root(std::move(opened)) {}

    Root root;
    host::SystemdOffline systemd{root};
    SystemClock clock;
  };

  std::string directory_;
  std::unique_ptr<host::ThisMachine> running_;  // Or else:
  std::unique_ptr<Offline> offline_;
};

}  // namespace pintle::ctl
