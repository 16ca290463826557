// SPDX-License-Identifier: Apache-2.0
#pragma once

// `pintle rollout`: prints which nodes of a pool would be updated next, and what the pool's status would be; or, with
// --simulate, how the whole rollout would go.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "api/machine_config_pool.h"
#include "base/result.h"
#include "ctl/answer.h"
#include "ctl/cluster_objects.h"
#include "ctl/command_line.h"
#include "ctl/live_cluster.h"
#include "ctl/rollout_progress.h"
#include "ctl/rollout_simulation.h"
#include "ctl/rollout_situation.h"
#include "json/field_list.h"
#include "pool/rollout.h"

namespace pintle::ctl {

inline constexpr std::array kRolloutOptions = {
    Option{"--pool", "FILE", "the MachineConfigPool"},
    Option{"--nodes", "FILE", "the cluster's Nodes, or the pool's"},
    Option{"--with", "FILE", "other objects that matter: MachineConfigNodes, MachineOSConfigs, MachineConfigPools ..."},
    Option{"--feature-gates", "A,B", "feature gates that are on"},
    Option{"--operator-node", "NAME", "the node that the operator runs on"},
    kSimulateOption,
    kNodeTimeOption,
    kBeginOption,
    kKubeconfigOption,
    kContextOption,
    kOutputOrNamesOption,
};

// States whether nodes may be given the image of a layered pool now, and gives the reason.
struct LayeredImage {
  bool can_apply_updates = false;
  std::string reason;
  std::optional<std::string> error;

  static constexpr auto kFields = json::FieldList{
      json::Required{"canApplyUpdates", &LayeredImage::can_apply_updates},
      json::Required{"reason", &LayeredImage::reason},
      json::Field{"error", &LayeredImage::error},
  };
};

// The answer that `-o json` prints.  Values that could not be decided are left out.
struct RolloutAnswer {
  bool layered = false;  // True if the nodes' image is built in the cluster.
  std::optional<int> max_unavailable;
  std::optional<std::string> max_unavailable_error;
  std::vector<std::string> unavailable;
  std::optional<std::vector<std::string>> candidates;
  std::optional<int> capacity;                       // How many candidates may be updated now.
  std::optional<LayeredImage> can_layered_continue;  // Set for a layered pool only.
  bool rollout_reached = false;                      // True if nothing holds back the rollout as a whole.
  std::optional<std::vector<std::string>> patched_in_order;
  std::optional<std::vector<pool::NodeUpdate>> patches;
  std::vector<pool::NodeUpdate> recovering;  // The updates of nodes that are unavailable already.
  api::MachineConfigPoolStatus status;
  std::optional<RolloutProgress> rollout;  // The progress by the pool's RolloutPolicy, if it has one.

  static constexpr auto kFields = json::FieldList{
      json::Required{"layered", &RolloutAnswer::layered},
      json::Field{"maxUnavailable", &RolloutAnswer::max_unavailable},
      json::Field{"maxUnavailableError", &RolloutAnswer::max_unavailable_error},
      json::Required{"unavailable", &RolloutAnswer::unavailable},
      json::Field{"candidates", &RolloutAnswer::candidates},
      json::Field{"capacity", &RolloutAnswer::capacity},
      json::Field{"canLayeredContinue", &RolloutAnswer::can_layered_continue},
      json::Required{"rolloutReached", &RolloutAnswer::rollout_reached},
      json::Field{"patchedInOrder", &RolloutAnswer::patched_in_order},
      json::Field{"patches", &RolloutAnswer::patches},
      json::Required{"recovering", &RolloutAnswer::recovering},
      json::Required{"status", &RolloutAnswer::status},
      json::Field{"rollout", &RolloutAnswer::rollout},
  };
};

struct RolloutPreview {
  RolloutAnswer answer;
  std::string table;                  // The same answer as a table for people.
  std::vector<std::string> warnings;  // Warnings about the objects.
};

// Reads the files in the question, and previews the rollout of the pool.
Result<RolloutPreview> PreviewRollout(const RolloutQuestion& question);

// Previews the rollout of a pool in memory, by its RolloutPolicy if the objects have one.  The files in the question
// are not read.
Result<RolloutPreview> PreviewRollout(const RolloutQuestion& question, const api::MachineConfigPool& pool,
                                      const ClusterObjects& objects);

}  // namespace pintle::ctl
