// SPDX-License-Identifier: Apache-2.0
#pragma once

// The state of a node as its object reports it: its current and desired config, the state of its agent, and whether
// pods can run on it.
//
// This state is text in labels, annotations and conditions.  Parsing the text costs more than all decisions that use
// it, so it is parsed once, when the node is read, and the result is kept beside the node.

#include <optional>
#include <string>
#include <string_view>

#include "api/node.h"

namespace pintle::pool {

class NodeState {
 public:
  // The node must outlive its state, and must not change.
  explicit NodeState(const api::Node& node);

  const api::Node& node() const { return *node_; }
  const std::string& name() const { return node_->metadata.name; }

  // Returns nullopt for a node that is in no zone, which differs from a zone whose name is empty.
  std::optional<std::string_view> zone() const { return zone_; }

  // These are empty if the node does not have the annotation.
  std::string_view current_config() const { return current_config_; }
  std::string_view desired_config() const { return desired_config_; }
  std::string_view reason() const { return reason_; }
  // These are nullopt if there is no such annotation, which differs from an empty one.
  std::optional<std::string_view> current_image() const { return current_image_; }
  std::optional<std::string_view> desired_image() const { return desired_image_; }
  // The config with which the machine was installed.
  std::optional<std::string_view> first_pivot_config() const { return first_pivot_config_; }
  // The controller has given the node the labels of its custom pool.
  bool has_custom_pool_labels() const { return has_custom_pool_labels_; }

  // Pods can run on the node.
  bool is_ready() const { return is_ready_; }
  // Pods could run on the node if nobody had cordoned it.
  bool is_ready_uncordoned() const { return is_ready_uncordoned_; }
  // The node has its desired config and image, and its agent reports that it is done.
  bool is_done() const { return is_done_; }
  // The agent could not apply the desired config, and may be given another one.
  bool is_failing() const { return is_degraded_ && !has_desired_config_; }
  // The agent reports the state Degraded or Unreconcilable.
  bool is_degraded() const { return is_degraded_; }
  // The node is not ready, or its agent may drain it at any time: the agent is neither done nor failing.
  bool is_unavailable() const { return !is_ready() || (!is_done() && !is_failing()); }

 private:
  void Read(std::string_view key, std::string_view value);
  bool HasDesiredImage() const;

  const api::Node* node_;
  std::optional<std::string_view> zone_;
  std::string_view current_config_;
  std::string_view desired_config_;
  std::string_view reason_;
  std::optional<std::string_view> current_image_;
  std::optional<std::string_view> desired_image_;
  std::optional<std::string_view> first_pivot_config_;
  bool has_custom_pool_labels_ = false;
  bool is_ready_uncordoned_;
  bool is_ready_;
  bool is_degraded_ = false;
  bool is_done_ = false;
  bool has_desired_config_;  // The current config is the desired one, or there is neither.
};

// Returns the first reason that no pods can run on a node, such as "node a is reporting NotReady=False", or nullopt if
// the node is ready.  A node without conditions counts as ready.
std::optional<std::string> WhyNotReady(const api::Node& node);

}  // namespace pintle::pool
