// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_check.h"

#include <fmt/core.h>

#include <chrono>
#include <utility>

#include "api/annotations.h"
#include "controller/default_pools.h"
#include "controller/rollout_pass.h"
#include "controller/rosters.h"
#include "pool/status.h"

namespace pintle::controller {
namespace {

class TakeoverChecker {
 public:
  TakeoverChecker(const TakeoverEvidence& evidence, const TakeoverSettings& settings, WallTime now)
      : evidence_(evidence), view_(evidence.view), state_(evidence.state), settings_(settings), now_(now) {}

  std::vector<TakeoverFinding> Check() && {
    CheckReadable();
    CheckControllerConfig();
    CheckPools();
    CheckNodes();
    CheckReplicas();
    CheckFeatures();
    if (state_.cluster_version) {
      Add(Weight::kPrice,
          "while the ClusterVersion has an override, the cluster gets no new minor version (Upgradeable is False)");
    }
    return std::move(findings_);
  }

 private:
  void Add(Weight weight, std::string text) { findings_.push_back({weight, std::move(text)}); }

  void CheckReadable() {
    if (view_.controller_config == nullptr) Add(Weight::kObstacle, "there is no ControllerConfig");
    if (!view_.unreadable_settings.empty()) Add(Weight::kObstacle, view_.unreadable_settings);
    for (const auto& [pool, why] : view_.held_pools) {
      Add(Weight::kObstacle, fmt::format("pool {}: {}", pool, why));
    }
    for (const auto& config : view_.unreadable_configs) Add(Weight::kObstacle, config.why);
    for (const api::MachineConfigPool& pool : MissingPools(view_)) {
      Add(Weight::kObstacle, fmt::format("pool {} does not exist and would be created", pool.metadata.name));
    }
  }

  // Makes the ControllerConfig as Pintle would, and compares its fields.
  void CheckControllerConfig() {
    if (evidence_.sources == nullptr || evidence_.controller_config == nullptr) return;
    const clusterops::ControllerConfigDraft draft = clusterops::DraftControllerConfig(*evidence_.sources);
    for (const std::string& problem : draft.problems) {
      Add(Weight::kObstacle, fmt::format("the ControllerConfig: {}", problem));
    }
    const json::Value made = clusterops::MergedControllerConfig(*evidence_.controller_config, draft.spec);
    for (const auto& [field, value] : made.members()) {
      if (value == (*evidence_.controller_config)[field]) continue;
      Add(Weight::kObstacle, fmt::format("the ControllerConfig: spec.{} would change", field));
    }
  }

  // Renders for each pool as Pintle would, and compares the name.
  void CheckPools() {
    for (const api::MachineConfigPool* pool : view_.pools) {
      const std::string& name = pool->metadata.name;
      const RenderInputs inputs = GatherFor(*pool, view_, {});
      const RenderOutcome outcome =
          inputs.refusal ? RenderOutcome{.verdict = *inputs.refusal, .rendered = {}} : RenderPass(inputs, nullptr);
      const std::string& target = pool->spec.configuration.name;
      if (!outcome.rendered) {
        Add(Weight::kObstacle, fmt::format("pool {}: nothing can be rendered: {}", name, outcome.verdict.message));
      } else if (outcome.rendered->config.metadata.name != target) {
        Add(Weight::kObstacle,
            fmt::format("pool {}: its target would become {} (now {})", name, outcome.rendered->config.metadata.name,
                        target.empty() ? "there is none" : target));
      }
      verdicts_[name] = outcome.verdict;
      if (!pool->spec.paused && !pool::IsTrue(pool->status.conditions, "Updated")) {
        Add(Weight::kObstacle, fmt::format("pool {} is not updated yet; wait until its nodes have its config", name));
      }
    }
  }

  void CheckNodes() {
    for (const api::Node* node : view_.nodes) {
      const api::ObjectMeta& metadata = node->metadata;
      if (metadata.Annotation(api::kDesiredDrainAnnotation) != metadata.Annotation(api::kLastAppliedDrainAnnotation)) {
        Add(Weight::kObstacle, fmt::format("node {} is being drained or uncordoned", metadata.name));
      }
    }
    const pool::NodeNames none;
    const Rosters rosters = MakeRosters(view_);
    const Changes changes = RolloutPass({.view = view_,
                                         .rosters = rosters,
                                         .verdicts = verdicts_,
                                         .skipped = none,
                                         .undrainable = none,
                                         .features = {},
                                         .now = api::Time{std::chrono::floor<std::chrono::seconds>(now_)}});
    for (const NodeChange& change : changes.nodes) {
      if (change.target_text.empty()) {
        Add(Weight::kPrice, fmt::format("node {}: its labels or taints would be corrected", change.node));
      } else {
        Add(Weight::kObstacle, fmt::format("node {} would get {}", change.node, change.target_text));
      }
    }
  }

  void CheckReplicas() {
    const std::string ours = fmt::format("{}/{}", settings_.own_namespace, settings_.own_deployment);
    if (!state_.ours) return Add(Weight::kObstacle, fmt::format("there is no Deployment {}", ours));
    const json::Value* const ready = state_.ours->status.Find("readyReplicas");
    if (ready == nullptr || !ready->is_integer() || ready->integer() == 0) {
      Add(Weight::kObstacle, fmt::format("no replica of the Deployment {} is ready", ours));
    }
    if (!state_.operators && !state_.controller) {
      Add(Weight::kObstacle,
          fmt::format("namespace {} has neither the operator nor its controller: there is nothing to "
                      "take over",
                      settings_.namespace_name));
    }
  }

  void CheckFeatures() {
    for (const api::MachineOSConfig& config : view_.os_configs) {
      Add(Weight::kPrice,
          fmt::format("MachineOSConfig {}: no new image is built; the one that is built stays", config.metadata.name));
    }
    for (const std::string& feature : evidence_.unsupported) Add(Weight::kPrice, feature);
  }

  const TakeoverEvidence& evidence_;
  const View& view_;
  const TakeoverState& state_;
  const TakeoverSettings& settings_;
  const WallTime now_;
  Verdicts verdicts_;
  std::vector<TakeoverFinding> findings_;
};

}  // namespace

std::vector<TakeoverFinding> CheckTakeover(const TakeoverEvidence& evidence, const TakeoverSettings& settings,
                                           WallTime now) {
  return TakeoverChecker(evidence, settings, now).Check();
}

}  // namespace pintle::controller
