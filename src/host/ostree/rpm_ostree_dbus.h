// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes requests to rpm-ostree's daemon over D-Bus.
//
// The daemon runs one transaction at a time.  Each request waits until its transaction has ended.  A transaction that
// fails changes nothing.  If the connection to a transaction stays lost, the request returns an error, and the outcome
// of the transaction is not known.  A request that changes deployments starts from the pending deployment, if there is
// one.  So several requests in a row make one deployment.

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/ostree/rpm_ostree_transaction_dbus.h"
#include "host/systemd/systemd.h"

namespace pintle::host {

inline constexpr const char* kRpmOstreeUnit = "rpm-ostreed.service";

struct RpmOstreeUpdate {
  enum class Depth {
    kDeploy,  // Fetches what is missing, and deploys.
    kDeployWithoutFetching,
    kFetch,  // Fetches without deploying.
  };

  std::string refspec;  // Empty if the image does not change.
  std::vector<std::string> install;
  std::vector<std::string> uninstall;
  std::vector<std::string> override_remove;
  std::vector<std::string> override_reset;
  Depth depth = Depth::kDeploy;
};

enum class RpmOstreeCleanup {
  kPending,  // Removes the pending deployment.
  kBase,     // Removes temporary files of fetching.
};

// An object must be used by one thread at a time.
class RpmOstree {
 public:
  // Returns the name of the D-Bus method that began the active transaction, whoever called the method.  Returns "" if
  // no transaction is active.  This does not start the daemon.
  static Result<std::string> ActiveTransaction(Systemd& systemd);

  // Starts the daemon if it does not run.  While the result lives, the daemon does not exit when it is idle.
  static Result<std::unique_ptr<RpmOstree>> Connect(Systemd& systemd, RpmOstreeSettings settings);
  ~RpmOstree();
  RpmOstree(const RpmOstree&) = delete;
  RpmOstree& operator=(const RpmOstree&) = delete;

  // Fetches an image or makes a deployment, as `update` demands.
  Result<> Update(const RpmOstreeUpdate& update);
  // Replaces all kernel arguments.  `from` must be the arguments of the deployment that the request starts from.
  Result<> SetKernelArguments(const std::vector<std::string>& from, const std::vector<std::string>& to);
  Result<> CleanUp(RpmOstreeCleanup what);

 private:
  class Connection;
  explicit RpmOstree(std::unique_ptr<Connection> connection);

  std::unique_ptr<Connection> connection_;
};

}  // namespace pintle::host
