// SPDX-License-Identifier: Apache-2.0
#pragma once

// Elects one of several processes as the leader, by a Lease.

#include <functional>
#include <memory>
#include <string>

#include "kube/candidacy.h"
#include "kube/client.h"

namespace pintle::kube {

class Lease {
 public:
  struct Settings {
    ObjectName name;
    std::string identity;  // Differs for each candidate, and for each start of a candidate.
    LeaseTimes times = {};
    // The name of a holder that leaves the lease to this candidate (kube/candidacy.h); empty for none.
    std::string offer = {};
  };

  // Each of these callbacks may destroy the Lease object.
  struct Listener {
    std::function<void()> won;
    // Called when another candidate may act soon, so the process must stop acting at once.
    std::function<void()> lost;
    std::function<void(const Error& error)> trouble = [](const Error&) {};
    // Called when OtherHolder() returns another holder than before.
    std::function<void()> holder_changed = [] {};
  };

  // Competes until it is destroyed, even after a loss.  Destruction does not release the lease on the server: see
  // Release().
  Lease(Client& client, Settings settings, Listener listener);

  bool is_held() const;
  // Returns the other holder of the lease, or "" if none is known.
  std::string OtherHolder() const;

  // Releases the lease and stops competing; `lost` is not called.  At its end, the program should stop acting, call
  // this function, and wait for `done`.
  void Release(std::function<void(Result<>)> done);

 private:
  class Contest;

  std::shared_ptr<Contest> contest_;
  Call call_;
};

}  // namespace pintle::kube
