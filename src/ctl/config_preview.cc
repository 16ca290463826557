// SPDX-License-Identifier: Apache-2.0
#include "ctl/config_preview.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/output.h"
#include "controller/render_pass.h"
#include "controller/trial_cluster.h"
#include "ctl/faults.h"
#include "ctl/generate_input.h"
#include "machineconfig/objects.h"

namespace pintle::ctl {
namespace {

using controller::TrialCluster;
using controller::TrialKind;

// Objects of these kinds also act through templates, and the preview has no templates.
constexpr std::array<std::string_view, 3> kTemplateInputs = {"APIServer", "ControllerConfig", "Secret"};

bool IsTemplateInput(std::string_view kind) {
  return std::find(kTemplateInputs.begin(), kTemplateInputs.end(), kind) != kTemplateInputs.end();
}

// Copies the objects of the cluster into memory, but no Secrets: only templates need these.
Result<TrialCluster> CopyOf(LiveCluster& cluster) {
  TrialCluster copy;
  for (const TrialKind& kind : controller::TrialKinds()) {
    if (kind.resource.kind == "Secret") continue;
    const auto put = [&](json::Value object) -> Result<> {
      object["kind"] = kind.resource.kind;  // The API server leaves the kind out of the objects in a list.
      TRY(kind.check(object));
      // A status that the controllers have written earlier must not be taken for a result of this run.  The status of
      // the ControllerConfig is kept: without it, the controllers wait for the templates' configs and render nothing.
      if (controller::IsReportedOn(object) && !IsTemplateInput(kind.resource.kind)) object.Erase("status");
      copy.Put(std::move(object));
      return {};
    };
    TRY(cluster.ForEach(kind.resource, {}, put, ConfigBodies::kRead));
  }
  return copy;
}

// Returns the object that the cluster would have after `object` was applied.  `existing` is null if the cluster has no
// object of this name yet.
json::Value Applied(const json::Value* existing, json::Value object) {
  if (existing == nullptr) {
    json::Value& metadata = object["metadata"];
    metadata["uid"] = "new";
    metadata["creationTimestamp"] = ToRfc3339(SystemClock().Wall());
    object.Erase("status");
    return object;
  }
  json::Value applied = *existing;
  for (auto& [key, member] : object.members()) {
    if (key != "metadata" && key != "status") applied[key] = std::move(member);
  }
  for (const std::string_view key : {"labels", "annotations"}) {
    const json::Value* const wanted = object.Find({"metadata", key});
    if (wanted == nullptr || !wanted->is_object()) continue;
    for (const auto& [name, value] : wanted->members()) applied["metadata"][key][name] = value;
  }
  // The controllers write spec.configuration of a pool, so a manifest without this part does not remove the part.
  const json::Value* const target = existing->Find({"spec", "configuration"});
  if (target != nullptr && !applied["spec"].contains("configuration")) applied["spec"]["configuration"] = *target;
  return applied;
}

// The files of the applied objects.  The keys are "KIND NAME" or "KIND NAMESPACE/NAME".
using AppliedFiles = std::map<std::string, std::string>;

std::string TitleOf(std::string_view kind, std::string_view name) { return fmt::format("{} {}", kind, name); }

Result<> ApplyManifest(Manifest manifest, TrialCluster& cluster, AppliedFiles& files) {
  const std::string place = PlaceOf(manifest);
  const TrialKind* const kind = controller::FindTrialKind(manifest.object);
  if (kind == nullptr) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("{}: no config of a node depends on such an object; give KubeletConfigs, MachineConfigs, "
                             "mirrors and the like",
                             place));
  }
  if (IsTemplateInput(kind->resource.kind)) {
    return Error(
        ErrorKind::kInvalid,
        fmt::format(
            "{}: an object of this kind acts through templates, which are not in the cluster; use `pintle generate "
            "--templates DIR`",
            place));
  }
  TRY(kind->check(manifest.object), place);
  const std::string name = manifest.object.TextAt({"metadata", "name"});
  const std::string namespace_name = manifest.object.TextAt({"metadata", "namespace"});
  if (name.empty()) return Error(ErrorKind::kInvalid, fmt::format("{}: has no name; set metadata.name", place));
  files.insert_or_assign(TitleOf(kind->resource.kind, controller::FullNameOf(manifest.object)), manifest.file);
  const bool has_namespace = kind->resource.scope == kube::Scope::kNamespaced;
  cluster.Put(Applied(cluster.Find(kind->resource.kind, has_namespace ? namespace_name : "", name),
                      std::move(manifest.object)));
  return {};
}

Result<AppliedFiles> ApplyFiles(std::span<const std::string> files, TrialCluster& cluster) {
  ManifestFiles read = ReadManifestFiles(files);
  for (const std::string& entry : read.left_out) PrintToStderr(fmt::format("pintle: diff: left out: {}\n", entry));
  Faults faults;
  faults.Collect(std::move(read.faults));
  AppliedFiles applied;
  for (Manifest& manifest : read.manifests) {
    auto put = ApplyManifest(std::move(manifest), cluster, applied);
    if (!put) faults.Collect(std::vector{std::move(put).error()});
  }
  if (!faults.is_empty()) return std::move(faults).All();
  return applied;
}

// Runs the controllers until they have made their configs.  If they refuse an object of one of the `files`, returns an
// error.
Result<> Settle(TrialCluster& cluster, const AppliedFiles& files) {
  const controller::TrialOutcome outcome = TRY(cluster.Settle(
      {.templates = nullptr, .versions = {}, .now = std::chrono::floor<std::chrono::seconds>(SystemClock().Wall())}));
  for (const controller::GenerateProblem& problem : outcome.problems) {
    PrintToStderr(fmt::format("pintle: diff: {}: {}\n", problem.what, problem.why));
  }
  Faults refusals;
  for (const controller::ObjectProblem& problem : cluster.Problems()) {
    const std::string title = TitleOf(problem.kind, problem.name);
    const auto file = files.find(title);
    if (file == files.end()) {
      PrintToStderr(fmt::format("pintle: diff: {}: {}\n", title, problem.message));
    } else {
      refusals.Collect(
          std::vector{Error(ErrorKind::kInvalid, fmt::format("{}: {}: {}", file->second, title, problem.message))});
    }
  }
  if (!refusals.is_empty()) return std::move(refusals).All();
  return {};
}

// Returns the config that the controllers render for a pool.
Result<api::MachineConfig> NextConfigOf(const std::string& pool_name, const controller::View& view) {
  const api::MachineConfigPool* const pool = view.PoolNamed(pool_name);
  if (pool == nullptr) {
    std::vector<std::string> names;
    for (const api::MachineConfigPool* known : view.pools) names.push_back(known->metadata.name);
    return Error(ErrorKind::kNotFound,
                 fmt::format("the cluster has no pool {}; its pools are {}", pool_name, fmt::join(names, ", ")));
  }
  // Without a current config, RenderPass() accepts a config to which the nodes cannot change; the diff reports that.
  controller::RenderOutcome outcome = controller::RenderPass(controller::GatherRenderInputs(*pool, view, {}), nullptr);
  if (!outcome.rendered) return Error(ErrorKind::kInvalid, std::move(outcome.verdict.message));
  return std::move(outcome.rendered->config);
}

}  // namespace

Result<ConfigPair> PreviewConfigs(LiveCluster& cluster, const std::string& pool, std::span<const std::string> files) {
  TrialCluster copy = TRY(CopyOf(cluster));
  const AppliedFiles applied = TRY(ApplyFiles(files, copy));
  TRY(Settle(copy, applied));
  const controller::TrialObjects objects = copy.Look();
  ConfigPair configs;
  configs.next = TRY(NextConfigOf(pool, objects.view));
  const api::MachineConfigPool& found = *objects.view.PoolNamed(pool);
  const std::string& reported = found.status.configuration.name;
  const std::string& current = reported.empty() ? found.spec.configuration.name : reported;
  if (current.empty()) {
    return Error(ErrorKind::kInvalid, fmt::format("pool {}: nothing was rendered for its nodes yet", pool));
  }
  configs.current = TRY(cluster.Get<api::MachineConfig>(current), fmt::format("MachineConfig {}", current));
  return configs;
}

}  // namespace pintle::ctl
