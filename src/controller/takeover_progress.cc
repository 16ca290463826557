// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_progress.h"

#include <fmt/core.h>

#include "controller/takeover_steps.h"

namespace pintle::controller {

Result<> TakeoverProgress::Saw(const std::vector<TakeoverStep>& steps, MonotonicTime now) {
  if (!steps.empty()) {
    const bool has_record = steps.front().is_done;
    if (has_begun_ && !has_record) {
      return Error(ErrorKind::kConflict,
                   "another run of `pintle-controller takeover` has changed or removed the record; this run has ended, "
                   "so run the command again if it is the one that you want");
    }
    has_begun_ = has_record;
  }
  const TakeoverStep* const next = NextOf(steps);
  if (next == nullptr) return {};
  creates_ = next->write && next->write->is_creation;
  if (!step_.empty()) waited_[step_] += now - seen_;
  step_ = next->name;
  seen_ = now;
  if (HasPatience(now)) return {};
  return Error(ErrorKind::kUnavailable,
               fmt::format("{}: still waits until {}; {}", step_,
                           next->waits_for.empty() ? "its write succeeds" : next->waits_for, advice_));
}

bool TakeoverProgress::HasPatience(MonotonicTime now) const {
  const auto waited = waited_.find(step_);
  const auto before = waited == waited_.end() ? MonotonicTime::duration() : waited->second;
  return before + (now - seen_) <= patience_;
}

Result<> TakeoverProgress::Failed(const Error& error, MonotonicTime now) {
  // If somebody else has changed or removed the object first, the step is decided again.  If the object of a creation
  // is reported as not found, its namespace is missing, and this failure does not pass.
  const bool is_gone = error.kind() == ErrorKind::kNotFound && !step_.empty() && !creates_;
  if (error.kind() == ErrorKind::kConflict || is_gone) return {};
  // An error before the cluster was read once is probably due to the options, such as a wrong kubeconfig.
  const bool may_pass = error.kind() == ErrorKind::kUnavailable && !step_.empty();
  if (!may_pass) return error;
  if (HasPatience(now)) return {};
  return Error(error).While(step_);
}

}  // namespace pintle::controller
