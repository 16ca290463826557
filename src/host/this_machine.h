// SPDX-License-Identifier: Apache-2.0
#pragma once

// The machine that the program runs on, with all objects that are needed to change the machine.  Tests pass a file tree
// and fake services.

#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "base/root.h"
#include "host/host.h"
#include "host/ostree/deployments.h"
#include "host/systemd/power.h"
#include "host/systemd/systemd.h"

namespace pintle::host {

// The object and its parts must be used by one thread at a time.
class ThisMachine {
 public:
  // Opens the running machine.  On a machine with OSTree, this reads the deployments and the state of rpm-ostree's
  // unit.
  static Result<std::unique_ptr<ThisMachine>> Open();
  // No pointer may be null, except for `deployments` on a machine without OSTree.
  ThisMachine(Root root, std::unique_ptr<Systemd> systemd, std::unique_ptr<Power> power,
              std::unique_ptr<Deployments> deployments, Labels labels);

  Host host() const { return {root_, *systemd_, clock_, labels_, deployments_.get(), is_package_based_}; }
  const Root& root() const { return root_; }
  Power& power() const { return *power_; }

 private:
  explicit ThisMachine(Root root);

  Root root_;
  std::unique_ptr<Systemd> systemd_;
  std::unique_ptr<Power> power_;
  std::unique_ptr<Deployments> deployments_;
  bool is_package_based_ = false;
  SystemClock clock_;
  Labels labels_;
};

}  // namespace pintle::host
