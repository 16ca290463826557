// SPDX-License-Identifier: Apache-2.0
#include "controller/changes.h"

#include <map>
#include <utility>

namespace pintle::controller {
namespace {

void Apply(const pool::NodePatch::Changes& changes, std::map<std::string, std::string>& to) {
  for (const auto& [key, value] : changes) {
    if (value) {
      to.insert_or_assign(key, *value);
    } else {
      to.erase(key);
    }
  }
}

void JoinChanges(pool::NodePatch::Changes& first, pool::NodePatch::Changes second) {
  for (auto& [key, value] : second) first.insert_or_assign(key, std::move(value));
}

}  // namespace

void Join(pool::NodePatch& first, pool::NodePatch second) {
  JoinChanges(first.metadata.annotations, std::move(second.metadata.annotations));
  JoinChanges(first.metadata.labels, std::move(second.metadata.labels));
  if (second.spec) first.spec = std::move(second.spec);
}

api::Node Patched(api::Node node, const pool::NodePatch& patch) {
  Apply(patch.metadata.annotations, node.metadata.annotations);
  Apply(patch.metadata.labels, node.metadata.labels);
  if (patch.spec) node.spec.taints = patch.spec->taints;
  return node;
}

}  // namespace pintle::controller
