// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes the objects that the controller maintains with --operator=yes.
//
// Each write is identified by its description, the parameter `what`.  A write is not started again while it is under
// way, and is repeated less and less often if it fails.  The ClusterOperator reports the failure of a write that is
// still wanted, under the name of the operator's task that the write belongs to.

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "clusterops/cluster_operator.h"
#include "controller/overlaid_mirror.h"
#include "controller/write_backoff.h"
#include "kube/call.h"

namespace pintle::controller {

// States whether the server has kept or dropped the changes of a patch.  If the server has dropped them, its answer is
// the object as it was before.
enum class PatchEffect { kKept, kDropped };

// Returns kKept for a failed patch, too: its error is reported instead.
template <typename T>
PatchEffect PatchEffectOf(const T& before, const Result<T>& answer) {
  return answer && HasSameContent(before, *answer) ? PatchEffect::kDropped : PatchEffect::kKept;
}

class OperatorWrites {
 public:
  struct Listener {
    std::function<void()> changed;  // A write has ended.
    std::function<void(MonotonicTime when)> retry_at;
    std::function<void(const std::string& what, const Error& error)> trouble;
  };

  // The clock must outlive this object.
  OperatorWrites(const Clock& clock, Listener listener) : clock_(clock), listener_(std::move(listener)) {}

  // These functions enclose a look, which calls MayStart() for each write that it wants.  EndLook() forgets the
  // failures of writes that the look did not want.
  void BeginLook();
  void EndLook();

  // Notes that the look wants a write.  Returns whether the write may start: it is not under way, and has no back-off.
  // If the server dropped the changes of a patch, the back-off of the write ends when the look wants other `contents`,
  // which the server may keep.
  bool MayStart(const std::string& what, std::string_view contents = "");
  void Start(const std::string& what, kube::Call call) { calls_[what] = std::move(call); }
  std::size_t count_under_way() const { return calls_.size(); }

  // Must be called when a write has ended; `error` is nullptr on success.  `task` is empty if the ClusterOperator
  // cannot report the failure.  A patch whose changes the API server drops counts as a failure as long as it is wanted.
  void Ended(std::string_view task, const std::string& what, const Error* error,
             PatchEffect effect = PatchEffect::kKept);
  // Like Ended(), but backs off after a success, too.  A creation or a removal needs this: while the mirror lags
  // behind, the write would be repeated at once.
  void EndedWithBackoff(std::string_view task, const std::string& what, const Error* error);
  // Like EndedWithBackoff(), for a creation.  It counts as a success if somebody else has created the object.
  template <typename T>
  void CreationEnded(std::string_view task, const std::string& what, const Result<T>& made) {
    const bool is_there = made || made.error().kind() == ErrorKind::kConflict;
    EndedWithBackoff(task, what, is_there ? nullptr : &made.error());
  }

  // Returns the failures that the ClusterOperator is to report.
  std::vector<clusterops::TaskFailure> Failures() const;

  // Stops all writes and forgets what has failed.
  void Stop();

 private:
  void Failed(std::string_view task, const std::string& what, const Error& error);

  const Clock& clock_;
  const Listener listener_;
  std::map<std::string, clusterops::TaskFailure> refused_;  // The key is the description of the write.
  std::set<std::string> wanted_;                            // The writes that the latest look wanted.
  std::map<std::string, std::size_t> contents_;  // The hashes of the contents of the latest writes, by description.
  // The patches that the API server accepted without a change, with the hashes of their contents, by description.
  std::map<std::string, std::size_t> unkept_;
  WriteBackoff backoff_;
  std::map<std::string, kube::Call> calls_;  // The key is the description of the write.
};

}  // namespace pintle::controller
