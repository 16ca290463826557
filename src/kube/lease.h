// SPDX-License-Identifier: Apache-2.0
#pragma once

// Being the one of several that acts: holding a Lease.

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
    std::string identity;  // Different for each candidate, and each time that one starts.
    LeaseTimes times = {};
  };

  // Either may destroy the lease.
  struct Listener {
    std::function<void()> won;
    // Someone else may act from soon on: stop now.
    std::function<void()> lost;
    std::function<void(const Error& error)> trouble = [](const Error&) {};
  };

  // Competes until it is destroyed, also after a loss.  It then says nothing to the server: see Release().
  Lease(Client& client, Settings settings, Listener listener);

  bool is_held() const;

  // Gives the lease back, after which this no longer competes; `lost` is not called.  To be waited for at the end of
  // the program, when nothing acts any more.
  void Release(std::function<void(Result<>)> done);

 private:
  class Contest;

  std::shared_ptr<Contest> contest_;
  Call call_;
};

}  // namespace pintle::kube
