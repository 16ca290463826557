// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes the changes that a pass wants.
//
// The API server's answers go into the mirrored cluster.  A refused write is repeated less and less often, for each
// object separately, while all other writes continue.  If it is unknown whether a node was updated, the node is read
// until that is known: if it were wrongly taken for a node without an update, too many nodes would be updated.

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
    std::function<void()> done;  // All changes of a pool have ended, with success or not; or a node has been read.
    std::function<void(MonotonicTime when)> retry_at;
    std::function<void(const Error& error)> trouble;
  };

  // The clock, the cluster and the announcer must outlive this object.
  Writer(kube::Client client, const Clock& clock, Cluster& cluster, Announcer& announcer, Listener listener);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Returns the writes that have failed so far, and starts to read the nodes of which it is unknown whether they were
  // updated.
  UnwrittenNodes Look();

  // Removes changes that are not due, changes of pools that have writes under way, and the statuses of pools whose
  // nodes are updated later.  Forgets failures of changes that are no longer wanted.
  void RemovePostponed(Changes& changes);

  // Starts to write the changes.  Their pools must not have writes under way.  Each pool is written separately, so that
  // slow answers about one pool do not delay the writes of other pools.
  void Write(Changes changes);
  // Returns whether any write is under way or waits.
  bool is_busy() const { return !queues_.empty(); }
  bool IsBusyWith(const std::string& pool) const { return queues_.contains(pool); }
  // Returns the pools that have writes which are under way or wait.
  pool::PoolNames BusyPools() const;
  // Returns whether a node is being read.
  bool is_reading() const { return !reads_.empty(); }

  // Stops all writes, and forgets waiting writes and failures.
  void Stop();

 private:
  class Task;  // A write that waits or is under way.
  template <typename T>
  struct ObjectWrite;
  // The nodes that are being updated to a pool's target.
  struct TargetUpdate {
    std::string target_text;         // The target for messages.
    std::vector<std::string> nodes;  // The nodes that have been updated.
    int outstanding = 0;             // The number of updates that have not ended.
    bool is_complete = true;         // No update has failed so far.
    // The pool's status.  It describes the state after all nodes have been updated, so it is written then.  Contains
    // one status at most.
    std::vector<StatusChange> status;
    std::vector<Announcement> events_of_status;  // Emitted after the status has been written.
    std::vector<Announcement> events;            // Emitted after the nodes have been updated.
  };
  // The writes of a pool.
  struct Queue {
    std::deque<std::shared_ptr<Task>> waiting;
    std::size_t under_way = 0;
  };
  struct Failure {
    std::string pool;
    std::string message;       // The latest error.
    bool is_reported = false;  // The pool's status and an event report the failure.
  };

  void Add(std::shared_ptr<Task> task);
  // Adds the write of a pool's status.  `events` are emitted after it.
  void AddStatus(StatusChange change, std::vector<Announcement> events);
  void NodeWritten(const NodeChange& change, bool is_written);
  void Announce(const std::vector<Announcement>& events);
  // Begins as many waiting writes as the limits permit.
  void BeginNext();
  void Ended(const Task* task);
  // Records a failure.  `answer` is the failure that the client has reported, if any.  Its HTTP status is 0 if the
  // server has not answered.
  void Failed(const WriteBackoff::Key& key, const std::string& pool, const Error& error,
              const std::optional<kube::Failure>& answer);
  void Succeeded(const WriteBackoff::Key& key);
  // Reads a node of which it is unknown whether it was updated.
  void Read(const std::string& node);
  Unwritten UnwrittenFor(const WriteBackoff::Key& key, const Failure& failure, MonotonicTime now);

  kube::Client client_;
  const Clock& clock_;
  Cluster& cluster_;
  Announcer& announcer_;
  Listener listener_;
  WriteBackoff backoff_;
  std::map<WriteBackoff::Key, Failure> failures_;  // The failed writes and reads that are still wanted.
  std::set<std::string> unknown_;                  // Nodes of which it is unknown whether they were updated.
  std::map<std::string, kube::Call> reads_;        // The reads of these nodes.
  std::map<std::string, Queue> queues_;            // The queues that are not empty, by pool.
  std::map<const Task*, std::shared_ptr<Task>> under_way_;
  std::map<std::string, TargetUpdate> target_updates_;  // The key is the pool.
};

}  // namespace pintle::controller
