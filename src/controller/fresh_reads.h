// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads all pools and nodes from the API server when this replica gets the lease, since the mirrors may lack the latest
// writes of the previous leader.
//
// The pools come first: the controller already renders and writes them while the nodes are being read.  A read that
// fails is repeated less and less often.

#include <functional>
#include <string>

#include "base/result.h"
#include "controller/cluster.h"
#include "event/loop.h"
#include "event/watches.h"
#include "kube/backoff.h"
#include "kube/client.h"

namespace pintle::controller {

class FreshReads {
 public:
  struct Listener {
    std::function<void()> pools_read;  // Called when the pools have been read.
    std::function<void()> changed;     // Called when the nodes have been read, and when a read has failed.
    std::function<void(const std::string& action, const Error& error)> trouble;
  };

  // The loop and the cluster, which stores what has been read, must outlive this object.
  FreshReads(event::Loop& loop, kube::Client client, Cluster& cluster, Listener listener);
  FreshReads(const FreshReads&) = delete;
  FreshReads& operator=(const FreshReads&) = delete;

  void Begin() { ReadNext(); }
  // Must be called when the cluster has changed: a read waits until the mirror has listed its kind.
  void Look();
  // Stops reading, and forgets what has been read.
  void Stop();

  // Returns whether the pools and the nodes have been read.
  bool is_complete() const { return are_nodes_read_; }
  // Returns the server's error if it refuses or repeatedly fails to list pools or nodes, or "".
  const std::string& error() const { return error_; }

 private:
  // Returns whether the mirror has listed the kind that is read next.
  bool IsNextListed() const;
  void ReadNext();
  void ReadPools();
  void ReadNodes();
  void Failed(const std::string& action, const Error& error);
  void ForgetFailures();

  kube::Client client_;
  Cluster& cluster_;
  const Listener listener_;
  bool awaits_list_ = false;  // A read waits for the mirror.
  bool are_pools_read_ = false;
  bool are_nodes_read_ = false;
  int failures_ = 0;  // The failures in a row.
  std::string error_;
  kube::Backoff backoff_{{}, kube::SystemRandom()};
  event::Timer again_;
  kube::Call call_;
};

}  // namespace pintle::controller
