// SPDX-License-Identifier: Apache-2.0
#pragma once

// Generates MachineConfigs from the cluster's settings and the operator's templates.
//
// The generator decides by GeneratePass() whenever an input has changed, and writes what the pass returns.  A write
// that fails is repeated less and less often, separately for each object, while the others go on.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "controller/announcer.h"
#include "controller/cluster.h"
#include "controller/generate_changes.h"
#include "controller/generated_sources.h"
#include "controller/metrics.h"
#include "controller/render_pass.h"
#include "controller/write_backoff.h"
#include "event/watches.h"
#include "generated/settled_templates.h"
#include "kube/client.h"

namespace pintle::controller {

class Generator {
 public:
  struct Listener {
    std::function<void()> changed;  // An input has changed, or a write has ended.
    std::function<void(MonotonicTime when)> retry_at;
    std::function<void(const std::string& what, const Error& error)> trouble;  // `what` is the action that has failed.
  };

  // `templates` is the path of the folder.  The clock, the cluster and `events` must outlive this object.
  Generator(event::Loop& loop, kube::Client client, const Clock& clock, Cluster& cluster, Announcer& events,
            std::string templates, Versions versions, Listener listener);
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  // Decides and writes.  Must be called only while this replica leads.
  void Look(const View& view);

  // Returns true if configs are about to change or to be removed, or if this is unknown because the inputs have not
  // been read yet.  A pool that is rendered now would be rendered again at once.  Changes that the server refuses do
  // not count.
  bool is_busy() const { return is_busy_; }

  // Returns whether there are templates.  Without them, no config is generated.
  bool has_templates() const { return templates_.get() != nullptr; }

  // Returns the errors because of which configs are not made, or "".  Errors that conditions of objects report are left
  // out.
  std::string FailureText() const;
  // Returns the server's errors about kinds that it refuses to list, or "".  The generator is busy until it has read
  // these kinds.
  std::string WhyNotReady() const;

  // Reads the folder of templates, and uses it if it has changed.  The generator also calls this every minute.
  void ReadTemplates();

  // Returns the states for metrics, with their times.  There is a state for each of these facts: a config was generated
  // from templates, a config was generated for a pool, there are no templates, the cluster lacks a kind of objects.
  std::vector<SubControllerState> States(const View& view) const;

  // Stops all writes and forgets what has failed.
  void Stop();

 private:
  // Returns a text that differs whenever an input of Decide() is different.
  std::string InputKey(const View& view) const;
  void Decide(const View& view);
  // Forgets refusals of contents that are not wanted any more.  Returns whether there were any.
  bool ForgetOldRefusals();
  // Updates the states of kinds that the cluster lacks, and logs each of these kinds once.
  void NoteMissingKinds();
  // Emits an Event for each setting of a Node of config.openshift.io that is not followed, once.
  void EmitProhibitions();
  // Emits an Event for each problem, once.
  void EmitProblems(const View& view);
  bool WillBeRemoved(const ConfigRemoval& removal, const View& view) const;
  void Write();
  void Write(const SourceChange& change);
  template <typename T>
  void PatchSource(const std::string& what, const SourceChange& change);
  void Write(const ConfigChange& change);
  void Remove(const ConfigRemoval& removal);

  // In these functions, `what` is the description of a write, and the key of its call and its back-off.
  //
  // Returns whether the write may start: it is not under way, and its back-off has ended.
  bool MayStart(const std::string& what);
  // Returns a client for one write.
  kube::Client ClientFor(const std::string& what);
  void Succeeded(const std::string& what);
  void Failed(const std::string& what, const std::string& config, const Error& error);
  void Failed(const std::string& what, const SourceChange& source, const Error& error);
  // Records a failure.  Returns whether the failure counts as lasting.  A conflict may pass by itself, and so may a
  // failure because the server is unavailable, so they count as lasting only after they have occurred several times.
  bool NoteFailure(const std::string& what, const Error& error);
  // Forgets refusals of writes to sources that are not wanted any more.
  void ForgetOldSourceRefusals();

  kube::Client client_;
  const Clock& clock_;
  Cluster& cluster_;
  Announcer& events_;
  const std::string path_;
  const Versions versions_;
  Listener listener_;
  const WallTime began_;
  generated::SettledTemplates templates_;
  event::Timer read_again_;
  GeneratedSources sources_;
  std::string key_;  // Identifies the inputs of `changes_`.
  GenerateChanges changes_;
  bool is_busy_ = false;
  // The times at which configs were last written, by their origin and their name in metrics (ConfigChange::object).
  std::map<std::pair<MadeFrom, std::string>, WallTime> generated_;
  std::map<std::string, SubControllerState> missing_;         // The kinds that the cluster does not have, by name.
  std::set<std::pair<std::string, std::string>> prohibited_;  // The Node and the message of each Event.
  std::set<std::string, std::less<>> reported_;               // The messages of the Events about problems.
  std::set<std::string, std::less<>> awaited_configs_;        // Configs that the mirror does not have yet.
  std::map<std::string, std::string, std::less<>> refused_;   // The server's errors about configs, by name.
  std::map<SourceName, std::string> refused_sources_;         // The server's errors about writes of finalizers.
  // The digests of the contents that the latest writes of configs have sent, by name.  A write that succeeds removes
  // its digest.
  std::map<std::string, std::string, std::less<>> attempted_;
  std::set<std::string, std::less<>> failing_;  // Descriptions of writes whose failures last.
  WriteBackoff backoff_;
  std::map<std::string, kube::Failure> failures_;  // The key is the description of the call.
  std::map<std::string, kube::Call> calls_;        // The key is the description of the call.
};

}  // namespace pintle::controller
