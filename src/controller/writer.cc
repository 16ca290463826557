// SPDX-License-Identifier: Apache-2.0
#include "controller/writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "controller/complaints.h"
#include "controller/events.h"
#include "json/fields.h"
#include "kube/unkept.h"

namespace pintle::controller {
namespace {

// The largest number of writes that are under way at a time.  A pool without a write under way may begin one in any
// case; otherwise, writes that get no answer could delay those of other pools.
constexpr std::size_t kMostWritesAtOnce = 64;
constexpr std::size_t kMostWritesOfPoolAtOnce = 16;

// Kinds of writes and reads, each with a back-off of its own.
constexpr const char* kNode = "node";
constexpr const char* kMachineConfigNode = "MachineConfigNode";
constexpr const char* kStatus = "status";
constexpr const char* kReadNode = "read node";

template <typename T>
constexpr const char* KindOf() {
  if constexpr (std::is_same_v<T, WatchedNode>) return kNode;
  if constexpr (std::is_same_v<T, WatchedMachineConfigNode>) return kMachineConfigNode;
  return kStatus;
}

template <typename T>
struct Change {
  std::string name;
  std::string version;  // The version of the object from which the change was decided.
  std::string pool;     // The pool whose status and events report a failure.
  json::Value patch;
  kube::Part part = kube::Part::kObject;
};

json::Value WithVersion(json::Value patch, const std::string& resource_version) {
  patch["metadata"]["resourceVersion"] = resource_version;
  return patch;
}

// Returns a merge patch of a pool's status.  A merge patch leaves missing members unchanged, so members that have to be
// removed are null.
json::Value StatusPatch(const api::MachineConfigPoolStatus& status) {
  json::Value encoded = json::Encode(status);
  for (const char* key : {"osImageStream", "poolSynchronizersStatus"}) {
    if (!encoded.contains(key)) encoded[key] = nullptr;
  }
  for (const char* key : {"namespace", "kind", "uid", "apiVersion", "resourceVersion", "fieldPath", "name", "source"}) {
    json::Value& configuration = encoded["configuration"];
    if (!configuration.contains(key)) configuration[key] = nullptr;
  }
  return {{"status", std::move(encoded)}};
}

json::Value NodeSpecPatch(const api::MachineConfigNodeSpec& spec) {
  json::Value encoded = json::Encode(spec);
  if (!encoded.contains("configImage")) encoded["configImage"] = nullptr;
  return {{"spec", std::move(encoded)}};
}

}  // namespace

class Writer::Task {
 public:
  virtual ~Task() = default;
  virtual void Begin() = 0;
  virtual const std::string& pool() const = 0;
};

// A patch of one object, and the handling of its outcome.
template <typename T>
struct Writer::ObjectWrite final : public Task {
  using Done = std::function<void(bool is_written)>;

  ObjectWrite(Writer& owner, Change<T> wanted, Done then)
      : writer(owner),
        change(std::move(wanted)),
        key(KindOf<T>(), change.name),
        done(std::move(then)),
        client(owner.client_.Once([this](const kube::Failure& latest) { failure = latest; })) {}

  const std::string& pool() const override { return change.pool; }

  void Begin() override { writer.backoff_.MustReadFirst(key) ? ReadFirst() : Patch(); }

  void ReadFirst() {
    Read([this](bool is_changed) { is_changed ? End(false) : Patch(); });
  }

  void Patch() {
    call = client.Patch<T>(
        {"", change.name}, kube::MergePatch{WithVersion(change.patch, change.version)},
        [this](Result<T>&& answer) { OnAnswer(answer); }, change.part);
  }

  void OnAnswer(Result<T>& answer) {
    if (!answer) return NotWritten(answer.error());
    if (answer->metadata.resource_version == change.version) return Fail(kube::UnkeptError());
    writer.cluster_.StoreAnswer(std::move(*answer));
    writer.Succeeded(key);
    End(true);
  }

  void NotWritten(const Error& error) {
    if (error.kind() == ErrorKind::kConflict) return ReadAgain(error);
    if constexpr (std::is_same_v<T, WatchedNode>) {
      if (!IsRefusal()) writer.unknown_.insert(change.name);
    }
    Fail(error);
  }

  // Returns whether the server itself has answered that it wrote nothing.
  bool IsRefusal() const {
    return failure && failure->status >= 400 && failure->status < 500 && failure->status != 408;
  }

  // Reads the object after a conflict.  It is no failure if somebody else has changed the object first, unless this
  // happens again and again.
  void ReadAgain(const Error& conflict) {
    Read([this, conflict](bool is_changed) {
      const bool is_failure = !is_changed || writer.backoff_.CountConflict(key, writer.clock_.Monotonic());
      is_failure ? Fail(conflict) : End(false);
    });
  }

  // Reads the object and puts its present version into the mirror.  Calls `then` with true if the change was decided
  // from another version.
  void Read(std::function<void(bool is_changed)> then) {
    call = client.Get<T>({"", change.name}, [this, then = std::move(then)](Result<T>&& now) {
      if (!now) return Fail(now.error());
      const std::string version = now->metadata.resource_version;
      if (IsLater(change.version, version)) {
        writer.cluster_.StoreOlderAnswer(std::move(*now));
      } else {
        writer.cluster_.StoreAnswer(std::move(*now));
      }
      then(version != change.version);
    });
  }

  void Fail(const Error& error) {
    writer.Failed(key, change.pool, error, failure);
    End(false);
  }

  void End(bool is_written) {
    if (done) done(is_written);
    writer.Ended(this);
  }

  Writer& writer;
  Change<T> change;
  WriteBackoff::Key key;
  Done done;
  kube::Client client;
  std::optional<kube::Failure> failure;  // The failure of the latest call.
  kube::Call call;
};

Writer::Writer(kube::Client client, const Clock& clock, Cluster& cluster, Announcer& announcer, Listener listener)
    : client_(std::move(client)),
      clock_(clock),
      cluster_(cluster),
      announcer_(announcer),
      listener_(std::move(listener)) {}

Writer::~Writer() = default;

// ---- failed writes ----

UnwrittenNodes Writer::Look() {
  const MonotonicTime now = clock_.Monotonic();
  UnwrittenNodes unwritten;
  for (const auto& [key, failure] : failures_) {
    if (const auto due = backoff_.DueAt(key, now)) listener_.retry_at(*due);
    const auto& [kind, name] = key;
    if (kind == kNode) unwritten.nodes.emplace(name, UnwrittenFor(key, failure, now));
    if (kind == kReadNode && failure.is_reported) unwritten.nodes[name].why = failure.message;
    if (kind == kMachineConfigNode) unwritten.machine_config_nodes.emplace(name, UnwrittenFor(key, failure, now));
  }
  for (const std::string& node : unknown_) {
    unwritten.nodes[node].is_unknown = true;
    Read(node);
  }
  return unwritten;
}

Unwritten Writer::UnwrittenFor(const WriteBackoff::Key& key, const Failure& failure, MonotonicTime now) {
  return {.why = failure.is_reported ? failure.message : "", .is_due = backoff_.IsDue(key, now)};
}

void Writer::Read(const std::string& node) {
  const WriteBackoff::Key key = {kReadNode, node};
  const auto due = backoff_.DueAt(key, clock_.Monotonic());
  if (due) listener_.retry_at(*due);
  if (due || reads_.contains(node)) return;
  reads_[node] = client_.Once({}).Get<WatchedNode>({"", node}, [this, key](Result<WatchedNode>&& found) {
    const auto read = reads_.extract(key.second);
    const bool is_known = found || found.error().kind() == ErrorKind::kNotFound;
    if (is_known) {
      if (found) cluster_.StoreAnswer(std::move(*found));
      unknown_.erase(key.second);
      Succeeded(key);
    } else {
      const auto write = failures_.find({kNode, key.second});
      const std::string pool = write == failures_.end() ? "" : write->second.pool;
      Failed(key, pool, found.error(), std::nullopt);
    }
    listener_.done();
  });
}

void Writer::RemovePostponed(Changes& changes) {
  std::erase_if(changes.nodes, [&](const NodeChange& change) { return IsBusyWith(change.pool); });
  std::erase_if(changes.machine_config_nodes,
                [&](const MachineConfigNodeChange& change) { return IsBusyWith(change.spec.pool.name); });
  std::erase_if(changes.statuses, [&](const StatusChange& change) { return IsBusyWith(change.pool); });
  const MonotonicTime now = clock_.Monotonic();
  std::set<WriteBackoff::Key> wanted;
  const auto is_left_out = [&](const char* kind, const std::string& name) {
    const auto key = wanted.emplace(kind, name).first;
    const auto due = backoff_.DueAt(*key, now);
    if (due) listener_.retry_at(*due);
    return due.has_value();
  };
  std::erase_if(changes.machine_config_nodes,
                [&](const MachineConfigNodeChange& change) { return is_left_out(kMachineConfigNode, change.node); });
  // The status of a pool describes the state after its nodes have been updated, so it waits for postponed updates.
  std::set<std::string> with_postponed_updates;
  std::erase_if(changes.nodes, [&](const NodeChange& change) {
    const bool is_postponed = is_left_out(kNode, change.node);
    if (is_postponed && !change.target_text.empty()) with_postponed_updates.insert(change.pool);
    return is_postponed;
  });
  std::erase_if(changes.statuses, [&](const StatusChange& change) {
    return with_postponed_updates.contains(change.pool) || is_left_out(kStatus, change.pool);
  });
  const auto has_status = [&](const std::string& pool) {
    return std::any_of(changes.statuses.begin(), changes.statuses.end(),
                       [&](const StatusChange& change) { return change.pool == pool; });
  };
  std::erase_if(changes.announcements, [&](const Announcement& event) {
    return event.cause == Announcement::Cause::kStatus && !has_status(event.pool);
  });
  std::erase_if(failures_, [&](const auto& failure) {
    const auto& [kind, name] = failure.first;
    const bool is_of_unknown = (kind == kNode || kind == kReadNode) && unknown_.contains(name);
    return !is_of_unknown && !IsBusyWith(failure.second.pool) && !wanted.contains(failure.first) &&
           backoff_.IsDue(failure.first, now);
  });
}

void Writer::Failed(const WriteBackoff::Key& key, const std::string& pool_name, const Error& error,
                    const std::optional<kube::Failure>& answer) {
  const int count = backoff_.Failed(key, clock_.Monotonic(), kube::RetryAfterOf(answer));
  Failure& failure = failures_[key];
  failure.pool = pool_name;
  const bool is_news = std::exchange(failure.message, error.message()) != error.message();
  if (is_news) listener_.trouble(error);
  // A refusal is reported at once, and any other failure only when it is repeated: the server may be down for a moment,
  // or the object may have changed or been deleted since the mirror's version.
  const bool is_refusal = answer && error.kind() == ErrorKind::kInvalid;
  const bool is_to_be_reported = is_refusal || count > kFailuresBeforeReport;
  if (!is_to_be_reported || std::exchange(failure.is_reported, true)) return;
  const api::MachineConfigPool* const pool = cluster_.pools().Find(pool_name);
  if (pool != nullptr) announcer_.Emit(*pool, kube::EventKind::kWarning, "WriteRefused", error.message());
}

void Writer::Succeeded(const WriteBackoff::Key& key) {
  backoff_.Succeeded(key);
  failures_.erase(key);
}

// ---- writing ----

pool::PoolNames Writer::BusyPools() const {
  pool::PoolNames pools;
  for (const auto& [pool, queue] : queues_) pools.insert(pool);
  return pools;
}

void Writer::Add(std::shared_ptr<Task> task) {
  Queue& queue = queues_[task->pool()];
  queue.waiting.push_back(std::move(task));
}

void Writer::Write(Changes changes) {
  for (MachineConfigNodeChange& change : changes.machine_config_nodes) {
    Add(std::make_shared<ObjectWrite<WatchedMachineConfigNode>>(
        *this,
        Change<WatchedMachineConfigNode>{.name = std::move(change.node),
                                         .version = std::move(change.resource_version),
                                         .pool = change.spec.pool.name,
                                         .patch = NodeSpecPatch(change.spec)},
        nullptr));
  }
  for (NodeChange& change : changes.nodes) {
    if (!change.target_text.empty()) {
      TargetUpdate& update = target_updates_[change.pool];
      update.target_text = change.target_text;
      ++update.outstanding;
    }
    Change<WatchedNode> wanted = {.name = change.node,
                                  .version = change.resource_version,
                                  .pool = change.pool,
                                  .patch = json::Encode(change.patch)};
    Add(std::make_shared<ObjectWrite<WatchedNode>>(
        *this, std::move(wanted),
        [this, change = std::move(change)](bool is_written) { NodeWritten(change, is_written); }));
  }
  std::map<std::string, std::vector<Announcement>> events_of_statuses;
  for (Announcement& event : changes.announcements) {
    const auto update = target_updates_.find(event.pool);
    if (event.cause == Announcement::Cause::kStatus) {
      events_of_statuses[event.pool].push_back(std::move(event));
    } else if (update != target_updates_.end()) {
      update->second.events.push_back(std::move(event));
    }
  }
  for (StatusChange& change : changes.statuses) {
    std::vector<Announcement> events = std::move(events_of_statuses[change.pool]);
    const auto update = target_updates_.find(change.pool);
    if (update == target_updates_.end()) {
      AddStatus(std::move(change), std::move(events));
    } else {
      update->second.status = {std::move(change)};
      update->second.events_of_status = std::move(events);
    }
  }
  if (!is_busy()) return listener_.done();
  BeginNext();
}

void Writer::AddStatus(StatusChange change, std::vector<Announcement> events) {
  Change<api::MachineConfigPool> wanted = {.name = change.pool,
                                           .version = change.resource_version,
                                           .pool = change.pool,
                                           .patch = StatusPatch(change.status),
                                           .part = kube::Part::kStatus};
  Add(std::make_shared<ObjectWrite<api::MachineConfigPool>>(*this, std::move(wanted),
                                                            [this, events = std::move(events)](bool is_written) {
                                                              if (is_written) Announce(events);
                                                            }));
}

void Writer::Announce(const std::vector<Announcement>& events) {
  for (const Announcement& event : events) {
    const api::MachineConfigPool* const pool = cluster_.pools().Find(event.pool);
    if (pool != nullptr) announcer_.Emit(*pool, event.kind, event.reason, event.message);
  }
}

void Writer::BeginNext() {
  for (auto& [pool, queue] : queues_) {
    const auto may_begin = [&, &of_pool = queue] {
      return of_pool.under_way == 0 ||
             (of_pool.under_way < kMostWritesOfPoolAtOnce && under_way_.size() < kMostWritesAtOnce);
    };
    while (!queue.waiting.empty() && may_begin()) {
      const std::shared_ptr<Task> task = queue.waiting.front();
      queue.waiting.pop_front();
      ++queue.under_way;
      under_way_.emplace(task.get(), task);
      task->Begin();
    }
  }
}

void Writer::Ended(const Task* task) {
  // The task has called this function, so the task is kept until this function ends.
  const auto alive = under_way_.extract(task);
  const auto queue = queues_.find(task->pool());
  const bool is_last = --queue->second.under_way == 0 && queue->second.waiting.empty();
  if (is_last) queues_.erase(queue);
  BeginNext();
  if (is_last) listener_.done();
}

// Called when the write of a node has ended.  After the last update of a pool's nodes, emits one event for all nodes
// that were updated.  If each of them was updated, the write of the pool's status comes next.
void Writer::NodeWritten(const NodeChange& change, bool is_written) {
  if (change.target_text.empty()) return;
  const auto found = target_updates_.find(change.pool);
  if (found == target_updates_.end()) return;
  TargetUpdate& update = found->second;
  if (is_written) {
    update.nodes.push_back(change.node);
    log::Notice(fmt::format("Pool {}: node {}: new target {}", change.pool, change.node, change.target_text),
                kNodeRollout, {{"PINTLE_POOL", change.pool}, {"PINTLE_NODE", change.node}});
  }
  update.is_complete = update.is_complete && is_written;
  if (--update.outstanding > 0) return;
  TargetUpdate ended = std::move(update);
  target_updates_.erase(found);
  // If a node could not be updated, the next pass decides the status.
  if (ended.is_complete && !ended.status.empty()) {
    AddStatus(std::move(ended.status.front()), std::move(ended.events_of_status));
  }
  const api::MachineConfigPool* const pool = cluster_.pools().Find(change.pool);
  if (pool == nullptr || ended.nodes.empty()) return;
  Announce(ended.events);
  const bool is_image = ended.target_text.find(" / Image: ") != std::string::npos;
  announcer_.Emit(*pool, kube::EventKind::kNormal, is_image ? "SetDesiredConfigAndOSImage" : "SetDesiredConfig",
                  ended.nodes.size() == 1
                      ? fmt::format("Targeted node {} to {}", ended.nodes.front(), ended.target_text)
                      : fmt::format("Set target for {} nodes to {}", ended.nodes.size(), ended.target_text));
}

void Writer::Stop() {
  queues_.clear();
  under_way_.clear();
  target_updates_.clear();
  reads_.clear();
  unknown_.clear();
  failures_.clear();
  backoff_.Clear();
}

}  // namespace pintle::controller
