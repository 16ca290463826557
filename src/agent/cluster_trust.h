// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps the authorities and the pull secret that the cluster gives to this node up to date, and reports this on its
// Node.
//
// There are two kinds of data: the files of the ControllerConfig, and the authorities of the API server.  The operator
// exchanges these authorities now and then, and each node takes them over once for each exchange.  While the pool is
// paused with the pause policy Strict, an annotation that the controller has set on the Node makes both kinds wait.
// The waiting files are then reported in another annotation.

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
    std::function<std::optional<std::string>(std::string_view key)> annotation;
    std::function<void(AnnotationChanges changes)> write;
  };
  struct Listener {
    // Reports why the node lacks files that it should have; an empty reason means that it lacks none.
    std::function<void(std::string why)> unusable;
    // The authorities of the API server have changed, and the kubelet has to trust the new ones.
    std::function<void(std::string bundle, std::function<void(Result<>)> done)> trust_server;
  };

  // The loop, the client, the root and the clock must outlive this object.
  static Result<std::unique_ptr<ClusterTrust>> Begin(event::Loop& loop, kube::Client& client, const Root& root,
                                                     const Clock& clock, NodeAccess node, Listener listener);
  ClusterTrust(const ClusterTrust&) = delete;
  ClusterTrust& operator=(const ClusterTrust&) = delete;

  // Must be called when the Node was seen for the first time or has changed.  Begins or ends a wait, as the Node's
  // annotation demands, and begins the work that waited for the Node.
  void OnNodeSeen();
  // Must be called when the Node may have lost the annotations of this class.
  void OnReportsLost();

  // Returns the files that changes leave alone even if a config has them, because this class writes them.  Without a
  // ControllerConfig there are none.  The authorities of registries are not among them.
  change::Things WrittenFiles() const;

 private:
  ClusterTrust(event::Loop& loop, kube::Client& client, const Clock& clock, NodeAccess node, Listener listener);

  WritePermission DecideWritePermission();
  bool HasToExchangeServerAuthorities() const;
  void ReportWaitingFiles(std::vector<api::WaitingFile> files);
  void OnFilesWritten(const std::string& resource_version, const std::vector<std::string>& changed);
  void ReportFilesTrouble(const std::string& trouble);
  void LogControllerConfigTrouble(const Error& error);
  void ExchangeServerAuthorities();
  void OnExchanged(const Result<>& outcome);

  kube::Client& client_;
  const Clock& clock_;
  NodeAccess node_;
  Listener listener_;
  WritePermission permission_ = WritePermission::kUnknown;
  event::WallTimer wait_is_over_;
  std::string logged_invalid_time_;  // The invalid time that was logged, so that it is logged once.
  std::string logged_waiting_;       // The waiting files that were logged, so that they are logged once.
  std::string files_trouble_;
  std::string controller_config_trouble_;
  std::string synced_version_;  // The version of the ControllerConfig whose files are written.
  bool is_exchanging_ = false;
  event::Timer exchange_again_;
  kube::Call authorities_;
  std::unique_ptr<ClusterFilesWriter> files_;
};

}  // namespace pintle::agent
