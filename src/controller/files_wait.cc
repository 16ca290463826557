// SPDX-License-Identifier: Apache-2.0
#include "controller/files_wait.h"

#include <optional>
#include <string>

#include "api/waiting_files.h"
#include "controller/pause_report.h"

namespace pintle::controller {
namespace {

// Returns whether there is a request of ours that need not be renewed yet.
bool IsFresh(const std::string* request, WallTime now) {
  if (request == nullptr) return false;
  const auto until = FromRfc3339(*request);
  // A request that ends later than any of ours was written by somebody else.
  return until && *until > now + kFilesWaitFor - kFilesWaitRenewedAfter && *until <= now + kFilesWaitFor;
}

}  // namespace

bool IsStrictlyPaused(const api::MachineConfigPool& pool) {
  return pool.spec.paused && StatedPolicyOf(pool).policy == PausePolicy::kStrict;
}

pool::NodePatch FilesWaitUpkeep(const api::MachineConfigPool& pool, const api::Node& node, WallTime now) {
  const std::string* const request = api::Find(node.metadata.annotations, api::kFilesWaitAnnotation);
  pool::NodePatch patch;
  if (!IsStrictlyPaused(pool)) {
    if (request != nullptr) patch.metadata.annotations.emplace(api::kFilesWaitAnnotation, std::nullopt);
  } else if (!IsFresh(request, now)) {
    patch.metadata.annotations.emplace(api::kFilesWaitAnnotation, ToRfc3339(now + kFilesWaitFor));
  }
  return patch;
}

}  // namespace pintle::controller
