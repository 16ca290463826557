// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a node says of itself: which config it has and which it is to have, how its agent is doing, whether pods can
// run.
//
// It is all in labels, annotations and conditions, as text, and reading it costs more than all that is decided by it.
// So it is read once, when the node is, and kept beside it.

#include <optional>
#include <string>
#include <string_view>

#include "api/node.h"

namespace pintle::pool {

class NodeState {
 public:
  // The node must outlive its state and stay as it is.
  explicit NodeState(const api::Node& node);

  const api::Node& node() const { return *node_; }
  const std::string& name() const { return node_->metadata.name; }

  // Nothing for a node that is in no zone, which differs from one whose name is empty.
  std::optional<std::string_view> zone() const { return zone_; }

  // Empty when the node does not say.
  std::string_view current_config() const { return current_config_; }
  std::string_view desired_config() const { return desired_config_; }
  std::string_view reason() const { return reason_; }
  // Nothing when there is no such annotation, which differs from an empty one.
  std::optional<std::string_view> current_image() const { return current_image_; }
  std::optional<std::string_view> desired_image() const { return desired_image_; }
  std::optional<std::string_view> first_pivot_config() const { return first_pivot_config_; }
  bool has_custom_pool_labels() const { return has_custom_pool_labels_; }

  // Pods can be run on it.
  bool is_ready() const { return is_ready_; }
  // It has what it is to have, and its agent says so.
  bool is_done() const { return is_done_; }
  // Its agent could not do what it was asked to, and may be asked something else.
  bool is_failing() const { return is_degraded_ && !has_config_; }
  bool is_degraded() const { return is_degraded_; }
  // It is not ready; or its agent is at work, or about to be, and may drain it any time.
  bool is_unavailable() const { return !is_ready() || (!is_done() && !is_failing()); }

 private:
  void Read(std::string_view key, std::string_view value);
  bool HasImageItIsToHave() const;

  const api::Node* node_;
  std::optional<std::string_view> zone_;
  std::string_view current_config_;
  std::string_view desired_config_;
  std::string_view reason_;
  std::optional<std::string_view> current_image_;
  std::optional<std::string_view> desired_image_;
  std::optional<std::string_view> first_pivot_config_;
  bool has_custom_pool_labels_ = false;
  bool is_ready_;
  bool is_degraded_ = false;
  bool is_done_ = false;
  bool has_config_;  // The one that it is to have, or neither.
};

// The first reason that no pods can be run on a node: "node a is reporting NotReady=False".  Nothing when it is ready;
// a node that does not say is.
std::optional<std::string> WhyNotReady(const api::Node& node);

}  // namespace pintle::pool
