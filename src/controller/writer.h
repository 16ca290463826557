// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes what a pass wants changed.
//
// What the API server answers goes back into the cluster's copy.  What it refuses is tried again less and less often,
// for each object by itself, and everything else goes on.  When it is not known whether a node was told, it is read
// until that is known: a node that might have been told must not be taken for one that was not.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/announcer.h"
#include "controller/changes.h"
#include "controller/cluster.h"
#include "controller/unwritten.h"
#include "controller/write_backoff.h"
#include "kube/client.h"
#include "pool/candidates.h"

namespace pintle::controller {

class Writer {
 public:
  struct Listener {
    std::function<void()> done;  // With all changes of a pool, one way or the other; or a node has been read.
    std::function<void(MonotonicTime when)> retry_at;
    std::function<void(const Error& error)> trouble;
  };

  // The clock, the cluster and the announcer must outlive it.
  Writer(kube::Client client, const Clock& clock, Cluster& cluster, Announcer& announcer, Listener listener);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // What could not be written so far.  Begins to read the nodes of which that is not known.
  UnwrittenNodes Look();

  // Takes out what is not due and what is of a pool that it is busy with, and forgets the failures of what is no longer
  // wanted.
  void LeaveOut(Changes& changes);

  // Of pools that it is not busy with: a server that is slow about one holds up no other.
  void Write(Changes changes);
  bool is_busy() const { return !queues_.empty(); }
  bool IsBusyWith(const std::string& pool) const { return queues_.contains(pool); }
  pool::NodeNames BusyPools() const;
  bool is_reading() const { return !reads_.empty(); }

  // Writes nothing more, and forgets what it was about to.
  void Stop();

 private:
  template <typename T>
  struct Writing;
  class Task;
  // Who is told of a pool's target.
  struct Telling {
    std::string line;
    std::vector<std::string> nodes;
    int outstanding = 0;
    bool is_complete = true;
    std::vector<StatusChange> status;  // To be written when all have been told, since it says so.
    std::vector<Announcement> events_of_status;
    std::vector<Announcement> events;
  };
  // The writes of a pool.
  struct Queue {
    std::deque<std::shared_ptr<Task>> waiting;
    std::size_t under_way = 0;
  };
  struct Failure {
    std::string pool;
    std::string words;  // The last.
    bool is_told = false;
  };

  void Add(std::shared_ptr<Task> task);
  void AddStatus(StatusChange change, std::vector<Announcement> events);
  void Told(const NodeChange& change, bool is_written);
  void Announce(const std::vector<Announcement>& events);
  void BeginNext();
  void Ended(const Task* task);
  // `told` is what the server said of it, if it did.
  void Failed(const WriteBackoff::Key& key, const std::string& pool, const Error& error,
              const std::optional<kube::Failure>& told);
  void Succeeded(const WriteBackoff::Key& key);
  void Read(const std::string& node);
  Unwritten UnwrittenFor(const WriteBackoff::Key& key, const Failure& failure, MonotonicTime now);

  kube::Client client_;
  const Clock& clock_;
  Cluster& cluster_;
  Announcer& announcer_;
  Listener listener_;
  WriteBackoff backoff_;
  std::map<WriteBackoff::Key, Failure> failures_;
  std::set<std::string> unknown_;            // Nodes.
  std::map<std::string, kube::Call> reads_;  // Of these.
  std::map<std::string, Queue> queues_;      // Those that are not empty, by pool.
  std::map<const Task*, std::shared_ptr<Task>> under_way_;
  std::map<std::string, Telling> tellings_;  // By pool.
};

}  // namespace pintle::controller
