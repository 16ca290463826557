// SPDX-License-Identifier: Apache-2.0
#include "controller/files_wait.h"

#include <optional>
#include <string>

#include "api/waiting_files.h"
#include "controller/pause_report.h"

namespace pintle::controller {
namespace {

bool IsFresh(const std::string* said, WallTime now) {
  if (said == nullptr) return false;
  const auto until = FromRfc3339(*said);
  // A request that lasts longer than ours was not written by us.
  return until && *until > now + kFilesWaitFor - kFilesWaitRenewedAfter && *until <= now + kFilesWaitFor;
}

}  // namespace

bool IsStrictlyPaused(const api::MachineConfigPool& pool) {
  return pool.spec.paused && PolicyOf(pool).policy == PausePolicy::kStrict;
}

pool::NodePatch FilesWaitUpkeep(const api::MachineConfigPool& pool, const api::Node& node, WallTime now) {
  const std::string* const said = api::Find(node.metadata.annotations, api::kFilesWaitAnnotation);
  pool::NodePatch patch;
  if (!IsStrictlyPaused(pool)) {
    if (said != nullptr) patch.metadata.annotations.emplace(api::kFilesWaitAnnotation, std::nullopt);
  } else if (!IsFresh(said, now)) {
    patch.metadata.annotations.emplace(api::kFilesWaitAnnotation, ToRfc3339(now + kFilesWaitFor));
  }
  return patch;
}

}  // namespace pintle::controller
