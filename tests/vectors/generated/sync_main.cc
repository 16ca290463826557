// SPDX-License-Identifier: Apache-2.0

// Runs our controller on the cases of the operator's controllers, and compares the objects at the end.
//
// The operator's controllers are triggered one by one, and ours makes passes until there is nothing left to write.  So
// only the last state of each case is compared.  test_sync_vectors.py carries out the same cases on an API server.
//
// usage: sync-vectors DIRECTORY

#include <fmt/core.h>

#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/version.h"
#include "controller/trial_cluster.h"
#include "json/fields.h"
#include "json/parse.h"
#include "machineconfig/objects.h"
#include "vectors/differences.h"
#include "vectors/generated/case_files.h"
#include "vectors/generated/tally.h"

namespace pintle::vectors {
namespace {

using controller::MadeFrom;

const WallTime kSyncTime = WallTime(std::chrono::seconds(1'800'000'000));

// The cases in which the operator's answer is a defect that is not copied.  test_sync_vectors.py reads this file, too.
json::Value DeliberateDifferences() { return JsonOf(SYNC_DIFFERENCES); }

// Returns the differences that a case with a deliberate difference must have, in the form that RunCase() returns.
std::string ExpectedDifferences(const json::Value& deliberate) {
  std::string lines;
  for (const json::Value& line : deliberate.at("difference")) lines += "\n" + line.text();
  return lines;
}

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

// Returns the inputs from which the operator's controller of this name makes its configs.
const generated::MadeFromFilter& SourcesOf(const std::string& name) {
  static const std::map<std::string, generated::MadeFromFilter, std::less<>> kSources = {
      {"template", generated::MadeFromFilter{{MadeFrom::kTemplates}}},
      {"kubelet", generated::MadeFromFilter{{MadeFrom::kKubeletConfigs}}},
      {"ctr", generated::MadeFromFilter{{MadeFrom::kRuntimeConfigs}}},
      {"image", generated::MadeFromFilter{{MadeFrom::kImages}}},
      {"criocp", generated::MadeFromFilter{{MadeFrom::kCredentialProviders}}},
      {"feature", generated::MadeFromFilter{{MadeFrom::kFeatureGate}}},
      {"node",
       generated::MadeFromFilter{{MadeFrom::kNodeSettings, MadeFrom::kFeatureGate, MadeFrom::kKubeletConfigs}}}};
  const auto found = kSources.find(name);
  if (found == kSources.end()) throw std::runtime_error("no such controller: " + name);
  return found->second;
}

// Makes our passes, with the inputs of one of the operator's controllers, until there is nothing left to write.
void Sync(controller::TrialCluster& cluster, const std::string& name, const generated::TemplateFolder& templates) {
  const auto outcome = cluster.Settle({.templates = &templates,
                                       .versions = {.controller = "HASH", .operator_version = ""},
                                       .now = kSyncTime,
                                       .only = SourcesOf(name)});
  if (!outcome) throw std::runtime_error(outcome.error().message());
}

// Converts an object to the form that the vectors have.
json::Value ObjectInFormOfVectors(const std::string& plural, const json::Value& document) {
  json::Value object = json::Value::object();
  const auto keys = plural == "machineconfigs"
                        ? std::vector<std::string>{"name", "labels", "annotations", "ownerReferences"}
                        : std::vector<std::string>{"name", "namespace", "annotations", "finalizers"};
  for (const std::string& key : keys) {
    const json::Value* const member = document["metadata"].Find(key);
    const bool is_empty = member == nullptr || (member->is_structured() && member->empty());
    if (!is_empty) object[key] = *member;
  }
  const char* const compared = plural == "machineconfigs" ? "spec" : "status";
  if (const json::Value* member = document.Find(compared)) object[compared] = *member;
  std::string text = json::ToText(object);
  const std::pair<std::string, std::string> placeholders[] = {
      {ToRfc3339(kSyncTime), "NOW"}, {"controller version " + std::string(kVersion), "controller version VERSION"}};
  for (const auto& [ours, placeholder] : placeholders) {
    for (std::size_t at; (at = text.find(ours)) != std::string::npos;) text.replace(at, ours.size(), placeholder);
  }
  return *json::Parse(text);
}

// The order of finalizers means nothing.
json::Value Sorted(const json::Value& finalizers) {
  std::vector<std::string> texts;
  if (finalizers.is_array()) {
    for (const json::Value& finalizer : finalizers) texts.push_back(finalizer.text());
  }
  std::sort(texts.begin(), texts.end());
  return json::Encode(texts);
}

// Leaves out members that mean the same as absent ones: null, false, and empty texts, lists and objects.  Sorts
// finalizers.
json::Value WithoutEmpty(const json::Value& value) {
  if (value.is_array()) {
    json::Value list = json::Value::array();
    for (const json::Value& element : value) list.push_back(WithoutEmpty(element));
    return list;
  }
  if (!value.is_object()) return value;
  json::Value object = json::Value::object();
  for (const auto& [key, member] : value.members()) {
    json::Value kept = key == "finalizers" ? Sorted(member) : WithoutEmpty(member);
    const bool is_empty = kept.is_null() || kept == "" || kept == false || (kept.is_structured() && kept.empty());
    if (!is_empty) object[key] = std::move(kept);
  }
  return object;
}

// Returns the objects at the end of a case, by plural.  Like test_sync_vectors.py, it takes the last result that has
// objects.
std::optional<json::Value> ExpectedObjects(const std::filesystem::path& folder) {
  std::optional<json::Value> expected;
  for (const json::Value& result : JsonOf(folder / "out/result.json")) {
    if (const json::Value* objects = result.Find("objects")) expected = *objects;
  }
  if (!expected || !expected->is_object()) return std::nullopt;
  return expected;
}

// Returns a line for each difference from the expected objects; each line begins with a newline.  `base` has the
// objects that all cases share.
std::string RunCase(const std::filesystem::path& folder, const std::vector<json::Value>& base,
                    const generated::TemplateFolder& templates, const json::Value& expected) {
  controller::TrialCluster own_objects;
  const auto own = DocumentsOf(folder / "in.yaml");
  for (const json::Value& document : own) {
    if (document.is_object()) own_objects.Put(document);
  }
  controller::TrialCluster cluster = own_objects;
  for (const json::Value& document : base) {
    if (!own_objects.Has(machineconfig::KindOf(document))) cluster.Put(document);
  }
  const auto scenario = DocumentsOf(folder / "scenario.yaml");
  for (const json::Value& step : scenario.at(0).at("steps")) {
    if (const json::Value* patch = step.Find("patch")) {
      cluster.Patch(patch->TextAt({"kind"}), "", patch->TextAt({"name"}), patch->at("merge"));
    } else if (const json::Value* applied = step.Find("apply")) {
      cluster.Put(*applied);
    } else if (const json::Value* deleted = step.Find("deleted")) {
      json::Value& object = cluster.At(deleted->TextAt({"kind"}), "", deleted->TextAt({"name"}));
      object["metadata"]["deletionTimestamp"] = ToRfc3339(kSyncTime);
      Sync(cluster, "kubelet", templates);
    } else {
      Sync(cluster, step.TextAt({"sync"}), templates);
    }
  }
  std::string differences;
  for (const auto& [plural, objects] : expected.members()) {
    for (const std::string kind : {"MachineConfig", "KubeletConfig", "ContainerRuntimeConfig", "ControllerConfig",
                                   "ImagePolicy", "CRIOCredentialProviderConfig"}) {
      if (PluralOf(kind) != plural) continue;
      std::map<std::string, json::Value> wanted;
      if (objects.is_array()) {
        for (const json::Value& object : objects) wanted[object.TextAt({"name"})] = WithoutEmpty(object);
      }
      for (const auto& [name, document] : cluster.Documents(kind)) {
        json::Value got = WithoutEmpty(ObjectInFormOfVectors(plural, document));
        const auto found = wanted.extract(document["metadata"].TextAt({"name"}));
        if (found.empty()) {
          differences += fmt::format("\n{} {} should not be there", kind, name);
        } else if (found.mapped() != got) {
          differences += fmt::format("\n{} {}{}", kind, name, Differences(&found.mapped(), &got));
        }
      }
      for (const auto& [name, object] : wanted) differences += fmt::format("\n{} {} is missing", kind, name);
    }
  }
  return differences;
}

int RunSync() {
  const auto templates = generated::TemplateFolder::Read("own-templates");
  if (!templates) throw std::runtime_error(templates.error().message());
  const auto base = DocumentsOf("kubelet/_base.yaml");
  const json::Value deliberate = DeliberateDifferences();
  Tally tally("sync");
  for (const std::string& name : NamesIn("sync")) {
    if (!std::filesystem::is_directory("sync/" + name)) continue;
    const auto expected = ExpectedObjects("sync/" + name);
    if (!expected) {
      tally.Skip(name);
      continue;
    }
    std::string difference;
    try {
      difference = RunCase("sync/" + name, base, *templates, *expected);
    } catch (const std::exception& e) {
      difference = e.what();
    }
    const json::Value* const found = deliberate.Find(name);
    if (found == nullptr) {
      tally.Add(name, difference);
    } else {
      std::string unwanted = difference.empty() ? "no difference" : difference;
      if (difference == ExpectedDifferences(*found)) unwanted.clear();
      tally.AddDeliberate(name, found->TextAt({"reason"}), unwanted);
    }
  }
  tally.PrintSum();
  if (!tally.has_tried()) throw std::runtime_error("sync/ has no case with an answer of the operator");
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
