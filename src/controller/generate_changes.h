// SPDX-License-Identifier: Apache-2.0
#pragma once

// The results of the passes that generate MachineConfigs: the writes that they want, and the problems that they found.

#include <string>
#include <utility>
#include <vector>

#include "controller/config_change.h"
#include "kube/patch.h"
#include "kube/resource_kind.h"

namespace pintle::controller {

struct ConfigRemoval {
  std::string name;
  std::string uid;
};

// The kinds of sources that the passes write to.
enum class SourceKind {
  kControllerConfig,
  kKubeletConfig,
  kContainerRuntimeConfig,
  kImagePolicy,
  kCredentialProviderConfig
};

// The kind and the name of an object that configs are made from.
using SourceName = std::pair<SourceKind, std::string>;

struct SourceChange {
  SourceKind kind;
  kube::ObjectName name;
  kube::Part part;
  json::Value patch;  // A merge patch with the version of the object that it was decided from.
};

// An error that is not reported in a condition of the object that causes it.  An Event about this object reports the
// error.
struct GenerateProblem {
  MadeFrom made_from;       // The configs that are not made; it also selects the object of the Event.
  std::string what;         // The action that fails, such as "reading the feature gates".
  std::string why;          // The cause.
  bool is_warning = false;  // The configs are made nevertheless.

  std::string message() const { return what + ": " + why; }
};

// A setting in a Node object of config.openshift.io that is not followed; an Event reports this.
struct Prohibition {
  std::string node;  // The name of the Node object.
  std::string message;
};

struct GenerateChanges {
  std::vector<SourceChange> sources;
  std::vector<ConfigChange> configs;
  std::vector<ConfigRemoval> removals;
  std::vector<GenerateProblem> problems;
  std::vector<Prohibition> prohibitions;

  // Returns whether there is nothing to write.
  bool is_empty() const { return sources.empty() && configs.empty() && removals.empty(); }
};

}  // namespace pintle::controller
