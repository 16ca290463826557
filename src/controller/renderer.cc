// SPDX-License-Identifier: Apache-2.0
#include "controller/renderer.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "api/annotations.h"
#include "controller/complaints.h"
#include "controller/events.h"
#include "controller/replacing_patch.h"
#include "event/loop.h"
#include "json/fields.h"
#include "kube/unkept.h"

namespace pintle::controller {
namespace {

using kube::EventKind;

// Inputs may be incomplete for this long before the pool becomes degraded.
constexpr auto kWaitForInputs = std::chrono::minutes(1);
constexpr const char* kRender = "render";  // The kind of write in the keys of the back-offs.
// At most this many jobs run at once, not counting those that take longer than kLongestPlace.  Each job has some copies
// of a rendered config, which may be large.
constexpr std::size_t kJobsAtOnce = 4;
// A job that takes longer than this does not hold up other pools, because the API server may be silent about one pool.
constexpr auto kLongestPlace = std::chrono::seconds(10);

// Returns the patch that makes a config the pool's target.  If `now` is set and the config replaces another target, the
// patch also records `now` as the time of the change.
json::Value ConfigurationPatch(const api::MachineConfigPool& pool, const machineconfig::Rendered& rendered,
                               const std::optional<WallTime>& now) {
  const std::string& before = pool.spec.configuration.name;
  const std::string& name = rendered.config.metadata.name;
  json::Value patch;
  patch["metadata"]["resourceVersion"] = pool.metadata.resource_version;
  if (now && !before.empty() && before != name) {
    patch["metadata"]["annotations"][api::kTargetSinceAnnotation] = ToRfc3339(*now);
  }
  patch["spec"]["configuration"] = {{"name", name}, {"source", json::Encode(rendered.source)}};
  return patch;
}

json::Value RenderedSpecPatch(const api::MachineConfig& found, const api::MachineConfig& wanted) {
  ReplacingPatch patch(found.metadata);
  patch.Set("/spec", json::Encode(wanted.spec));
  return std::move(patch).operations();
}

bool IsTarget(const api::MachineConfigPool& pool, const machineconfig::Rendered& rendered) {
  return pool.spec.configuration.name == rendered.config.metadata.name &&
         json::Equal(pool.spec.configuration.source, rendered.source);
}

Verdict FailureFor(const std::string& pool, const std::string& why) {
  return {.reason = "", .message = fmt::format("Failed to render configuration for pool {}: {}", pool, why)};
}

}  // namespace

// Renders for one pool, from reading its present target to setting the new one.
class Renderer::Job : public std::enable_shared_from_this<Job> {
 public:
  Job(Renderer& renderer, std::string pool, std::string key)
      : renderer_(renderer),
        pool_(std::move(pool)),
        key_(std::move(key)),
        began_(renderer.clock_.Monotonic()),
        client_(renderer.client_.Once([this](const kube::Failure& failure) { failure_ = failure; })) {}

  // Returns when other pools need not wait for the end of this job any more.
  MonotonicTime leaves_place() const { return began_ + kLongestPlace; }

  // `current` names the pool's present target.  This config is read in full, since nodes must be able to go from it to
  // the new config.
  void Begin(const std::string& current) {
    const bool is_known = !current.empty() && renderer_.cluster_.configs().Find(current) != nullptr;
    if (!is_known) {
      // Rendering is posted to the loop, so that other events are handled between the pools.
      return renderer_.loop_.Post([weak = weak_from_this()] {
        if (const auto alive = weak.lock()) alive->Render();
      });
    }
    call_ =
        client_.Get<api::MachineConfig>({"", current}, [this](Result<api::MachineConfig>&& found) { Found(found); });
  }

 private:
  void Found(Result<api::MachineConfig>& found) {
    if (!found) return NotFound(found.error());
    current_ = std::move(*found);
    Render();
  }

  void NotFound(const Error& error) { error.kind() == ErrorKind::kNotFound ? Render() : Fail(error); }

  void Render() {
    const View view = renderer_.cluster_.Look();
    const api::MachineConfigPool* const pool = view.PoolNamed(pool_);
    if (pool == nullptr) return End();
    const RenderInputs inputs = GatherRenderInputs(*pool, view, renderer_.versions_, renderer_.maker_);
    if (inputs.is_temporary && renderer_.IsWorthWaiting(pool_)) return WaitForInputs();
    renderer_.waiting_since_.erase(pool_);
    outcome_ = {.key = inputs.key,
                .target = pool->spec.configuration.name,
                .source = pool->spec.configuration.source,
                .is_stored = false,
                .version = ""};
    RenderOutcome outcome = RenderPass(inputs, current_ ? &*current_ : nullptr);
    if (!outcome.rendered) {
      SetVerdict(std::move(outcome.verdict));
      return End();
    }
    for (const std::string& warning : outcome.rendered->warnings) log::Warning(warning, kTrouble);
    rendered_ = *std::move(outcome.rendered);
    base_image_ = view.controller_config->spec.base_os_container_image;
    Store();
  }

  // Ends the job without a change to the verdict.
  void WaitForInputs() {
    renderer_.listener_.retry_later();
    renderer_.Finish(pool_, std::nullopt);
  }

  void SetVerdict(Verdict verdict) { renderer_.SetVerdict(pool_, std::move(verdict)); }

  bool IsOverridden() const {
    const auto& annotations = rendered_.config.metadata.annotations;
    return api::Find(annotations, api::kOsImageUrlOverriddenAnnotation) != nullptr;
  }

  void Store() {
    renderer_.image_overridden_[pool_] = IsOverridden();
    const std::string& name = rendered_.config.metadata.name;
    outcome_.target = name;
    outcome_.source = rendered_.source;
    outcome_.is_stored = true;
    if (current_ && current_->metadata.name == name) return Compare(*current_);
    OverlaidMirror<WatchedMachineConfig>& configs = renderer_.cluster_.configs();
    configs.Find(name) != nullptr || configs.IsExpected(name) ? ReadStored(std::nullopt) : Create();
  }

  void Create() {
    api::MachineConfig& config = rendered_.config;
    config.api_version = api::kMachineConfigApiVersion;
    config.kind = api::MachineConfig::kKind;
    renderer_.cluster_.configs().Expect(config.metadata.name);
    call_ = client_.Create<api::MachineConfig>(config,
                                               [this](const Result<api::MachineConfig>& created) { Created(created); });
  }

  void Created(const Result<api::MachineConfig>& created) {
    if (!created) {
      renderer_.cluster_.configs().ExpectNoMore(rendered_.config.metadata.name);
      // Another writer may have created the same config.  But a server may also answer "conflict" for other reasons.
      const bool may_be_there = created.error().kind() == ErrorKind::kConflict;
      return may_be_there ? ReadStored(created.error()) : Fail(created.error());
    }
    if (!HasSameSpec(*created, rendered_.config)) return FailUnkept("creating", *created);
    outcome_.version = created->metadata.resource_version;
    const api::MachineConfigPool* const pool = renderer_.cluster_.pools().Find(pool_);
    if (pool == nullptr) return End();
    AnnounceCreated(*pool, *created);
    Retarget();
  }

  // Reads the config that the cluster has under the name of the rendered config.  The rendered config must not become a
  // target if it is not stored, or if its name is used for other contents.  If the cluster has no such config, fails
  // with `refusal`, or creates the config if `refusal` is not set.
  void ReadStored(std::optional<Error> refusal) {
    const std::string& name = rendered_.config.metadata.name;
    renderer_.cluster_.configs().Expect(name);
    call_ = client_.Get<api::MachineConfig>(
        {"", name}, [this, refusal = std::move(refusal)](const Result<api::MachineConfig>& stored) {
          if (stored) return Compare(*stored);
          renderer_.cluster_.configs().ExpectNoMore(rendered_.config.metadata.name);
          if (stored.error().kind() != ErrorKind::kNotFound) return Fail(stored.error());
          refusal ? Fail(*refusal) : Create();
        });
  }

  void Compare(const api::MachineConfig& stored) {
    outcome_.version = stored.metadata.resource_version;
    if (!HasSameSpec(stored, rendered_.config)) return Restore(stored);
    const std::string& release = rendered_.config.metadata.Annotation(api::kReleaseImageVersionAnnotation);
    const bool is_of_release =
        release.empty() || stored.metadata.Annotation(api::kReleaseImageVersionAnnotation) == release;
    is_of_release ? Retarget() : NoteRelease(stored, release);
  }

  // A new release may render the same config.  An upgrade of the cluster waits until the config names the release.
  void NoteRelease(const api::MachineConfig& stored, const std::string& release) {
    json::Value patch;
    patch["metadata"]["resourceVersion"] = stored.metadata.resource_version;
    patch["metadata"]["annotations"][api::kReleaseImageVersionAnnotation] = release;
    call_ = client_.Patch<api::MachineConfig>(
        {"", stored.metadata.name}, kube::MergePatch{std::move(patch)},
        [this, release](const Result<api::MachineConfig>& noted) {
          if (!noted) return NotWritten(noted.error());
          const bool is_kept = noted->metadata.Annotation(api::kReleaseImageVersionAnnotation) == release;
          if (!is_kept) return FailUnkept("patching", *noted);
          outcome_.version = noted->metadata.resource_version;
          Retarget();
        });
  }

  void AnnounceCreated(const api::MachineConfigPool& pool, const api::MachineConfig& created) const {
    const api::ObjectMeta& metadata = created.metadata;
    if (IsOverridden()) {
      renderer_.announcer_.Emit(created, EventKind::kNormal, "OSImageURLOverridden",
                                fmt::format("OSImageURL was overridden via machineconfig in {} (was: {} is: {})",
                                            metadata.name, base_image_, created.spec.os_image_url));
    }
    renderer_.announcer_.Emit(pool, EventKind::kNormal, "RenderedConfigGenerated",
                              fmt::format("{} successfully generated (release version: {}, controller version: {})",
                                          metadata.name, metadata.Annotation(api::kReleaseImageVersionAnnotation),
                                          metadata.Annotation(api::kGeneratedByControllerVersionAnnotation)));
  }

  void Restore(const api::MachineConfig& changed) {
    call_ = client_.Patch<api::MachineConfig>(
        {"", changed.metadata.name}, kube::JsonPatch{RenderedSpecPatch(changed, rendered_.config)},
        [this](const Result<api::MachineConfig>& restored) {
          if (!restored) return NotWritten(restored.error());
          if (!HasSameSpec(*restored, rendered_.config)) return FailUnkept("patching", *restored);
          outcome_.version = restored->metadata.resource_version;
          log::Warning(fmt::format("{} had been changed; its spec was restored", restored->metadata.name), kTarget,
                       {{"PINTLE_POOL", pool_}});
          Retarget();
        });
  }

  void Retarget() {
    const api::MachineConfigPool* const pool = renderer_.cluster_.pools().Find(pool_);
    if (pool == nullptr) return End();
    if (IsTarget(*pool, rendered_)) return Succeed();
    renderer_.backoff_.MustReadFirst({kRender, pool_}) ? ReadFirst() : SetTarget(*pool);
  }

  // Reads the pool before its target is set, because another client changes the pool again and again.
  void ReadFirst() {
    ReadPool([this] {
      const View view = renderer_.cluster_.Look();
      const api::MachineConfigPool* const pool = view.PoolNamed(pool_);
      if (pool == nullptr) return End();
      const bool is_of_present_inputs =
          GatherRenderInputs(*pool, view, renderer_.versions_, renderer_.maker_).key == outcome_.key;
      is_of_present_inputs ? Retarget() : renderer_.Finish(pool_, std::nullopt);
    });
  }

  void SetTarget(const api::MachineConfigPool& pool) {
    const auto now = renderer_.dates_targets_ ? std::optional(renderer_.clock_.Wall()) : std::nullopt;
    call_ = client_.Patch<api::MachineConfigPool>(
        {"", pool_}, kube::MergePatch{ConfigurationPatch(pool, rendered_, now)},
        [this, version = pool.metadata.resource_version](Result<api::MachineConfigPool>&& retargeted) {
          Retargeted(retargeted, version);
        });
  }

  void Retargeted(Result<api::MachineConfigPool>& pool, const std::string& version) {
    if (!pool) return NotRetargeted(pool.error(), version);
    if (!IsTarget(*pool, rendered_)) return FailUnkept("patching", *pool);
    const std::string& name = rendered_.config.metadata.name;
    log::Notice(fmt::format("Pool {}: now targeting: {}", pool_, name), kTarget,
                {{"PINTLE_POOL", pool_}, {"PINTLE_CONFIG", name}});
    renderer_.cluster_.StoreAnswer(std::move(*pool));
    renderer_.listener_.retargeted(pool_);
    Succeed();
  }

  void NotRetargeted(const Error& error, const std::string& version) {
    error.kind() == ErrorKind::kConflict ? ReadAgain(error, version) : Fail(error);
  }

  // Somebody else has changed the pool, perhaps also its target, so the pool is read again.
  void ReadAgain(const Error& conflict, const std::string& version) {
    ReadPool([this, conflict, version] {
      const api::MachineConfigPool* const pool = renderer_.cluster_.pools().Find(pool_);
      const bool is_changed = pool == nullptr || pool->metadata.resource_version != version;
      is_changed ? RenderAgain(conflict) : Fail(conflict);
    });
  }

  // Puts the pool's present version into the mirror.
  void ReadPool(std::function<void()> then) {
    const api::MachineConfigPool* const known = renderer_.cluster_.pools().Find(pool_);
    const std::string before = known == nullptr ? "" : known->metadata.resource_version;
    call_ = client_.Get<api::MachineConfigPool>(
        {"", pool_}, [this, before, then = std::move(then)](Result<api::MachineConfigPool>&& pool) {
          if (!pool) return Fail(pool.error());
          Cluster& cluster = renderer_.cluster_;
          const bool is_older = IsLater(before, pool->metadata.resource_version);
          is_older ? cluster.StoreOlderAnswer(std::move(*pool)) : cluster.StoreAnswer(std::move(*pool));
          then();
        });
  }

  void NotWritten(const Error& error) { error.kind() == ErrorKind::kConflict ? RenderAgain(error) : Fail(error); }

  // Ends the job, so that the next look renders again.  It is no failure if somebody else has changed the object first,
  // unless this happens again and again.
  void RenderAgain(const Error& conflict) {
    renderer_.failed_keys_[pool_] = key_;
    if (renderer_.backoff_.CountConflict({kRender, pool_}, renderer_.clock_.Monotonic())) return Fail(conflict);
    renderer_.Finish(pool_, std::nullopt);
  }

  // Fails because the API server has answered a write with an object that is not as it was written.
  template <kube::Resource T>
  void FailUnkept(std::string_view doing, const T& answered) {
    Fail(
        kube::UnkeptError().While(fmt::format("{} {} {}", doing, kube::kResourceKind<T>.kind, answered.metadata.name)));
  }

  void Fail(const Error& error) {
    const MonotonicTime now = renderer_.clock_.Monotonic();
    const int failures = renderer_.backoff_.Failed({kRender, pool_}, now, kube::RetryAfterOf(failure_));
    renderer_.failed_keys_[pool_] = key_;
    if (error.kind() != ErrorKind::kUnavailable || failures > kFailuresBeforeReport) {
      SetVerdict(FailureFor(pool_, error.message()));
    } else {
      renderer_.listener_.trouble(Error(error).While(fmt::format("rendering for pool {}", pool_)));
    }
    renderer_.Finish(pool_, std::nullopt);
  }

  void Succeed() {
    SetVerdict({});
    End();
  }

  void End() {
    renderer_.backoff_.Succeeded({kRender, pool_});
    renderer_.failed_keys_.erase(pool_);
    renderer_.Finish(pool_, std::move(outcome_));
  }

  Renderer& renderer_;
  const std::string pool_;
  const std::string key_;
  const MonotonicTime began_;
  kube::Client client_;
  std::optional<kube::Failure> failure_;       // The failure of the latest call.
  std::optional<api::MachineConfig> current_;  // The pool's target before this job, in full.
  machineconfig::Rendered rendered_;
  std::string base_image_;  // The OS image of the ControllerConfig, for an Event.
  Rendered outcome_;
  kube::Call call_;
};

Renderer::Renderer(event::Loop& loop, kube::Client client, const Clock& clock, Cluster& cluster, Announcer& announcer,
                   Versions versions, bool dates_targets, Listener listener)
    : loop_(loop),
      client_(std::move(client)),
      clock_(clock),
      cluster_(cluster),
      announcer_(announcer),
      versions_(std::move(versions)),
      dates_targets_(dates_targets),
      listener_(std::move(listener)) {}

Renderer::~Renderer() = default;

void Renderer::Look(const View& view, TemplatesMaker maker) {
  maker_ = maker;
  // Pools that have waited come first.  Otherwise, four pools whose inputs change all the time could take all places
  // again and again.
  const pool::PoolNames waited = std::exchange(waiting_, {});
  for (const bool has_waited : {true, false}) {
    for (const api::MachineConfigPool* pool : view.pools) {
      if (waited.contains(pool->metadata.name) == has_waited) LookAt(*pool, view);
    }
  }
}

void Renderer::LookAt(const api::MachineConfigPool& pool, const View& view) {
  const std::string& name = pool.metadata.name;
  if (pool.metadata.deletion_timestamp || rendering_.contains(name)) return;
  RenderInputs inputs = GatherRenderInputs(pool, view, versions_, maker_);
  if (IsUpToDate(pool, inputs.key) || IsHeldBack(name, inputs.key)) return;
  // While nothing can be rendered for the pool, no job is begun, because a job would read the pool's target in vain.
  if (inputs.is_temporary && IsWorthWaiting(name)) {
    waiting_.insert(name);
    return listener_.retry_later();
  }
  if (const auto place_at = NextPlaceAt()) {
    waiting_.insert(name);  // Another look also follows as soon as a job ends.
    return listener_.retry_at(*place_at);
  }
  Begin(pool, std::move(inputs.key));
}

std::optional<MonotonicTime> Renderer::NextPlaceAt() const {
  const MonotonicTime now = clock_.Monotonic();
  std::size_t count = 0;
  auto earliest = MonotonicTime::max();
  for (const auto& [pool, job] : jobs_) {
    if (job->leaves_place() <= now) continue;
    ++count;
    earliest = std::min(earliest, job->leaves_place());
  }
  return count < kJobsAtOnce ? std::nullopt : std::optional(earliest);
}

void Renderer::Refuse(const View& view, const std::string& why) {
  waiting_.clear();
  for (const api::MachineConfigPool* pool : view.pools) {
    const std::string& name = pool->metadata.name;
    if (pool->metadata.deletion_timestamp || rendering_.contains(name)) continue;
    SetVerdict(name, FailureFor(name, why));
    rendered_.erase(name);
  }
}

void Renderer::SetVerdict(const std::string& pool, Verdict verdict) {
  const auto known = verdicts_.find(pool);
  const bool is_news = known == verdicts_.end() || known->second.message != verdict.message;
  if (is_news && !verdict.message.empty()) log::Warning(verdict.message, kRenderFailed, {{"PINTLE_POOL", pool}});
  verdicts_.insert_or_assign(pool, std::move(verdict));
}

bool Renderer::IsWorthWaiting(const std::string& pool) {
  const MonotonicTime now = clock_.Monotonic();
  return now < waiting_since_.try_emplace(pool, now).first->second + kWaitForInputs;
}

pool::PoolNames Renderer::rendering() const {
  pool::PoolNames all = rendering_;
  all.insert(waiting_.begin(), waiting_.end());
  return all;
}

bool Renderer::IsHeldBack(const std::string& pool, const std::string& key) {
  const auto failed = failed_keys_.find(pool);
  if (failed == failed_keys_.end() || failed->second != key) return false;
  const auto due = backoff_.DueAt({kRender, pool}, clock_.Monotonic());
  if (due) listener_.retry_at(*due);
  return due.has_value();
}

bool Renderer::IsUpToDate(const api::MachineConfigPool& pool, const std::string& key) const {
  const auto found = rendered_.find(pool.metadata.name);
  if (found == rendered_.end() || found->second.key != key) return false;
  const Rendered& last = found->second;
  const api::PoolConfiguration& target = pool.spec.configuration;
  if (target.name != last.target || !json::Equal(target.source, last.source)) return false;
  if (!last.is_stored || cluster_.configs().IsExpected(last.target)) return true;
  // Somebody may have changed or removed the rendered config.
  const WatchedMachineConfig* const config = cluster_.configs().Find(last.target);
  return config != nullptr && !IsLater(config->metadata.resource_version, last.version);
}

void Renderer::Begin(const api::MachineConfigPool& pool, std::string key) {
  const std::string& name = pool.metadata.name;
  rendering_.insert(name);
  const auto job = std::make_shared<Job>(*this, name, std::move(key));
  jobs_[name] = job;
  job->Begin(pool.spec.configuration.name);
}

void Renderer::Finish(const std::string& pool, std::optional<Rendered> outcome) {
  // The job has called this function and owns the string `pool`, so the job is kept until this function ends.
  const auto job = jobs_.extract(pool);
  rendering_.erase(job.key());
  if (outcome) {
    rendered_.insert_or_assign(job.key(), *std::move(outcome));
  } else {
    rendered_.erase(job.key());
  }
  listener_.finished();
}

void Renderer::Stop() {
  jobs_.clear();
  rendering_.clear();
  rendered_.clear();
  image_overridden_.clear();
  verdicts_.clear();
  backoff_.Clear();
  failed_keys_.clear();
  waiting_.clear();
  waiting_since_.clear();
}

}  // namespace pintle::controller
