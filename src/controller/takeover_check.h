// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds what speaks against a takeover: each change that a node would notice, each condition that a takeover needs and
// the cluster does not meet, and the features of the Machine Config Operator that Pintle does not have.

#include <optional>
#include <string>
#include <vector>

#include "api/cluster_operator.h"
#include "base/clock.h"
#include "clusterops/controller_config.h"
#include "controller/render_pass.h"
#include "controller/sources_view.h"
#include "controller/takeover_finding.h"
#include "controller/takeover_rights.h"
#include "controller/takeover_state.h"
#include "controller/unreadable_object.h"
#include "controller/view.h"
#include "generated/template_folder.h"
#include "json/value.h"
#include "kube/resource_kind.h"

namespace pintle::controller {

// Holds what has been read from the cluster for the check.
struct TakeoverEvidence {
  const View& view;  // The cluster as Pintle's controller would see it.
  const TakeoverState& state;
  // The objects that the ControllerConfig is made from; nullptr if the cluster is not OpenShift.
  const clusterops::ControllerConfigInputs* sources = nullptr;
  bool are_sources_readable = true;                // If false, the ControllerConfig is not compared.
  const json::Value* controller_config = nullptr;  // The spec of the ControllerConfig; nullptr if there is none.
  bool has_machine_namespace = true;               // The cluster has the namespace of the Machine API.
  std::vector<std::string> unsupported = {};       // Features that the cluster uses and Pintle does not have.
  // The objects that configs are generated from, and the templates.  If one of the two is nullptr, generated configs
  // are not compared.
  const SourcesView* generated_from = nullptr;
  const generated::TemplateFolder* templates = nullptr;
  std::optional<api::ClusterOperator> cluster_operator = {};
  std::vector<Right> lacking = {};                // The rights that the person who runs `takeover` lacks.
  std::vector<RightsFile> account_lacking = {};   // The rights that Pintle's account lacks.
  std::vector<AgentRights> agents_lacking = {};   // The rights that agents lack.
  std::vector<UnreadableObject> unreadable = {};  // Objects that cannot be read; may contain an object several times.
};

std::vector<TakeoverFinding> CheckTakeover(const TakeoverEvidence& evidence, const TakeoverSettings& settings,
                                           WallTime now);

}  // namespace pintle::controller
