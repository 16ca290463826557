// SPDX-License-Identifier: Apache-2.0
#pragma once

// The target of a pool's nodes, and the patch that assigns it to a node.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/machine_config_pool.h"
#include "api/node.h"
#include "json/field_list.h"
#include "pool/layering.h"
#include "pool/node_state.h"

namespace pintle::pool {

// A merge patch for a Node.  A change to nullopt removes the key.
struct NodePatch {
  using Changes = std::map<std::string, std::optional<std::string>>;

  struct Metadata {
    Changes annotations;
    Changes labels;

    static constexpr auto kFields = json::FieldList{
        json::Field{"annotations", &Metadata::annotations},
        json::Field{"labels", &Metadata::labels},
    };
  };
  struct Spec {
    std::vector<api::Taint> taints;

    static constexpr auto kFields = json::FieldList{json::Required{"taints", &Spec::taints}};
  };

  Metadata metadata;
  std::optional<Spec> spec;

  static constexpr auto kFields = json::FieldList{
      json::Field{"metadata", &NodePatch::metadata},
      json::Field{"spec", &NodePatch::spec},
  };

  bool is_empty() const { return metadata.annotations.empty() && metadata.labels.empty() && !spec; }
};

class Target {
 public:
  // The pool and the layering must outlive the target.
  Target(const api::MachineConfigPool& pool, const Layering& layering);

  // Returns whether the target is assigned to a node.
  bool IsAssignedTo(const NodeState& node) const;
  // Returns whether the taint for an update in progress may be removed from a node.  In a layered pool, the target has
  // to be assigned to the node.  In another pool, the node's desired config has to be the target's config, and the node
  // must not have annotations for both a desired and a current image, because it is then leaving a built image.
  bool MayLoseUpdateTaint(const NodeState& node) const;
  // Returns whether a node has reached the target.
  bool IsReachedBy(const NodeState& node) const;

  // Returns whether a node has the target's config and image, whatever its desired config is.  If so, assigning the
  // target to the node changes nothing on the node.
  bool IsCurrentOf(const NodeState& node) const;

  // Returns the patch that assigns the target.  It contains only the annotations that differ.
  NodePatch PatchFor(const NodeState& node) const;

  // Returns the patch that makes the node's agent stage `to_stage`.  The agent stages nothing if `to_stage` is empty,
  // or if the target is assigned to the node.  A report about another target is removed together with the request for
  // that target, so that nobody takes the report for one about `to_stage`.
  NodePatch StagePatchFor(const NodeState& node, std::string_view to_stage) const;

 private:
  std::string_view pool_config_;
  bool is_layered_;
  bool is_known_;            // False in a layered pool that has no image or no build.
  std::string_view config_;  // The config for nodes.  In a layered pool, the image was built from this config.
  std::string_view image_;   // Empty if nodes use the image that the config names.
};

}  // namespace pintle::pool
