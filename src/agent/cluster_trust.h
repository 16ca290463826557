// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whom a cluster has its nodes trust, kept on this node as the cluster has it, and what its Node says of that.
//
// Two things come and go here: the files of the ControllerConfig, and the authorities of the API server, which the
// operator exchanges now and then, and which each node takes over once for each exchange.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/cluster_files_writer.h"
#include "agent/node_writer.h"
#include "base/root.h"
#include "change/losses.h"
#include "event/loop.h"
#include "event/watches.h"
#include "kube/client.h"

namespace pintle::agent {

class ClusterTrust {
 public:
  // The node's own Node.
  struct NodeOfThis {
    // An annotation, empty if it has none; nothing: it has not been seen yet.
    std::function<std::optional<std::string>(std::string_view annotation)> said;
    std::function<void(AnnotationChanges changes)> write;
  };
  struct Listener {
    // Why the node does not have what it should; empty: that is over.
    std::function<void(std::string why)> unusable;
    // The authorities of the API server are other ones, which the kubelet is to trust.
    std::function<void(std::string bundle, std::function<void(Result<>)> done)> trust_server;
  };

  // What is given must outlive it.
  static Result<std::unique_ptr<ClusterTrust>> Begin(event::Loop& loop, kube::Client& client, const Root& root,
                                                     NodeOfThis node, Listener listener);
  ClusterTrust(const ClusterTrust&) = delete;
  ClusterTrust& operator=(const ClusterTrust&) = delete;

  // It can be said now what was done.
  void NodeIsSeen() { ExchangeServerAuthorities(); }

  // What this has written, and no config.
  change::Things LookedAfter() const;

 private:
  ClusterTrust(event::Loop& loop, kube::Client& client, NodeOfThis node, Listener listener);

  void Wrote(const std::string& resource_version, const std::vector<std::string>& changed);
  void TellOfFiles(const std::string& trouble);
  void TellOfControllerConfig(const Error& error);
  void ExchangeServerAuthorities();
  void Exchanged(const Result<>& outcome);

  kube::Client& client_;
  NodeOfThis node_;
  Listener listener_;
  std::string files_trouble_;
  std::string controller_config_trouble_;
  bool is_exchanging_ = false;
  event::Timer exchange_again_;
  kube::Call authorities_;
  std::unique_ptr<ClusterFilesWriter> files_;
};

}  // namespace pintle::agent
