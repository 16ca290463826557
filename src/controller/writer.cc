// SPDX-License-Identifier: Apache-2.0
#include "controller/writer.h"

#include <fmt/core.h>

#include <utility>

#include "controller/events.h"
#include "json/fields.h"

namespace pintle::controller {
namespace {

// How many writes are under way at a time.
constexpr std::size_t kAtOnce = 16;

json::Value WithVersion(json::Value patch, const std::string& resource_version) {
  patch["metadata"]["resourceVersion"] = resource_version;
  return patch;
}

// A merge patch leaves alone what it does not name: what is no longer said must be taken away.
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

json::Value SpecPatch(const api::MachineConfigNodeSpec& spec) {
  json::Value encoded = json::Encode(spec);
  if (!encoded.contains("configImage")) encoded["configImage"] = nullptr;
  return {{"spec", std::move(encoded)}};
}

}  // namespace

class Writer::Task {
 public:
  virtual ~Task() = default;
  virtual void Begin() = 0;
};

// A patch of one object, and what became of it.
template <typename T>
struct Writer::Writing final : public Task {
  using Done = std::function<void(bool is_written)>;

  Writing(Writer& owner, std::string object, json::Value change, kube::Part changed, Done then)
      : writer(owner),
        name(std::move(object)),
        patch(std::move(change)),
        part(changed),
        done(std::move(then)),
        backoff({}, owner.random_),
        again(
            owner.loop_, [this] { Read(); }, kube::kRetrySlack) {}

  void Begin() override {
    call = writer.client_.Patch<T>(
        {"", name}, kube::MergePatch{patch}, [this](Result<T>&& answer) { Wrote(answer); }, part);
  }

  void Wrote(Result<T>& answer) {
    if (!answer) return Failed(answer.error());
    writer.cluster_.Put(std::move(*answer));
    End(true);
  }

  // Somebody else who was faster is no trouble.
  void Failed(const Error& error) {
    if (error.kind() != ErrorKind::kConflict) {
      writer.listener_.trouble(error);
      writer.listener_.retry_later();
    }
    Read();
  }

  // As it is now, whether the write came to it or not.
  void Read() {
    call = writer.client_.Get<T>({"", name}, [this](Result<T>&& now) {
      if (!now) return Unread(now.error());
      writer.cluster_.Put(std::move(*now));
      End(false);
    });
  }

  void Unread(const Error& error) {
    if (error.kind() == ErrorKind::kNotFound) return End(false);
    writer.listener_.trouble(error);
    again.After(backoff.Next());
  }

  void End(bool is_written) {
    if (done) done(is_written);
    writer.Ended(this);
  }

  Writer& writer;
  std::string name;
  json::Value patch;
  kube::Part part;
  Done done;
  kube::Backoff backoff;
  event::Timer again;
  kube::Call call;
};

Writer::Writer(event::Loop& loop, kube::Client client, Cluster& cluster, Announcer& announcer, Listener listener)
    : loop_(loop),
      client_(std::move(client)),
      cluster_(cluster),
      announcer_(announcer),
      listener_(std::move(listener)) {}

Writer::~Writer() = default;

void Writer::Write(Changes changes) {
  const auto add = [this]<typename T>(std::string name, json::Value patch, kube::Part part,
                                      typename Writing<T>::Done done = {}) {
    Add(std::make_shared<Writing<T>>(*this, std::move(name), std::move(patch), part, std::move(done)));
  };
  for (MachineConfigNodeChange& change : changes.machine_config_nodes) {
    add.template operator()<WatchedMachineConfigNode>(
        std::move(change.node), WithVersion(SpecPatch(change.spec), change.resource_version), kube::Part::kObject);
  }
  for (NodeChange& change : changes.nodes) {
    json::Value patch = WithVersion(json::Encode(change.patch), change.resource_version);
    if (!change.told.empty()) {
      Telling& telling = tellings_[change.pool];
      telling.line = change.told;
      ++telling.outstanding;
    }
    const std::string node = change.node;
    add.template operator()<WatchedNode>(
        node, std::move(patch), kube::Part::kObject,
        [this, change = std::move(change)](bool is_written) { Told(change, is_written); });
  }
  for (StatusChange& change : changes.statuses) {
    add.template operator()<api::MachineConfigPool>(
        std::move(change.pool), WithVersion(StatusPatch(change.status), change.resource_version), kube::Part::kStatus);
  }
  for (const Announcement& event : changes.announcements) {
    const api::MachineConfigPool* const pool = cluster_.pools().Find(event.pool);
    if (pool != nullptr) announcer_.About(*pool, event.kind, event.reason, event.message);
  }
  if (!is_busy()) return listener_.done();
  BeginNext();
}

void Writer::BeginNext() {
  while (!waiting_.empty() && under_way_.size() < kAtOnce) {
    const std::shared_ptr<Task> task = waiting_.front();
    waiting_.pop_front();
    under_way_.emplace(task.get(), task);
    task->Begin();
  }
}

void Writer::Ended(const Task* task) {
  // It is what has called this.
  const auto alive = under_way_.extract(task);
  BeginNext();
  if (!is_busy()) listener_.done();
}

// One Event for all nodes that were told of a pool's target together.
void Writer::Told(const NodeChange& change, bool is_written) {
  if (change.told.empty()) return;
  const auto found = tellings_.find(change.pool);
  if (found == tellings_.end()) return;
  Telling& telling = found->second;
  if (is_written) {
    telling.nodes.push_back(change.node);
    log::Notice(fmt::format("Pool {}: node {}: told to become {}", change.pool, change.node, change.told), kToldNode,
                {{"PINTLE_POOL", change.pool}, {"PINTLE_NODE", change.node}});
  }
  if (--telling.outstanding > 0) return;
  const Telling told = std::move(telling);
  tellings_.erase(found);
  const api::MachineConfigPool* const pool = cluster_.pools().Find(change.pool);
  if (pool == nullptr || told.nodes.empty()) return;
  const bool is_image = told.line.find(" / Image: ") != std::string::npos;
  announcer_.About(*pool, kube::EventKind::kNormal, is_image ? "SetDesiredConfigAndOSImage" : "SetDesiredConfig",
                   told.nodes.size() == 1 ? fmt::format("Targeted node {} to {}", told.nodes.front(), told.line)
                                          : fmt::format("Set target for {} nodes to {}", told.nodes.size(), told.line));
}

void Writer::Stop() {
  waiting_.clear();
  under_way_.clear();
  tellings_.clear();
}

}  // namespace pintle::controller
