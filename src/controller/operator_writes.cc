// SPDX-License-Identifier: Apache-2.0
#include "controller/operator_writes.h"

#include <fmt/core.h>

#include "controller/complaints.h"

namespace pintle::controller {

void OperatorWrites::EndLook() {
  std::erase_if(refused_, [this](const auto& refusal) { return !wanted_.contains(refusal.first); });
}

bool OperatorWrites::MayStart(const std::string& what) {
  wanted_.insert(what);
  const auto due = backoff_.DueAt({"", what}, clock_.Monotonic());
  if (due) listener_.retry_at(*due);
  return !due && !calls_.contains(what);
}

void OperatorWrites::Ended(std::string_view task, const std::string& what, const Error* error) {
  const auto call = calls_.extract(what);
  if (error == nullptr) {
    backoff_.Succeeded({"", what});
    refused_.erase(what);
    return listener_.changed();
  }
  const int count = backoff_.Failed({"", what}, clock_.Monotonic());
  // Somebody else may have changed the object first, and the server may be down for a moment.
  const bool is_to_be_told = error->kind() == ErrorKind::kInvalid || count > kFailuresBeforeReport;
  if (is_to_be_told) {
    listener_.trouble(what, *error);
    if (!task.empty()) {
      refused_.insert_or_assign(what, clusterops::TaskFailure{.task = std::string(task),
                                                              .why = fmt::format("{}: {}", what, error->message())});
    }
  }
  listener_.changed();
}

void OperatorWrites::EndedOnce(std::string_view task, const std::string& what, const Error* error) {
  if (error != nullptr) return Ended(task, what, error);
  const auto call = calls_.extract(what);
  refused_.erase(what);
  backoff_.Failed({"", what}, clock_.Monotonic());
  listener_.changed();
}

std::vector<clusterops::TaskFailure> OperatorWrites::Failures() const {
  std::vector<clusterops::TaskFailure> failures;
  for (const auto& [what, failure] : refused_) failures.push_back(failure);
  return failures;
}

void OperatorWrites::Stop() {
  calls_.clear();
  backoff_.Clear();
  refused_.clear();
  wanted_.clear();
}

}  // namespace pintle::controller
