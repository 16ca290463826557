// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps on this node the certificates and keys that its cluster gives to it, and reports that on its Node.
//
// Two things change here: the files of the ControllerConfig, and the authorities of the API server.  The operator
// exchanges these authorities now and then, and each node takes them over once for each exchange.  While the pool is
// paused, the controller writes an annotation to the Node, with which both wait; the files that wait are then reported.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/cluster_files_writer.h"
#include "agent/node_writer.h"
#include "base/clock.h"
#include "base/root.h"
#include "change/losses.h"
#include "event/loop.h"
#include "event/watches.h"
#include "kube/client.h"

namespace pintle::agent {

class ClusterTrust {
 public:
  // Access to this node's Node.
  struct NodeAccess {
    // Returns an annotation, empty if the Node has none, or nullopt if the Node has not been seen yet.
    std::function<std::optional<std::string>(std::string_view annotation)> said;
    std::function<void(AnnotationChanges changes)> write;
  };
  struct Listener {
    // Reports why the node does not have what it should; an empty reason ends that.
    std::function<void(std::string why)> unusable;
    // The authorities of the API server have changed, and the kubelet is to trust the new ones.
    std::function<void(std::string bundle, std::function<void(Result<>)> done)> trust_server;
  };

  // The arguments must outlive it.
  static Result<std::unique_ptr<ClusterTrust>> Begin(event::Loop& loop, kube::Client& client, const Root& root,
                                                     const Clock& clock, NodeAccess node, Listener listener);
  ClusterTrust(const ClusterTrust&) = delete;
  ClusterTrust& operator=(const ClusterTrust&) = delete;

  // The Node was seen for the first time or has changed: applies or ends a wait that it asks for, and begins the work
  // that waited for the Node.
  void NodeIsSeen();

  // Returns the paths that this class writes and no config does.
  change::Things LookedAfter() const;

 private:
  ClusterTrust(event::Loop& loop, kube::Client& client, const Clock& clock, NodeAccess node, Listener listener);

  Passage PassageNow();
  bool HasToExchangeServerAuthorities() const;
  void TellOfWaiting(std::vector<api::WaitingFile> files);
  void Wrote(const std::string& resource_version, const std::vector<std::string>& changed);
  void TellOfFiles(const std::string& trouble);
  void TellOfControllerConfig(const Error& error);
  void ExchangeServerAuthorities();
  void Exchanged(const Result<>& outcome);

  kube::Client& client_;
  const Clock& clock_;
  NodeAccess node_;
  Listener listener_;
  Passage passage_ = Passage::kUnknown;
  event::WallTimer wait_is_over_;
  std::string unusable_time_;  // The unusable time that was logged, so that it is logged once.
  std::string told_to_wait_;   // The wait that was logged, so that it is logged once.
  std::string files_trouble_;
  std::string controller_config_trouble_;
  bool is_exchanging_ = false;
  event::Timer exchange_again_;
  kube::Call authorities_;
  std::unique_ptr<ClusterFilesWriter> files_;
};

}  // namespace pintle::agent
