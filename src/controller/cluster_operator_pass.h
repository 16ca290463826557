// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides what the ClusterOperator is to report about the cluster.

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/cluster_operator.h"
#include "base/clock.h"
#include "clusterops/cluster_operator.h"
#include "controller/render_pass.h"
#include "controller/view.h"
#include "json/value.h"

namespace pintle::controller {

struct ClusterOperatorInputs {
  const View& view;
  const api::ClusterOperator& known;  // The ClusterOperator as it is now.
  Versions versions = {};
  // The release of images.json in the cluster; empty if it is not known.  If neither the ControllerConfig nor the
  // ClusterOperator has a release, failures are reported for this release.
  std::string release_of_images = {};
  // The failures of writes and of other parts of the operator.
  std::vector<clusterops::TaskFailure> failures = {};
  // The time at which the required pools were first found not to be ready.
  std::optional<WallTime> waiting_since = {};
  WallTime now = {};
};

struct ClusterOperatorChange {
  std::optional<json::Value> patch = {};  // A merge patch of the status; unset if nothing changes.
  std::vector<clusterops::OperatorEvent> events = {};
  std::optional<WallTime> waiting_since = {};  // An input of the next pass.
  std::optional<WallTime> again_at = {};       // The time at which the pass has to run again even without a change.
  std::set<std::string, std::less<>> failed_tasks = {};  // The tasks of the operator that fail now.
};

ClusterOperatorChange ClusterOperatorPass(const ClusterOperatorInputs& inputs);

// Returns the release that the cluster is to have: the release that the ControllerConfig was made for, or else the
// release that the ClusterOperator reports.  The version is empty if neither is known.
clusterops::Release WantedRelease(const View& view, const api::ClusterOperator& known);

}  // namespace pintle::controller
