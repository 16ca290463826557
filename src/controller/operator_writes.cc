// SPDX-License-Identifier: Apache-2.0
#include "controller/operator_writes.h"

#include <fmt/core.h>

#include <functional>

#include "controller/complaints.h"
#include "kube/unkept.h"

namespace pintle::controller {

void OperatorWrites::BeginLook() {
  std::erase_if(unkept_, [this](const auto& patch) {
    const bool is_over = !wanted_.contains(patch.first);
    if (is_over) backoff_.Succeeded({"", patch.first});
    return is_over;
  });
  std::erase_if(contents_, [this](const auto& write) { return !wanted_.contains(write.first); });
  wanted_.clear();
}

void OperatorWrites::EndLook() {
  std::erase_if(refused_, [this](const auto& refusal) { return !wanted_.contains(refusal.first); });
}

bool OperatorWrites::MayStart(const std::string& what, std::string_view contents) {
  wanted_.insert(what);
  const std::size_t hash = std::hash<std::string_view>()(contents);
  const auto unkept = unkept_.find(what);
  if (unkept != unkept_.end() && unkept->second != hash) {
    backoff_.Succeeded({"", what});
    unkept_.erase(unkept);
  }
  const auto due = backoff_.DueAt({"", what}, clock_.Monotonic());
  if (due) listener_.retry_at(*due);
  if (due || calls_.contains(what)) return false;
  contents_[what] = hash;
  return true;
}

void OperatorWrites::Ended(std::string_view task, const std::string& what, const Error* error, PatchEffect effect) {
  const auto call = calls_.extract(what);
  if (error != nullptr) return Failed(task, what, *error);
  if (effect == PatchEffect::kDropped) {
    unkept_[what] = contents_[what];
    return Failed(task, what, kube::UnkeptError());
  }
  unkept_.erase(what);
  backoff_.Succeeded({"", what});
  refused_.erase(what);
  listener_.changed();
}

void OperatorWrites::Failed(std::string_view task, const std::string& what, const Error& error) {
  const int count = backoff_.Failed({"", what}, clock_.Monotonic());
  // The failure may pass: somebody else may have changed the object first, or the server may be down for a moment.
  const bool is_to_be_reported = error.kind() == ErrorKind::kInvalid || count > kFailuresBeforeReport;
  if (is_to_be_reported) {
    listener_.trouble(what, error);
    if (!task.empty()) {
      refused_.insert_or_assign(what, clusterops::TaskFailure{.task = std::string(task),
                                                              .why = fmt::format("{}: {}", what, error.message())});
    }
  }
  listener_.changed();
}

void OperatorWrites::EndedWithBackoff(std::string_view task, const std::string& what, const Error* error) {
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
  contents_.clear();
  unkept_.clear();
}

}  // namespace pintle::controller
