// SPDX-License-Identifier: Apache-2.0
#pragma once

// The rights that a takeover needs: those of the person who makes it, those of Pintle's account when it acts in place
// of the Machine Config Operator, and those of the agents on the nodes.

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "controller/takeover_finding.h"
#include "controller/takeover_state.h"
#include "json/value.h"
#include "kube/resource_kind.h"

namespace pintle::controller {

struct Right {
  std::string verb;
  std::string group;           // Empty for the core group.
  std::string resource;        // "deployments", or "clusteroperators/status".
  std::string namespace_name;  // Empty for an object without a namespace.
  std::string name;            // Empty for any object.

  auto operator<=>(const Right&) const = default;
};

// Returns a text such as "patch deployments.apps web in the namespace shop".
std::string RightInWords(const Right& right);

// Returns the rights that `check`, `plan`, `start`, `status` and `undo` need.
std::vector<Right> RightsForTakeover(const TakeoverSettings& settings);

// The rights that a file of deploy/openshift gives to Pintle's account; in findings, those of them that the account
// lacks.
struct RightsFile {
  std::string file;
  std::vector<Right> rights;
};
std::vector<RightsFile> RightsOfAccount(const TakeoverSettings& settings);

// Returns the rights that deploy/agent/rbac.yaml gives to agents, and those that they have as kubelets.  `node` is the
// Node of the agent.
std::vector<Right> RightsOfAgent(const std::string& node, const TakeoverSettings& settings);

// Somebody whose rights the API server knows.
struct RightsHolder {
  std::string user;
  std::vector<std::string> groups;
};
RightsHolder HolderOfAccount(const kube::ObjectName& account);
// An agent has the credentials of its node's kubelet.
RightsHolder HolderOnNode(const std::string& node);

// Returns the object that asks the API server whether the holder has the right.  Without a holder, the question is
// about the user whose credentials the request has.
json::Value ReviewOf(const Right& right, const std::optional<RightsHolder>& holder);

// The rights that an agent lacks.
struct AgentRights {
  std::string node;
  std::vector<Right> rights;
};

// Returns an obstacle for each lack of rights.  `of_caller` are the rights that the person who runs `takeover` lacks,
// `of_account` those that Pintle's account lacks, and `of_agents` those that agents lack.
std::vector<TakeoverFinding> FindingsAbout(const std::vector<Right>& of_caller,
                                           const std::vector<RightsFile>& of_account,
                                           const std::vector<AgentRights>& of_agents, const TakeoverSettings& settings);

}  // namespace pintle::controller
