// SPDX-License-Identifier: Apache-2.0
#pragma once

// The writes of the operator's part of the controller.
//
// Each is known by its description.  It is under way once at a time, and is repeated less and less often if it fails.
// The failure of a write that is still wanted belongs to a task of the operator, in whose words the ClusterOperator
// reports it.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "clusterops/cluster_operator.h"
#include "controller/write_backoff.h"
#include "kube/call.h"

namespace pintle::controller {

class OperatorWrites {
 public:
  struct Listener {
    std::function<void()> changed;  // A write has ended.
    std::function<void(MonotonicTime when)> retry_at;
    std::function<void(const std::string& what, const Error& error)> trouble;
  };

  // The clock must outlive this object.
  OperatorWrites(const Clock& clock, Listener listener) : clock_(clock), listener_(std::move(listener)) {}

  // A look wants some writes.  When it ends, the failures of all others are forgotten.
  void BeginLook() { wanted_.clear(); }
  void EndLook();

  // Wants a write, and returns whether it is neither under way nor has to wait.
  bool MayStart(const std::string& what);
  void Start(const std::string& what, kube::Call call) { calls_[what] = std::move(call); }
  std::size_t count() const { return calls_.size(); }

  // Handles the end of a write; `error` is nullptr on success.  `task` is empty if the ClusterOperator cannot report
  // the failure.
  void Ended(std::string_view task, const std::string& what, const Error* error);
  // The same for a creation or a removal, which may not be in the mirror yet, and would be repeated at once.
  void EndedOnce(std::string_view task, const std::string& what, const Error* error);

  std::vector<clusterops::TaskFailure> Failures() const;

  // Stops all writes and forgets what has failed.
  void Stop();

 private:
  const Clock& clock_;
  const Listener listener_;
  std::map<std::string, clusterops::TaskFailure> refused_;  // By description.
  std::set<std::string> wanted_;                            // The writes that the latest look wanted.
  WriteBackoff backoff_;
  std::map<std::string, kube::Call> calls_;  // By description.
};

}  // namespace pintle::controller
