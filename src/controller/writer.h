// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes what a pass wants changed.
//
// What the API server answers goes back into the cluster's copy.  When it is not known what became of a write, the
// object is read until it is: a node that might have been told must not be taken for one that was not.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controller/announcer.h"
#include "controller/changes.h"
#include "controller/cluster.h"
#include "event/watches.h"
#include "kube/backoff.h"
#include "kube/client.h"

namespace pintle::controller {

class Writer {
 public:
  struct Listener {
    std::function<void()> done;         // With all changes, one way or the other.
    std::function<void()> retry_later;  // Something could not be written; look again after a while.
    std::function<void(const Error& error)> trouble;
  };

  // The cluster and the announcer must outlive it.
  Writer(event::Loop& loop, kube::Client client, Cluster& cluster, Announcer& announcer, Listener listener);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Only when it is not busy.
  void Write(Changes changes);
  bool is_busy() const { return !waiting_.empty() || !under_way_.empty(); }

  // Writes nothing more, and forgets what it was about to.
  void Stop();

 private:
  template <typename T>
  struct Writing;
  class Task;
  // Who was told of a pool's target.
  struct Telling {
    std::string line;
    std::vector<std::string> nodes;
    int outstanding = 0;
  };

  void Add(std::shared_ptr<Task> task) { waiting_.push_back(std::move(task)); }
  void Told(const NodeChange& change, bool is_written);
  void BeginNext();
  void Ended(const Task* task);

  event::Loop& loop_;
  kube::Client client_;
  Cluster& cluster_;
  Announcer& announcer_;
  Listener listener_;
  kube::Random random_ = kube::SystemRandom();  // One for all writes, of which there may be thousands.
  std::deque<std::shared_ptr<Task>> waiting_;
  std::map<const Task*, std::shared_ptr<Task>> under_way_;
  std::map<std::string, Telling> tellings_;  // By pool.
};

}  // namespace pintle::controller
