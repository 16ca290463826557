// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_generated.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "api/machine_config.h"
#include "base/printable.h"
#include "controller/generate_pass.h"
#include "controller/render_pass.h"
#include "controller/source_problems.h"
#include "json/fields.h"
#include "json/known_keys.h"
#include "machineconfig/rendered_name.h"

namespace pintle::controller {
namespace {

// Returns the text by which an element of a list is recognized: the path of a file, the name of a unit, a drop-in or a
// user, or "" for another element.
const std::string& LabelOf(const json::Value& element) {
  const std::string& path = element.TextAt({"path"});
  return path.empty() ? element.TextAt({"name"}) : path;
}

// Returns whether each element has a label, and no two elements have the same label.
bool AreAllLabelled(const json::Value& list) {
  std::set<std::string_view> labels;
  return std::all_of(list.begin(), list.end(), [&](const json::Value& element) {
    const std::string& label = LabelOf(element);
    return !label.empty() && labels.insert(label).second;
  });
}

// Finds the places at which two specs differ, such as "spec.config.storage.files[/etc/motd].mode".
class SpecComparison {
 public:
  static std::vector<std::string> Places(const json::Value& before, const json::Value& after) {
    SpecComparison comparison;
    comparison.Compare(before, after, "spec");
    return std::move(comparison.places_);
  }

 private:
  void Compare(const json::Value& before, const json::Value& after, const std::string& place) {
    if (before == after) return;
    if (before.is_object() && after.is_object()) return CompareMembers(before, after, place);
    const bool are_lists = before.is_array() && after.is_array();
    if (are_lists && AreAllLabelled(before) && AreAllLabelled(after)) return CompareLists(before, after, place);
    places_.push_back(place);
  }

  void CompareMembers(const json::Value& before, const json::Value& after, const std::string& place) {
    std::set<std::string_view> keys;
    for (const json::Value* const object : {&before, &after}) {
      for (const auto& [key, member] : object->members()) keys.insert(key);
    }
    // An unknown key may be a secret, so "?" stands for it.
    for (const std::string_view key : keys) {
      Compare(before[key], after[key],
              fmt::format("{}.{}", place, json::IsKnownKey(key) ? key : std::string_view("?")));
    }
  }

  void CompareLists(const json::Value& before, const json::Value& after, const std::string& place) {
    const std::size_t count_before = places_.size();
    const auto place_of = [&](std::string_view label) { return fmt::format("{}[{}]", place, Printable(label)); };
    std::map<std::string_view, const json::Value*> missing;
    for (const json::Value& element : before) missing.emplace(LabelOf(element), &element);
    for (const json::Value& element : after) {
      const std::string& label = LabelOf(element);
      const auto found = missing.find(label);
      if (found == missing.end()) {
        places_.push_back(place_of(label));
      } else {
        Compare(*found->second, element, place_of(label));
        missing.erase(found);
      }
    }
    for (const auto& [label, element] : missing) places_.push_back(place_of(label));
    // Only the order of the elements differs.
    if (places_.size() == count_before) places_.push_back(place);
  }

  std::vector<std::string> places_;
};

std::string PlacesInWords(std::vector<std::string> places) {
  constexpr std::size_t kMostPlaces = 5;
  const std::size_t left_out = places.size() > kMostPlaces ? places.size() - kMostPlaces : 0;
  places.resize(places.size() - left_out);
  std::string words = fmt::format("{}", fmt::join(places, ", "));
  if (left_out > 0) words += fmt::format(" and {} more", left_out);
  return words;
}

// Returns what a patch of a config sets at a path, or nullptr.
const json::Value* ValueSetBy(const json::Value& patch, std::string_view path) {
  for (const json::Value& operation : patch) {
    if (operation.TextAt({"path"}) == path) return &operation["value"];
  }
  return nullptr;
}

// Returns the spec of a config after a patch, which sets the whole spec or members of it.
json::Value SpecAfter(const json::Value& before, const json::Value& patch) {
  constexpr std::string_view kSpec = "/spec";
  if (const json::Value* const spec = ValueSetBy(patch, kSpec)) return *spec;
  json::Value after = before;
  for (const json::Value& operation : patch) {
    const std::string_view path = operation.TextAt({"path"});
    if (path.starts_with(kSpec)) after[path.substr(kSpec.size() + 1)] = operation["value"];
  }
  return after;
}

// Returns whether the change gives rendered configs other names.  Such a name contains a digest of the specs.  Also
// returns true if a name cannot be computed.
bool ChangesRenderedNames(const api::MachineConfigSpec& before, const json::Value& after) {
  json::Report report;
  const auto old_name = machineconfig::RenderedName("", before);
  const auto new_name = machineconfig::RenderedName("", json::Decode<api::MachineConfigSpec>(after, report));
  return !old_name || !new_name || *old_name != *new_name;
}

// Returns the status of the object with the name, or null if there is none.
template <typename T>
json::Value StatusNamed(const std::vector<const T*>& objects, const std::string& name) {
  const auto found = std::find_if(objects.begin(), objects.end(), [&](const T* o) { return o->metadata.name == name; });
  return found == objects.end() ? json::Value() : json::Encode((*found)->status);
}

class GeneratedComparison {
 public:
  GeneratedComparison(const View& view, const GeneratedView& sources, const generated::TemplateFolder& templates,
                      WallTime now)
      : inputs_{.view = view,
                .sources = sources,
                .templates = templates,
                .version = SigningVersion(view.configs, {}),
                .now = now,
                .refused = none_refused_,
                .awaited_configs = none_created_,
                .made = [this](MadeFrom from, const generated::MachineConfig& config) { NoteMade(from, config); }} {}
  GeneratedComparison(const GeneratedComparison&) = delete;
  GeneratedComparison& operator=(const GeneratedComparison&) = delete;

  std::vector<TakeoverFinding> Compare() {
    const GenerateChanges changes = GeneratePass(inputs_);
    for (const GenerateProblem& problem : changes.problems) {
      Add(problem.is_warning ? Weight::kLoss : Weight::kObstacle, fmt::format("{}: {}", problem.what, problem.why));
    }
    for (const SourceChange& change : changes.sources) CompareSource(change);
    for (const ConfigChange& change : changes.configs) CompareConfig(change);
    for (const ConfigRemoval& removal : changes.removals) {
      Add(Weight::kObstacle, fmt::format("MachineConfig {} would be removed", removal.name));
    }
    if (!has_made_templates_) {
      Add(Weight::kObstacle,
          "no config was made from the folder of --templates, so nothing could be compared: the folder must be that of "
          "the cluster's release, and the ControllerConfig's status must report that its templates are completed");
    }
    // An obstacle may also be the reason why a config is not made.
    const bool has_obstacle = std::any_of(findings_.begin(), findings_.end(), [](const TakeoverFinding& finding) {
      return finding.weight == Weight::kObstacle;
    });
    if (!has_obstacle) ReportConfigsOfOtherVersions();
    return std::move(findings_);
  }

 private:
  void Add(Weight weight, std::string text) { findings_.push_back({weight, std::move(text)}); }

  void NoteMade(MadeFrom from, const generated::MachineConfig& config) {
    made_.insert(config.name);
    has_made_templates_ = has_made_templates_ || from == MadeFrom::kTemplates;
  }

  void CompareSource(const SourceChange& change) {
    const std::string object = fmt::format("{} {}", KindOfSource(change.kind), change.name.ToString());
    if (change.part == kube::Part::kObject) {
      return Add(
          Weight::kObstacle,
          fmt::format("{} does not have all its configs yet; wait until the Machine Config Operator has made them",
                      object));
    }
    const std::vector<std::string> problems = ProblemsIn(change.kind, change.patch["status"]);
    const bool is_new = ProblemsIn(change.kind, StatusOf(change)).empty();
    if (!problems.empty() && is_new) {
      Add(Weight::kObstacle, fmt::format("{} would be refused: {}", object, problems.front()));
    }
  }

  // Returns the present status of the object that a change is about.
  json::Value StatusOf(const SourceChange& change) const {
    const GeneratedView& sources = inputs_.sources;
    switch (change.kind) {
      case SourceKind::kControllerConfig:
        return sources.whole_controller_config->status;
      case SourceKind::kKubeletConfig:
        return StatusNamed(sources.kubelet_configs, change.name.name);
      case SourceKind::kContainerRuntimeConfig:
        return StatusNamed(sources.runtime_configs, change.name.name);
      case SourceKind::kImagePolicy:
        for (const api::ImagePolicy& policy : sources.namespace_policies) {
          if (kube::NameOf(policy.metadata) == change.name) return json::Encode(policy.status);
        }
        break;
      case SourceKind::kCredentialProviderConfig:
        if (sources.credential_providers != nullptr) return json::Encode(sources.credential_providers->status);
        break;
    }
    return {};
  }

  void CompareConfig(const ConfigChange& change) {
    const api::MachineConfig* const existing = inputs_.ConfigNamed(change.name);
    const auto* const patch = std::get_if<json::Value>(&change.creation_or_patch);
    if (existing == nullptr || patch == nullptr) {
      return Add(Weight::kObstacle, fmt::format("MachineConfig {} would be created", change.name));
    }
    const json::Value before = json::Encode(existing->spec);
    const json::Value after = SpecAfter(before, *patch);
    const bool changes_rendered_names = ChangesRenderedNames(existing->spec, after);
    if (changes_rendered_names) {
      Add(Weight::kObstacle, fmt::format("MachineConfig {} would change at {}", change.name,
                                         PlacesInWords(SpecComparison::Places(before, after))));
    }
    const json::Value* const labels = ValueSetBy(*patch, "/metadata/labels");
    const bool has_other_labels = labels != nullptr && *labels != json::Encode(existing->metadata.labels);
    if (has_other_labels) {
      Add(Weight::kObstacle, fmt::format("MachineConfig {} would get other labels, by which pools select it: "
                                         "metadata.labels",
                                         change.name));
    }
    if (changes_rendered_names || has_other_labels) return;
    Add(Weight::kLoss, fmt::format("MachineConfig {} would be written without a change for any node: its annotations "
                                   "or its owners differ",
                                   change.name));
  }

  // Reports the configs that another version of the controller has generated, and that Pintle would leave as they are.
  void ReportConfigsOfOtherVersions() {
    for (const api::MachineConfig* config : inputs_.view.configs) {
      const api::ObjectMeta& metadata = config->metadata;
      const bool is_generated = !metadata.Annotation(api::kGeneratedByControllerVersionAnnotation).empty() &&
                                !metadata.name.starts_with("rendered-");
      if (!is_generated || made_.contains(metadata.name)) continue;
      Add(Weight::kLoss, fmt::format("MachineConfig {}: Pintle does not make it, so it stays as it is; its sources are "
                                     "not followed",
                                     metadata.name));
    }
  }

  const std::map<std::string, std::string, std::less<>> none_refused_ = {};
  const std::set<std::string, std::less<>> none_created_ = {};
  const GenerateInputs inputs_;
  std::set<std::string, std::less<>> made_;
  bool has_made_templates_ = false;
  std::vector<TakeoverFinding> findings_;
};

}  // namespace

std::vector<TakeoverFinding> CompareGenerated(const View& view, const GeneratedView& sources,
                                              const generated::TemplateFolder& templates, WallTime now) {
  return GeneratedComparison(view, sources, templates, std::chrono::floor<std::chrono::seconds>(now)).Compare();
}

}  // namespace pintle::controller
