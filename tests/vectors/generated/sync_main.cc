// SPDX-License-Identifier: Apache-2.0

// Runs the cases of the running controllers over the passes of ours, and compares what the cluster has in the end.
//
// The operator's controllers are triggered one by one, and ours decide until there is nothing left to write.  So only
// the last state of each case is compared.
//
// usage: sync-vectors DIRECTORY

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/version.h"
#include "controller/credential_provider_pass.h"
#include "controller/kubelet_pass.h"
#include "controller/node_settings_pass.h"
#include "controller/registries_pass.h"
#include "controller/runtime_pass.h"
#include "controller/template_pass.h"
#include "generated/tls_settings.h"
#include "machineconfig/objects.h"
#include "vectors/differences.h"
#include "vectors/generated/case_files.h"
#include "vectors/generated/tally.h"

namespace pintle::vectors {
namespace {

using controller::GenerateChanges;

const WallTime kSyncTime = WallTime(std::chrono::seconds(1'800'000'000));

// A case in which the operator's answer is a defect that is not copied.
struct Deliberate {
  std::string reason;
  std::string difference;  // What differs in the end, as RunCase() describes it.
};
const std::map<std::string, Deliberate, std::less<>> kDeliberate = {
    {"ctr-cleanup",
     {"configs without the annotation of a build belong to users",
      "MachineConfig /50-my-generated-containerruntime-thing should not be there; "}},
    {"kubelet-cleanup-of-stale-mcs",
     {"configs without the annotation of a build belong to users",
      "MachineConfig /99-x-generated-kubelet-y should not be there; "}},
    {"ctr-nil-config",
     {"an error where the operator panics",
      "ContainerRuntimeConfig /crc\n"
      R"(  /status: nothing became {"conditions":[{"lastTransitionTime":"NOW","message":"Error: t)"
      "he ContainerRuntimeConfig crc has no spec.containerRuntimeConfig; add one, which may be "
      R"(empty","status":"True","type":"Failure"}],"observedGeneration":1}; )"}},
    {"ctr-existing-mc-no-status-panics",
     {"no panic where an object has no status",
      "ContainerRuntimeConfig /crc\n"
      R"(  /finalizers: nothing became ["99-worker-generated-containerruntime"])"
      "\n"
      R"(  /status: nothing became {"conditions":[{"lastTransitionTime":"NOW","message":"Success")"
      R"(,"status":"True","type":"Success"}]}; MachineConfig /99-worker-generated-containerruntim)"
      "e\n"
      R"(  /ownerReferences: nothing became [{"apiVersion":"machineconfiguration.openshift.io/v1")"
      R"(,"blockOwnerDeletion":true,"controller":true,"kind":"ContainerRuntimeConfig","name":"crc)"
      R"(","uid":"crc-crc-uid"}])"
      "\n"
      R"(  /spec/config/storage: nothing became {"files":[{"contents":{"source":"data:text/plain;)"
      R"(charset=utf-8;base64,W2NyaW9dCiAgW2NyaW8ucnVudGltZV0KICAgIGxvZ19sZXZlbCA9ICJpbmZvIgo="},)"
      R"("mode":420,"overwrite":true,"path":"/etc/crio/crio.conf.d/01-ctrcfg-logLevel"}]}; )"}},
    {"ctr-second-pool-later-is-not-done",
     {"a pool that is selected later gets its config, too",
      "ContainerRuntimeConfig /crc\n"
      R"(  /finalizers/3: nothing became "99-zzz-generated-containerruntime"; MachineConfig /99-z)"
      "zz-generated-containerruntime should not be there; "}},
    {"kubelet-delete-finalizer-is-uid",
     {"a finalizer that has neither the form of a uid nor a config's name may be a user's",
      "KubeletConfig /a\n"
      R"(  /finalizers: nothing became ["uid-77"]; )"}},
    {"node-cgroup-v1",
     {"an unsupported cgroup mode keeps no other config from being made",
      "MachineConfig /98-infra-generated-kubelet should not be there; MachineConfig /98-master-generated-kubelet "
      "should not be there; MachineConfig /98-worker-generated-kubelet should not be there; "}},
    {"template-clears-image-urls-once",
     {"generated configs never keep an image, however often one is set",
      "MachineConfig /99-worker-generated-kubelet\n"
      R"(  /spec: {"osImageURL":"again"} became nothing; )"}},
    {"template-deleted",
     {"each pass decides about the one ControllerConfig, whatever has triggered it",
      "ControllerConfig /machine-config-controller\n"
      R"(  /status/conditions/0/lastTransitionTime: nothing became "NOW")"
      "\n"
      R"(  /status/conditions/0/message: nothing became "sync completed towards (2) generation us)"
      R"(ing controller version VERSION")"
      "\n"
      R"(  /status/conditions/1: nothing became {"lastTransitionTime":"NOW","status":"False","typ)"
      R"(e":"TemplateControllerRunning"})"
      "\n"
      R"(  /status/conditions/2: nothing became {"lastTransitionTime":"NOW","status":"False","typ)"
      R"(e":"TemplateControllerFailing"})"
      "\n"
      "  /status/observedGeneration: 1 became 2; "}},
    {"template-secret-not-json",
     {"the message does not contain the pull secret",
      "ControllerConfig /machine-config-controller\n"
      R"(  /status/conditions/1/message: "failed to syncing towards (2) generation using controll)"
      R"(er version VERSION: couldn't compact pullsecret \"{\": unexpected end of JSON input" bec)"
      R"(ame "failed to syncing towards (2) generation using controller version VERSION: couldn't)"
      " compact pullsecret: not JSON: line 1, column 2: syntax error while parsing object key -"
      R"( unexpected end of input; expected string literal"; )"}},
};

std::string PluralOf(std::string_view kind) {
  static const std::map<std::string, std::string, std::less<>> kPlurals = {
      {"MachineConfig", "machineconfigs"},
      {"KubeletConfig", "kubeletconfigs"},
      {"ContainerRuntimeConfig", "containerruntimeconfigs"},
      {"ControllerConfig", "controllerconfigs"},
      {"ImagePolicy", "imagepolicies"},
      {"CRIOCredentialProviderConfig", "criocredentialproviderconfigs"}};
  const auto found = kPlurals.find(kind);
  return found == kPlurals.end() ? std::string(kind) : found->second;
}

std::string_view KindOf(controller::SourceKind kind) {
  switch (kind) {
    case controller::SourceKind::kControllerConfig:
      return "ControllerConfig";
    case controller::SourceKind::kKubeletConfig:
      return "KubeletConfig";
    case controller::SourceKind::kContainerRuntimeConfig:
      return "ContainerRuntimeConfig";
    case controller::SourceKind::kImagePolicy:
      return "ImagePolicy";
    case controller::SourceKind::kCredentialProviderConfig:
      return "CRIOCredentialProviderConfig";
  }
  return "";
}

// The objects of a case, as an API server keeps them.
class SyncWorld {
 public:
  void Put(json::Value object) {
    json::Value& metadata = object["metadata"];
    metadata["resourceVersion"] = std::to_string(++version_);
    const std::string kind(machineconfig::KindOf(object));
    const std::string name = metadata.TextAt({"namespace"}) + "/" + metadata.TextAt({"name"});
    objects_[kind].insert_or_assign(name, std::move(object));
  }

  bool Has(const std::string& kind) const { return objects_.contains(kind); }

  json::Value& At(std::string_view kind, const std::string& space, const std::string& name) {
    return objects_.at(std::string(kind)).at(space + "/" + name);
  }
  void Remove(const std::string& kind, const std::string& name) { objects_[kind].erase("/" + name); }

  void Patch(std::string_view kind, const std::string& space, const std::string& name, const json::Value& patch) {
    auto now = nlohmann::json::parse(json::ToText(At(kind, space, name)));
    const auto change = nlohmann::json::parse(json::ToText(patch));
    patch.is_array() ? void(now = now.patch(change)) : now.merge_patch(change);
    auto parsed = json::Parse(now.dump());
    if (!parsed) throw std::runtime_error(parsed.error().message());
    Put(*std::move(parsed));
  }

  void Apply(const GenerateChanges& changes) {
    for (const auto& change : changes.sources) {
      Patch(KindOf(change.kind), change.name.namespace_name, change.name.name, change.patch);
    }
    for (const auto& change : changes.configs) {
      if (const auto* patch = std::get_if<json::Value>(&change.how)) {
        Patch("MachineConfig", "", change.name, *patch);
      } else {
        Put(json::Encode(std::get<api::MachineConfig>(change.how)));
      }
    }
    for (const auto& removal : changes.removals) Remove("MachineConfig", removal.name);
  }

  template <typename T>
  std::vector<T> All(const std::string& kind) const {
    std::vector<T> all;
    const auto found = objects_.find(kind);
    if (found == objects_.end()) return all;
    for (const auto& [name, object] : found->second) {
      json::Report report;
      all.push_back(json::Decode<T>(json::Value(object), report));
    }
    return all;
  }

  const std::map<std::string, json::Value>& Documents(const std::string& kind) { return objects_[kind]; }

 private:
  std::map<std::string, std::map<std::string, json::Value>> objects_;  // By kind, and by namespace and name.
  int version_ = 0;
};

template <typename T>
const T* OnlyOne(const std::vector<T>& all) {
  return all.empty() ? nullptr : &all.front();
}

template <typename T>
std::vector<const T*> PointersTo(const std::vector<T>& all) {
  std::vector<const T*> pointers;
  for (const T& object : all) pointers.push_back(&object);
  return pointers;
}

GenerateChanges Decide(const SyncWorld& world, const std::string& what, const generated::TemplateFolder& templates) {
  const auto pools = world.All<api::MachineConfigPool>("MachineConfigPool");
  const auto configs = world.All<api::MachineConfig>("MachineConfig");
  const auto controller_configs = world.All<api::ControllerConfig>("ControllerConfig");
  const auto template_inputs = world.All<controller::TemplateInput>("ControllerConfig");
  const auto kubelet_configs = world.All<api::KubeletConfig>("KubeletConfig");
  const auto runtime_configs = world.All<api::ContainerRuntimeConfig>("ContainerRuntimeConfig");
  const auto gates = world.All<api::FeatureGate>("FeatureGate");
  const auto nodes = world.All<api::NodeSettings>("Node");
  const auto servers = world.All<api::ApiServer>("APIServer");
  const auto images = world.All<api::Image>("Image");
  const auto versions = world.All<controller::ClusterVersion>("ClusterVersion");
  const auto providers = world.All<api::CredentialProviderConfig>("CRIOCredentialProviderConfig");
  const auto secrets = world.All<controller::PullSecret>("Secret");

  controller::View view;
  view.pools = PointersTo(pools);
  view.configs = PointersTo(configs);
  view.controller_config = OnlyOne(controller_configs);
  controller::GeneratedView sources;
  sources.template_input = OnlyOne(template_inputs);
  sources.pull_secret = OnlyOne(secrets);
  sources.kubelet_configs = PointersTo(kubelet_configs);
  sources.runtime_configs = PointersTo(runtime_configs);
  sources.feature_gate = OnlyOne(gates);
  sources.node_settings = OnlyOne(nodes);
  sources.api_server = OnlyOne(servers);
  sources.image = OnlyOne(images);
  sources.cluster_version = OnlyOne(versions);
  sources.credential_providers = OnlyOne(providers);
  sources.content_source_policies = world.All<api::MirrorSet>("ImageContentSourcePolicy");
  sources.digest_sets = world.All<api::MirrorSet>("ImageDigestMirrorSet");
  sources.tag_sets = world.All<api::MirrorSet>("ImageTagMirrorSet");
  sources.cluster_policies = world.All<api::ImagePolicy>("ClusterImagePolicy");
  sources.namespace_policies = world.All<api::ImagePolicy>("ImagePolicy");

  GenerateChanges changes;
  const std::map<std::string, std::string, std::less<>> refused;
  const std::set<std::string, std::less<>> created;
  const controller::GenerateInputs inputs{.view = view,
                                          .sources = sources,
                                          .templates = templates,
                                          .version = "HASH",
                                          .now = kSyncTime,
                                          .refused = refused,
                                          .created = created};
  if (sources.template_input == nullptr) return changes;
  auto settings = controller::KubeletSettingsOf(inputs);
  if (!settings) throw std::runtime_error(settings.error().message());
  const auto is_open = [&](const char* gate) {
    const auto found = settings->feature_gates.find(gate);
    return found != settings->feature_gates.end() && found->second;
  };
  const auto tls = generated::TlsSettingsOf(
      sources.api_server == nullptr ? std::nullopt : sources.api_server->spec.tls_security_profile);
  generated::PoolTemplates for_kubelets(templates, sources.template_input->spec, tls);
  generated::PoolTemplates for_runtime(templates, sources.template_input->spec, {});
  if (what == "kubelet") {
    controller::KubeletPass(inputs, for_kubelets, *settings, changes);
  } else if (what == "ctr") {
    controller::RuntimePass(inputs, for_runtime,
                            is_open("AdditionalStorageConfig") ? generated::AdditionalStores::kUsed
                                                               : generated::AdditionalStores::kLeftAside,
                            changes);
  } else if (what == "image") {
    controller::RegistriesPass(inputs, for_runtime,
                               is_open("SigstoreImageVerification") ? controller::ImageSignatures::kVerified
                                                                    : controller::ImageSignatures::kIgnored,
                               changes);
  } else if (what == "template") {
    controller::TemplatePass(inputs, changes);
  } else if (what == "criocp") {
    controller::CredentialProviderPass(inputs, for_runtime, changes);
  } else if (what == "feature" || what == "node") {
    controller::NodeSettingsPass(inputs, for_kubelets, *settings, changes);
    if (what == "node") controller::KubeletPass(inputs, for_kubelets, *settings, changes);
    std::erase_if(changes.configs,
                  [&](const auto& change) { return what == "feature" && !change.name.starts_with("98"); });
  } else {
    throw std::runtime_error("no such controller: " + what);
  }
  return changes;
}

void Sync(SyncWorld& world, const std::string& what, const generated::TemplateFolder& templates) {
  constexpr int kMostPasses = 10;
  for (int i = 0; i < kMostPasses; ++i) {
    const GenerateChanges changes = Decide(world, what, templates);
    if (changes.is_empty()) return;
    world.Apply(changes);
  }
  throw std::runtime_error("the passes do not come to an end");
}

// Converts an object to the form that the vectors have.
json::Value Shown(const std::string& plural, const json::Value& document) {
  json::Value object = json::Value::object();
  const auto keys = plural == "machineconfigs"
                        ? std::vector<std::string>{"name", "labels", "annotations", "ownerReferences"}
                        : std::vector<std::string>{"name", "namespace", "annotations", "finalizers"};
  for (const std::string& key : keys) {
    const json::Value* const member = document["metadata"].Find(key);
    const bool is_empty = member == nullptr || (member->is_structured() && member->empty());
    if (!is_empty) object[key] = *member;
  }
  const char* const rest = plural == "machineconfigs" ? "spec" : "status";
  if (const json::Value* member = document.Find(rest)) object[rest] = *member;
  std::string text = json::ToText(object);
  const std::pair<std::string, std::string> placeholders[] = {
      {ToRfc3339(kSyncTime), "NOW"}, {"controller version " + std::string(kVersion), "controller version VERSION"}};
  for (const auto& [ours, placeholder] : placeholders) {
    for (std::size_t at; (at = text.find(ours)) != std::string::npos;) text.replace(at, ours.size(), placeholder);
  }
  return *json::Parse(text);
}

// Leaves out members that mean the same as absent ones: null, false, and empty texts, lists and objects.
json::Value WithoutEmpty(const json::Value& value) {
  if (value.is_array()) {
    json::Value list = json::Value::array();
    for (const json::Value& element : value) list.push_back(WithoutEmpty(element));
    return list;
  }
  if (!value.is_object()) return value;
  json::Value object = json::Value::object();
  for (const auto& [key, member] : value.members()) {
    json::Value kept = WithoutEmpty(member);
    const bool is_empty = kept.is_null() || kept == "" || kept == false || (kept.is_structured() && kept.empty());
    if (!is_empty) object[key] = std::move(kept);
  }
  return object;
}

std::string RunCase(const std::filesystem::path& folder, const std::vector<json::Value>& base,
                    const generated::TemplateFolder& templates) {
  SyncWorld world;
  const auto own = DocumentsOf(folder / "in.yaml");
  for (const json::Value& document : own) {
    if (document.is_object()) world.Put(document);
  }
  SyncWorld filled = world;
  for (const json::Value& document : base) {
    if (!world.Has(std::string(machineconfig::KindOf(document)))) filled.Put(document);
  }
  const auto scenario = DocumentsOf(folder / "scenario.yaml");
  for (const json::Value& step : scenario.at(0).at("steps")) {
    if (const json::Value* patch = step.Find("patch")) {
      filled.Patch(patch->TextAt({"kind"}), "", patch->TextAt({"name"}), patch->at("merge"));
    } else if (const json::Value* applied = step.Find("apply")) {
      filled.Put(*applied);
    } else if (const json::Value* deleted = step.Find("deleted")) {
      json::Value& object = filled.At(deleted->TextAt({"kind"}), "", deleted->TextAt({"name"}));
      object["metadata"]["deletionTimestamp"] = ToRfc3339(kSyncTime);
      Sync(filled, "kubelet", templates);
    } else {
      Sync(filled, step.TextAt({"sync"}), templates);
    }
  }
  const json::Value results = JsonOf(folder / "out/result.json");
  const json::Value* expected = nullptr;
  for (const json::Value& result : results) expected = result.Find("objects");
  if (expected == nullptr || !expected->is_object()) return "";
  std::string differences;
  for (const auto& [plural, objects] : expected->members()) {
    for (const std::string kind : {"MachineConfig", "KubeletConfig", "ContainerRuntimeConfig", "ControllerConfig",
                                   "ImagePolicy", "CRIOCredentialProviderConfig"}) {
      if (PluralOf(kind) != plural) continue;
      std::map<std::string, json::Value> wanted;
      if (objects.is_array()) {
        for (const json::Value& object : objects) wanted[object.TextAt({"name"})] = WithoutEmpty(object);
      }
      for (const auto& [name, document] : filled.Documents(kind)) {
        json::Value got = WithoutEmpty(Shown(plural, document));
        const auto found = wanted.extract(document["metadata"].TextAt({"name"}));
        if (found.empty()) {
          differences += fmt::format("{} {} should not be there; ", kind, name);
        } else if (found.mapped() != got) {
          differences += fmt::format("{} {}{}; ", kind, name, Differences(&found.mapped(), &got));
        }
      }
      for (const auto& [name, object] : wanted) differences += fmt::format("{} {} is missing; ", kind, name);
    }
  }
  return differences;
}

int RunSync() {
  const auto templates = generated::TemplateFolder::Read("own-templates");
  if (!templates) throw std::runtime_error(templates.error().message());
  const auto base = DocumentsOf("kubelet/_base.yaml");
  Tally tally("sync");
  for (const std::string& name : NamesIn("sync")) {
    if (!std::filesystem::is_directory("sync/" + name)) continue;
    std::string difference;
    try {
      difference = RunCase("sync/" + name, base, *templates);
    } catch (const std::exception& e) {
      difference = e.what();
    }
    const auto deliberate = kDeliberate.find(name);
    if (deliberate == kDeliberate.end()) {
      tally.Add(name, difference);
    } else {
      const auto& [reason, meant] = deliberate->second;
      tally.AddDeliberate(name, reason, difference == meant ? "" : difference.empty() ? "no difference" : difference);
    }
  }
  tally.PrintSum();
  return tally.has_missed() ? 1 : 0;
}

}  // namespace
}  // namespace pintle::vectors

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: sync-vectors DIRECTORY\n");
    return 2;
  }
  try {
    std::filesystem::current_path(argv[1]);
    return pintle::vectors::RunSync();
  } catch (const std::exception& e) {
    fmt::print(stderr, "sync-vectors: {}\n", e.what());
    return 2;
  }
}
