// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a pool's nodes are to become, and what a node is told so that it does.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/machine_config_pool.h"
#include "api/node.h"
#include "json/fields.h"
#include "pool/layering.h"
#include "pool/node_state.h"

namespace pintle::pool {

// A change to a Node, as the API server takes it: null removes.
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
  // What the target is made of must outlive it.
  Target(const api::MachineConfigPool& pool, const Layering& layering);

  // Whether a node was told already.
  bool IsKnownTo(const NodeState& node) const;
  // Whether a node was told already and is not on its way back from an image.  Until then it bears a taint.
  bool IsCarriedBy(const NodeState& node) const;
  // Whether a node has become what it should.
  bool IsReachedBy(const NodeState& node) const;

  // What remains to be told.
  NodePatch PatchFor(const NodeState& node) const;

 private:
  std::string_view pool_config_;
  bool is_layered_;
  bool can_be_known_;        // Of a layered pool: there are an image and a build.
  std::string_view config_;  // What a node is told: of a layered pool, what the image was built from.
  std::string_view image_;   // Empty: the image that the config says.
};

}  // namespace pintle::pool
