// SPDX-License-Identifier: Apache-2.0
#pragma once

// Renders for each pool whose inputs have changed, and gives the pool what came out as its target.
//
// It makes no difference whether a pool is paused: its target is always what its configs say.  What was rendered once
// is not written again; a rendered config that somebody changed or removed while it is a pool's target is put back. One
// that is there already is read and compared before it becomes a target.  What the API server refuses is said in the
// pool's verdict and tried again less and less often, or at once when there is something else to be rendered.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "controller/announcer.h"
#include "controller/cluster.h"
#include "controller/render_pass.h"
#include "controller/verdict.h"
#include "controller/write_backoff.h"
#include "kube/client.h"
#include "pool/candidates.h"

namespace pintle::controller {

class Renderer {
 public:
  struct Listener {
    std::function<void()> finished;  // A pool was rendered, or could not be.
    std::function<void(const std::string& pool)> retargeted;
    std::function<void()> retry_later;                 // Something is on its way; look again after a while.
    std::function<void(MonotonicTime when)> retry_at;  // Something could not be read or written.
    std::function<void(const Error& error)> trouble;
  };

  // The cluster, the clock and the announcer must outlive it.
  Renderer(event::Loop& loop, kube::Client client, const Clock& clock, Cluster& cluster, Announcer& announcer,
           Versions versions, Listener listener);
  ~Renderer();
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  // Starts to render for the pools that need it.
  void Look(const View& view);

  const Verdicts& verdicts() const { return verdicts_; }
  // The pools that something is being rendered for, or will be as soon as the inputs are complete.
  pool::NodeNames rendering() const;
  // By pool: whether its config overrides the OS image.
  const std::map<std::string, bool, std::less<>>& image_overridden() const { return image_overridden_; }

  // Drops all that is under way, and all that is known of pools.
  void Stop();

 private:
  class Job;

  // What was rendered last for a pool, or could not be.
  struct Rendered {
    std::string key;  // Of the inputs.
    // The target that the pool has since then.
    std::string target;
    std::vector<api::ObjectReference> source;
    bool is_stored = false;
    std::string version;  // Of the target's config; empty: not known.
  };

  bool IsUpToDate(const api::MachineConfigPool& pool, const std::string& key) const;
  // Whether rendering from the same inputs failed, and it is not yet time for another try.
  bool IsHeldBack(const std::string& pool, const std::string& key);
  bool IsWorthWaiting(const std::string& pool);
  void Begin(const api::MachineConfigPool& pool, std::string key);
  // Without `done`, the pool is looked at again.
  void Finish(const std::string& pool, std::optional<Rendered> done);

  event::Loop& loop_;
  kube::Client client_;
  const Clock& clock_;
  Cluster& cluster_;
  Announcer& announcer_;
  Versions versions_;
  Listener listener_;
  Verdicts verdicts_;
  pool::NodeNames rendering_;
  std::map<std::string, bool, std::less<>> image_overridden_;
  std::map<std::string, Rendered, std::less<>> rendered_;  // By pool.
  WriteBackoff backoff_;
  std::map<std::string, std::string, std::less<>> failed_keys_;  // Of the inputs that failed last, by pool.
  // Pools whose inputs are not complete yet.
  pool::NodeNames waiting_;
  std::map<std::string, MonotonicTime, std::less<>> waiting_since_;
  std::map<std::string, std::shared_ptr<Job>, std::less<>> jobs_;
};

}  // namespace pintle::controller
