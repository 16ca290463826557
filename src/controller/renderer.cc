// SPDX-License-Identifier: Apache-2.0
#include "controller/renderer.h"

#include <fmt/core.h>

#include <memory>
#include <optional>
#include <utility>

#include "controller/events.h"
#include "event/loop.h"
#include "json/fields.h"

namespace pintle::controller {
namespace {

using kube::EventKind;

// How long inputs that are on their way may take before the pool is said to be degraded.
constexpr auto kWaitForInputs = std::chrono::minutes(1);

json::Value ConfigurationPatch(const api::MachineConfigPool& pool, const machineconfig::Rendered& rendered) {
  return {{"metadata", {{"resourceVersion", pool.metadata.resource_version}}},
          {"spec",
           {{"configuration", {{"name", rendered.config.metadata.name}, {"source", json::Encode(rendered.source)}}}}}};
}

json::Value SpecPatch(const api::MachineConfig& found, const api::MachineConfig& wanted) {
  return json::Value::array(
      {{{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", found.metadata.resource_version}},
       {{"op", "replace"}, {"path", "/spec"}, {"value", json::Encode(wanted.spec)}}});
}

bool IsTarget(const api::MachineConfigPool& pool, const machineconfig::Rendered& rendered) {
  return pool.spec.configuration.name == rendered.config.metadata.name &&
         json::Equal(pool.spec.configuration.source, rendered.source);
}

}  // namespace

// One pool, from its configs to its target.
class Renderer::Job : public std::enable_shared_from_this<Job> {
 public:
  Job(Renderer& renderer, std::string pool) : renderer_(renderer), pool_(std::move(pool)) {}

  // What the nodes have now is read in full: the new config must be one that they can get to.
  void Begin(const std::string& current) {
    const bool is_known = !current.empty() && renderer_.cluster_.configs().Find(current) != nullptr;
    if (!is_known) {
      // From the loop: several pools are rendered one after the other, and others have their turn between them.
      return renderer_.loop_.Post([weak = weak_from_this()] {
        if (const auto alive = weak.lock()) alive->Render();
      });
    }
    call_ = renderer_.client_.Get<api::MachineConfig>({"", current},
                                                      [this](Result<api::MachineConfig>&& found) { Found(found); });
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
    const RenderInputs inputs = GatherFor(*pool, view, renderer_.versions_);
    if (inputs.is_passing && renderer_.IsWorthWaiting(pool_)) return WaitForInputs();
    renderer_.waiting_since_.erase(pool_);
    done_ = {.key = inputs.key,
             .target = pool->spec.configuration.name,
             .source = pool->spec.configuration.source,
             .is_stored = false,
             .version = ""};
    RenderOutcome outcome = RenderPass(inputs, current_ ? &*current_ : nullptr);
    Judge(std::move(outcome.verdict));
    if (!outcome.rendered) return End();
    for (const std::string& warning : outcome.rendered->warnings) log::Warning(warning, kTrouble);
    rendered_ = *std::move(outcome.rendered);
    base_image_ = view.controller_config->spec.base_os_container_image;
    Store(*pool);
  }

  // The verdict stays what it is.
  void WaitForInputs() {
    renderer_.listener_.retry_later();
    renderer_.Finish(pool_, std::nullopt);
  }

  // Says a failure once, and as long as it lasts in the pool's condition.
  void Judge(Verdict verdict) {
    const auto known = renderer_.verdicts_.find(pool_);
    const bool is_news = known == renderer_.verdicts_.end() || known->second.message != verdict.message;
    if (is_news && !verdict.message.empty()) log::Warning(verdict.message, kRenderFailed, {{"PINTLE_POOL", pool_}});
    renderer_.verdicts_.insert_or_assign(pool_, std::move(verdict));
  }

  bool IsOverridden() const {
    const auto& annotations = rendered_.config.metadata.annotations;
    return api::Find(annotations, api::kOsImageUrlOverriddenAnnotation) != nullptr;
  }

  void Store(const api::MachineConfigPool& pool) {
    renderer_.image_overridden_[pool_] = IsOverridden();
    const std::string& name = rendered_.config.metadata.name;
    const WatchedMachineConfig* const known = renderer_.cluster_.configs().Find(name);
    const bool is_current = current_ && current_->metadata.name == name;
    const bool is_there = known != nullptr || renderer_.created_.contains(name);
    done_.target = name;
    done_.source = rendered_.source;
    done_.is_stored = true;
    done_.version = is_current ? current_->metadata.resource_version : known ? known->metadata.resource_version : "";
    if (is_current && !HasSameSpec(*current_, rendered_.config)) return Restore();
    if (is_current || is_there) return Retarget(pool);
    Create();
  }

  void Create() {
    api::MachineConfig& config = rendered_.config;
    config.api_version = api::kMachineConfigApiVersion;
    config.kind = api::MachineConfig::kKind;
    call_ = renderer_.client_.Create<api::MachineConfig>(
        config, [this](const Result<api::MachineConfig>& created) { Created(created); });
  }

  void Created(const Result<api::MachineConfig>& created) {
    // Who was faster has made the same: the name says so.
    const bool is_refused = !created && created.error().kind() != ErrorKind::kConflict;
    if (is_refused) return Fail(created.error());
    renderer_.created_.insert(rendered_.config.metadata.name);
    if (created) done_.version = created->metadata.resource_version;
    const api::MachineConfigPool* const pool = renderer_.cluster_.pools().Find(pool_);
    if (pool == nullptr) return End();
    if (created) AnnounceCreated(*pool, *created);
    Retarget(*pool);
  }

  void AnnounceCreated(const api::MachineConfigPool& pool, const api::MachineConfig& created) const {
    const api::ObjectMeta& metadata = created.metadata;
    if (IsOverridden()) {
      renderer_.announcer_.About(created, EventKind::kNormal, "OSImageURLOverridden",
                                 fmt::format("OSImageURL was overridden via machineconfig in {} (was: {} is: {})",
                                             metadata.name, base_image_, created.spec.os_image_url));
    }
    renderer_.announcer_.About(pool, EventKind::kNormal, "RenderedConfigGenerated",
                               fmt::format("{} successfully generated (release version: {}, controller version: {})",
                                           metadata.name, metadata.Annotation(api::kReleaseImageVersionAnnotation),
                                           metadata.Annotation(api::kGeneratedByControllerVersionAnnotation)));
  }

  void Restore() {
    log::Warning(fmt::format("{} was changed, and is put back", current_->metadata.name), kTarget,
                 {{"PINTLE_POOL", pool_}});
    call_ = renderer_.client_.Patch<api::MachineConfig>(
        {"", current_->metadata.name}, kube::JsonPatch{SpecPatch(*current_, rendered_.config)},
        [this](const Result<api::MachineConfig>& restored) {
          if (!restored) return Fail(restored.error());
          done_.version = restored->metadata.resource_version;
          const api::MachineConfigPool* const pool = renderer_.cluster_.pools().Find(pool_);
          return pool == nullptr ? End() : Retarget(*pool);
        });
  }

  void Retarget(const api::MachineConfigPool& pool) {
    if (IsTarget(pool, rendered_)) return End();
    call_ = renderer_.client_.Patch<api::MachineConfigPool>(
        {"", pool_}, kube::MergePatch{ConfigurationPatch(pool, rendered_)},
        [this](Result<api::MachineConfigPool>&& retargeted) { Retargeted(retargeted); });
  }

  void Retargeted(Result<api::MachineConfigPool>& pool) {
    if (!pool) return NotRetargeted(pool.error());
    const std::string& name = rendered_.config.metadata.name;
    log::Notice(fmt::format("Pool {}: now targeting: {}", pool_, name), kTarget,
                {{"PINTLE_POOL", pool_}, {"PINTLE_CONFIG", name}});
    renderer_.cluster_.Put(std::move(*pool));
    renderer_.listener_.retargeted(pool_);
    End();
  }

  void NotRetargeted(const Error& error) { error.kind() == ErrorKind::kConflict ? ReadAgain() : Fail(error); }

  // The pool was changed by somebody else, and may want something else now.
  void ReadAgain() {
    call_ = renderer_.client_.Get<api::MachineConfigPool>({"", pool_}, [this](Result<api::MachineConfigPool>&& pool) {
      if (!pool) return Fail(pool.error());
      renderer_.cluster_.Put(std::move(*pool));
      renderer_.Finish(pool_, std::nullopt);
    });
  }

  void Fail(const Error& error) {
    renderer_.listener_.trouble(Error(error).While(fmt::format("rendering for pool {}", pool_)));
    renderer_.listener_.retry_later();
    renderer_.Finish(pool_, std::nullopt);
  }

  void End() { renderer_.Finish(pool_, std::move(done_)); }

  Renderer& renderer_;
  const std::string pool_;
  std::optional<api::MachineConfig> current_;
  machineconfig::Rendered rendered_;
  std::string base_image_;
  Rendered done_;
  kube::Call call_;
};

Renderer::Renderer(event::Loop& loop, kube::Client client, Cluster& cluster, Announcer& announcer, Versions versions,
                   Listener listener)
    : loop_(loop),
      client_(std::move(client)),
      cluster_(cluster),
      announcer_(announcer),
      versions_(std::move(versions)),
      listener_(std::move(listener)) {}

Renderer::~Renderer() = default;

void Renderer::Look(const View& view) {
  std::erase_if(created_, [&](const std::string& name) { return cluster_.configs().Find(name) != nullptr; });
  waiting_.clear();
  for (const api::MachineConfigPool* pool : view.pools) {
    if (pool->metadata.deletion_timestamp || rendering_.contains(pool->metadata.name)) continue;
    const RenderInputs inputs = GatherFor(*pool, view, versions_);
    if (IsUpToDate(*pool, inputs.key)) continue;
    // There is nothing to be read for what cannot be rendered yet.
    if (inputs.is_passing && IsWorthWaiting(pool->metadata.name)) {
      waiting_.insert(pool->metadata.name);
      listener_.retry_later();
    } else {
      Begin(*pool);
    }
  }
}

bool Renderer::IsWorthWaiting(const std::string& pool) {
  const MonotonicTime now = std::chrono::steady_clock::now();
  return now < waiting_since_.try_emplace(pool, now).first->second + kWaitForInputs;
}

pool::NodeNames Renderer::rendering() const {
  pool::NodeNames all = rendering_;
  all.insert(waiting_.begin(), waiting_.end());
  return all;
}

bool Renderer::IsUpToDate(const api::MachineConfigPool& pool, const std::string& key) const {
  const auto found = rendered_.find(pool.metadata.name);
  if (found == rendered_.end() || found->second.key != key) return false;
  const Rendered& last = found->second;
  const api::PoolConfiguration& target = pool.spec.configuration;
  if (target.name != last.target || !json::Equal(target.source, last.source)) return false;
  if (!last.is_stored || created_.contains(last.target)) return true;
  // Somebody may have changed or removed what was rendered.
  const WatchedMachineConfig* const config = cluster_.configs().Find(last.target);
  return config != nullptr && !IsLater(config->metadata.resource_version, last.version);
}

void Renderer::Begin(const api::MachineConfigPool& pool) {
  const std::string& name = pool.metadata.name;
  rendering_.insert(name);
  const auto job = std::make_shared<Job>(*this, name);
  jobs_[name] = job;
  job->Begin(pool.spec.configuration.name);
}

void Renderer::Finish(const std::string& pool, std::optional<Rendered> done) {
  // It is what has called this, and what the name is in.
  const auto job = jobs_.extract(pool);
  rendering_.erase(job.key());
  if (done) {
    rendered_.insert_or_assign(job.key(), *std::move(done));
  } else {
    rendered_.erase(job.key());
  }
  listener_.finished();
}

void Renderer::Stop() {
  jobs_.clear();
  rendering_.clear();
  rendered_.clear();
  verdicts_.clear();
  created_.clear();
  waiting_.clear();
  waiting_since_.clear();
}

}  // namespace pintle::controller
