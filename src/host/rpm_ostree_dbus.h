// SPDX-License-Identifier: Apache-2.0
#pragma once

// rpm-ostree's daemon on the bus: the requests that we have for it.
//
// It does one thing at a time.  Each of these waits until it is done, or has failed and left what there was before.
// All that changes deployments begins with the pending one, if there is one, so that several requests in a row make up
// one deployment.

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/rpm_ostree_transaction_dbus.h"
#include "host/systemd.h"

namespace pintle::host {

inline constexpr const char* kRpmOstreeUnit = "rpm-ostreed.service";

struct RpmOstreeUpdate {
  enum class Depth {
    kDeploy,
    kDeployWhatIsHere,  // Nothing is fetched.
    kFetch,             // And not deployed.
  };

  std::string refspec;  // Empty: the image stays what it is.
  std::vector<std::string> install;
  std::vector<std::string> uninstall;
  std::vector<std::string> override_remove;
  std::vector<std::string> override_reset;
  Depth depth = Depth::kDeploy;
};

enum class RpmOstreeCleanup {
  kPending,  // The pending deployment,
  kBase,     // what fetching leaves behind.
};

// For one thread at a time.
class RpmOstree {
 public:
  // What the daemon is doing for whomever, in its own words, without starting it; empty: nothing.
  static Result<std::string> ActiveTransaction(Systemd& systemd);

  // Starts the daemon where it does not run.  It does not end for want of work while this lives.
  static Result<std::unique_ptr<RpmOstree>> Connect(Systemd& systemd, RpmOstreeManners manners);
  ~RpmOstree();
  RpmOstree(const RpmOstree&) = delete;
  RpmOstree& operator=(const RpmOstree&) = delete;

  Result<> Update(const RpmOstreeUpdate& update);
  Result<> SetKernelArguments(const std::vector<std::string>& from, const std::vector<std::string>& to);
  Result<> CleanUp(RpmOstreeCleanup what);

 private:
  class Connection;
  explicit RpmOstree(std::unique_ptr<Connection> connection);

  std::unique_ptr<Connection> connection_;
};

}  // namespace pintle::host
