// SPDX-License-Identifier: Apache-2.0
#pragma once

// Renders a config for each pool whose inputs have changed, and makes this config the pool's target.
//
// The target of a pool follows its configs even while the pool is paused.  A config that exists already is not written
// again, but read and compared before it becomes a target.  A target that somebody has changed or removed is restored.
// A write that the API server refuses is reported in the pool's verdict, and repeated less and less often, or at once
// if the inputs change.

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
    std::function<void()> finished;  // The rendering for a pool has ended, with success or not.
    std::function<void(const std::string& pool)> retargeted;  // The pool has another target now.
    std::function<void()> retry_later;                        // Inputs are incomplete; look again after a while.
    // A read or a write has failed, or there is no place for the rendering for a pool; look again at this time.
    std::function<void(MonotonicTime when)> retry_at;
    std::function<void(const Error& error)> trouble;
  };

  // With `dates_targets`, pools get the annotation kTargetSinceAnnotation, which notices need.  The cluster, the clock
  // and the announcer must outlive this object.
  Renderer(event::Loop& loop, kube::Client client, const Clock& clock, Cluster& cluster, Announcer& announcer,
           Versions versions, bool dates_targets, Listener listener);
  ~Renderer();
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  // Starts to render configs for the pools whose inputs or targets have changed.
  void Look(const View& view, TemplatesMaker maker = TemplatesMaker::kUnknown);

  // Reports in the verdicts of all pools why nothing can be rendered now.  The next Look() renders for all pools.
  void Refuse(const View& view, const std::string& why);

  const Verdicts& verdicts() const { return verdicts_; }
  // Returns the pools for which a config is being rendered, or will be as soon as their inputs are complete and other
  // pools' jobs have ended.
  pool::PoolNames rendering() const;
  // Returns for each pool whether its config overrides the OS image.
  const std::map<std::string, bool, std::less<>>& image_overridden() const { return image_overridden_; }

  // Stops all jobs and forgets everything about pools.
  void Stop();

 private:
  class Job;

  // The outcome of the latest rendering for a pool.
  struct Rendered {
    std::string key;  // The key of the inputs (RenderInputs::key).
    // The pool's target at the end of the rendering.
    std::string target;
    std::vector<api::ObjectReference> source;
    bool is_stored = false;  // The target is the config that was rendered; otherwise nothing was rendered.
    std::string version;     // The resourceVersion of the target; empty if unknown.
  };

  bool IsUpToDate(const api::MachineConfigPool& pool, const std::string& key) const;
  // Sets the pool's verdict, which the pool's condition reports, and logs a new failure once.
  void SetVerdict(const std::string& pool, Verdict verdict);
  // Returns whether rendering from the same inputs has failed, and the next try is not due yet.
  bool IsHeldBack(const std::string& pool, const std::string& key);
  // Returns whether the pool's inputs have been incomplete for a short time only.
  bool IsWorthWaiting(const std::string& pool);
  // Begins a job for the pool if it needs one and there is a place for the job.
  void LookAt(const api::MachineConfigPool& pool, const View& view);
  // Returns nullopt if there is a place for another job, or the time at which there is one at the latest.
  std::optional<MonotonicTime> NextPlaceAt() const;
  void Begin(const api::MachineConfigPool& pool, std::string key);
  // Ends a job.  If `outcome` is nullopt, the next look renders for the pool again.
  void Finish(const std::string& pool, std::optional<Rendered> outcome);

  event::Loop& loop_;
  kube::Client client_;
  const Clock& clock_;
  Cluster& cluster_;
  Announcer& announcer_;
  Versions versions_;
  TemplatesMaker maker_ = TemplatesMaker::kUnknown;  // As of the latest look.
  const bool dates_targets_;
  Listener listener_;
  Verdicts verdicts_;
  pool::PoolNames rendering_;
  std::map<std::string, bool, std::less<>> image_overridden_;
  std::map<std::string, Rendered, std::less<>> rendered_;  // The key is the pool.
  WriteBackoff backoff_;
  // The keys of the inputs with which the latest rendering or write has failed, by pool.
  std::map<std::string, std::string, std::less<>> failed_keys_;
  pool::PoolNames waiting_;  // The pools whose inputs are not complete yet, or for whose jobs there is no place yet.
  // The times since which inputs have been incomplete, by pool.
  std::map<std::string, MonotonicTime, std::less<>> waiting_since_;
  std::map<std::string, std::shared_ptr<Job>, std::less<>> jobs_;
};

}  // namespace pintle::controller
