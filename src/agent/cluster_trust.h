// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whom a cluster has its nodes trust, kept on this node as the cluster has it, and what its Node says of that.
//
// Two things come and go here: the files of the ControllerConfig, and the authorities of the API server, which the
// operator exchanges now and then, and which each node takes over once for each exchange.  Both wait as long as the
// node's own Node says so, which a controller writes there while the pool is paused; and then it is said what waits.

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
                                                     const Clock& clock, NodeOfThis node, Listener listener);
  ClusterTrust(const ClusterTrust&) = delete;
  ClusterTrust& operator=(const ClusterTrust&) = delete;

  // For the first time, or it has changed: it tells whether files wait, and it can be said now what was done.
  void NodeIsSeen();

  // What this has written, and no config.
  change::Things LookedAfter() const;

 private:
  ClusterTrust(event::Loop& loop, kube::Client& client, const Clock& clock, NodeOfThis node, Listener listener);

  Passing PassingNow();
  bool HasToExchangeServerAuthorities() const;
  void TellOfWaiting(std::vector<api::WaitingFile> files);
  void Wrote(const std::string& resource_version, const std::vector<std::string>& changed);
  void TellOfFiles(const std::string& trouble);
  void TellOfControllerConfig(const Error& error);
  void ExchangeServerAuthorities();
  void Exchanged(const Result<>& outcome);

  kube::Client& client_;
  const Clock& clock_;
  NodeOfThis node_;
  Listener listener_;
  Passing passing_ = Passing::kUnknown;
  event::WallTimer wait_is_over_;
  std::string unusable_time_;  // Told once.
  std::string told_to_wait_;   // The same.
  std::string files_trouble_;
  std::string controller_config_trouble_;
  bool is_exchanging_ = false;
  event::Timer exchange_again_;
  kube::Call authorities_;
  std::unique_ptr<ClusterFilesWriter> files_;
};

}  // namespace pintle::agent
