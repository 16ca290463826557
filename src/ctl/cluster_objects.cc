// SPDX-License-Identifier: Apache-2.0
#include "ctl/cluster_objects.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "api/annotations.h"
#include "api/controller_config.h"
#include "api/lenient.h"
#include "controller/watched.h"
#include "json/fields.h"
#include "json/list_reader.h"
#include "json/report.h"
#include "json/shape.h"
#include "machineconfig/input.h"
#include "pool/cert_expirys.h"

namespace pintle::ctl {
namespace {

using json::Value;

constexpr std::string_view kNode = "Node";
constexpr std::string_view kMachineConfig = "MachineConfig";
constexpr std::string_view kMachineConfigPool = "MachineConfigPool";
constexpr std::string_view kMachineConfigNode = "MachineConfigNode";
constexpr std::string_view kMachineOSConfig = "MachineOSConfig";
constexpr std::string_view kMachineOSBuild = "MachineOSBuild";
constexpr std::string_view kControllerConfig = "ControllerConfig";
constexpr std::string_view kOSImageStream = "OSImageStream";

// The parts of a MachineConfig that pools need, without the config itself, which is long.
struct ConfigSummary {
  struct Spec {
    std::string os_image_url;
    static constexpr bool kLenient = true;
    static constexpr auto kFields = json::FieldList{json::Field{"osImageURL", &Spec::os_image_url}};
  };

  api::ObjectMeta metadata;
  Spec spec;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"metadata", &ConfigSummary::metadata},
      json::Field{"spec", &ConfigSummary::spec},
  };
};

template <typename T>
Result<T> Decode(Value document) {
  json::Report report;
  T object = json::Decode<T>(std::move(document), report);
  TRY(report.ToResult());
  return object;
}

void Add(ConfigSummary config, ClusterObjects& objects) {
  const auto& owners = config.metadata.owner_references;
  objects.configs[config.metadata.name] = {.owner = owners.empty() ? "" : owners.front().name,
                                           .os_image_url = std::move(config.spec.os_image_url)};
}

void Add(api::ControllerConfig config, ClusterObjects& objects) {
  objects.cert_expirys = pool::CertExpirysOf(config);
  objects.control_plane_topology = std::move(config.spec.infra.status.control_plane_topology);
}

// Removes the conditions that are not true, since they count for nothing.  If none is true, one of them is kept,
// because a node without any conditions counts as one that has not reported yet.
void KeepTrueConditions(std::vector<api::Condition>& conditions) {
  const auto is_not_true = [](const api::Condition& condition) { return condition.status != "True"; };
  if (std::all_of(conditions.begin(), conditions.end(), is_not_true)) {
    conditions.resize(1);
  } else {
    std::erase_if(conditions, is_not_true);
  }
  conditions.shrink_to_fit();
}

// Adds a MachineConfigNode without its parts that no decision depends on, which are most of its size.
void Add(api::MachineConfigNode node, ClusterObjects& objects) {
  controller::WatchedMachineConfigNode watched{{std::move(node)}};
  controller::Trim(watched);
  if (watched.status.conditions.empty()) return;  // pool::Status() would read no further nodes.
  KeepTrueConditions(watched.status.conditions);
  watched.metadata.owner_references = {};
  watched.spec = {};
  objects.machine_config_nodes.push_back(std::move(watched));
}

// Adds an object; an object of another kind is skipped.
Result<> AddObject(std::string_view kind, Value document, ClusterObjects& objects) {
  if (kind == kNode) {
    objects.nodes.push_back(TRY(Decode<api::Node>(std::move(document))));
  } else if (kind == kMachineConfigPool) {
    objects.pools.push_back(TRY(Decode<api::MachineConfigPool>(std::move(document))));
  } else if (kind == kMachineConfigNode) {
    Add(TRY(Decode<api::MachineConfigNode>(std::move(document))), objects);
  } else if (kind == kMachineOSConfig) {
    objects.os_configs.push_back(TRY(Decode<api::MachineOSConfig>(std::move(document))));
  } else if (kind == kMachineOSBuild) {
    objects.os_builds.push_back(TRY(Decode<api::MachineOSBuild>(std::move(document))));
  } else if (kind == kMachineConfig) {
    Add(TRY(Decode<ConfigSummary>(std::move(document))), objects);
  } else if (kind == kControllerConfig) {
    Add(TRY(Decode<api::ControllerConfig>(std::move(document))), objects);
  } else if (kind == kOSImageStream) {
    objects.os_image_streams = TRY(Decode<api::OSImageStream>(std::move(document))).status.available_streams;
  } else if (kind == api::RolloutPolicy::kKind) {
    objects.rollout_policies.push_back(TRY(Decode<api::RolloutPolicy>(std::move(document))));
  }
  return {};
}

// Returns a member of an object, or null if there is none.
const Value* Member(const Value* document, std::string_view key) {
  const Value* member = document == nullptr ? nullptr : document->Find(key);
  return member == nullptr || member->is_null() ? nullptr : member;
}

std::string TextMember(const Value& document, std::string_view key) {
  const Value* member = Member(&document, key);
  return member != nullptr && member->is_string() ? member->text() : "";
}

bool IsOwnedByPool(const Value& document) {
  const Value* owners = Member(Member(&document, "metadata"), "ownerReferences");
  return owners != nullptr && owners->is_array() && !owners->empty() &&
         TextMember((*owners)[0], "kind") == kMachineConfigPool;
}

bool HasNodeAnnotations(const Value& document) {
  const Value* annotations = Member(Member(&document, "metadata"), "annotations");
  return Member(annotations, api::kCurrentConfigAnnotation) != nullptr ||
         Member(annotations, api::kDesiredConfigAnnotation) != nullptr;
}

// Guesses the kind of an object from fields that only objects of that kind have.
std::string_view GuessKind(const Value& document) {
  const Value* spec = Member(&document, "spec");
  const Value* status = Member(&document, "status");
  const auto has = [&](std::string_view key) { return Member(spec, key) != nullptr; };
  if (has("machineOSConfig")) return kMachineOSBuild;
  if (has("machineConfigPool")) return kMachineOSConfig;
  if (has("node")) return kMachineConfigNode;
  if (has("machineConfigSelector") || has("nodeSelector")) return kMachineConfigPool;
  if (has("clusterDNSIP") || Member(status, "controllerCertificates") != nullptr) return kControllerConfig;
  if (Member(status, "availableStreams") != nullptr) return kOSImageStream;
  if (HasNodeAnnotations(document) || Member(status, "nodeInfo") != nullptr) return kNode;
  if (has("config") || has("kernelArguments") || has("osImageURL") || IsOwnedByPool(document)) return kMachineConfig;
  return "";
}

// Returns the kind that a file's name suggests, for objects whose fields suggest none.
std::string_view KindOfFile(const std::string& path) {
  constexpr auto kNames = std::to_array<std::pair<std::string_view, std::string_view>>({
      {"node", kNode},
      {"mcp", kMachineConfigPool},
      {"pool", kMachineConfigPool},
      {"machineconfigpool", kMachineConfigPool},
      {"mcn", kMachineConfigNode},
      {"machineconfignode", kMachineConfigNode},
      {"mosc", kMachineOSConfig},
      {"machineosconfig", kMachineOSConfig},
      {"mosb", kMachineOSBuild},
      {"machineosbuild", kMachineOSBuild},
      {"mc", kMachineConfig},
      {"machineconfig", kMachineConfig},
      {"controllerconfig", kControllerConfig},
      {"osimagestream", kOSImageStream},
      {"rolloutpolicy", api::RolloutPolicy::kKind},
  });
  std::string stem = std::filesystem::path(path).stem().string();
  if (stem.ends_with('s')) stem.pop_back();
  for (const auto& [name, kind] : kNames) {
    if (stem == name) return kind;
  }
  return "";
}

// Members that no decision depends on, and that take up most of a file that `kubectl get` has written.
constexpr auto kOmissions = std::to_array<json::Omission>({
    {"metadata", "managedFields"},
    {"status", "addresses"},
    {"status", "allocatable"},
    {"status", "capacity"},
    {"status", "daemonEndpoints"},
    {"status", "images"},
    {"status", "nodeInfo"},
    {"status", "volumesAttached"},
    {"status", "volumesInUse"},
    {"conditions", "lastHeartbeatTime"},
    {"conditions", "lastTransitionTime", kNode},
    {"conditions", "message", kNode},
    {"conditions", "reason", kNode},
    {"spec", "podCIDR", kNode},
    {"spec", "podCIDRs", kNode},
    {"spec", "providerID", kNode},
    // These are decoded, so a value that is no string is an error.
    {"metadata", "resourceVersion", kNode, json::OmittedValues::kStrings},
    {"metadata", "uid", kNode, json::OmittedValues::kStrings},
    {"metadata", "resourceVersion", kMachineConfigNode, json::OmittedValues::kStrings},
    {"metadata", "uid", kMachineConfigNode, json::OmittedValues::kStrings},
    {"ownerReferences", "apiVersion", kMachineConfigNode, json::OmittedValues::kStrings},
    {"ownerReferences", "kind", kMachineConfigNode, json::OmittedValues::kStrings},
    {"ownerReferences", "name", kMachineConfigNode, json::OmittedValues::kStrings},
    {"ownerReferences", "uid", kMachineConfigNode, json::OmittedValues::kStrings},
    {"node", "name", kMachineConfigNode, json::OmittedValues::kStrings},
    {"pool", "name", kMachineConfigNode, json::OmittedValues::kStrings},
    {"configVersion", "current", kMachineConfigNode, json::OmittedValues::kStrings},
    {"configImage", "currentImage", kMachineConfigNode, json::OmittedValues::kStrings},
    {"conditions", "reason", kMachineConfigNode, json::OmittedValues::kStrings},
    {"annotations", api::kDesiredDrainAnnotation, kNode, json::OmittedValues::kStrings},
    {"annotations", api::kLastAppliedDrainAnnotation, kNode, json::OmittedValues::kStrings},
    {"annotations", api::kControlPlaneTopologyAnnotation, kNode, json::OmittedValues::kStrings},
    {"annotations", api::kLastSyncedControllerConfigAnnotation, kNode, json::OmittedValues::kStrings},
    {"annotations", api::kLastObservedServerCaAnnotation, kNode, json::OmittedValues::kStrings},
    {"annotations", api::kPostConfigActionAnnotation, kNode, json::OmittedValues::kStrings},
});
// Other programs' annotations of Nodes.
constexpr auto kPrefixes = std::to_array<json::PrefixChoice>({{kNode, "annotations", controller::kOurPrefixes}});
// The conditions that Add() removes.
constexpr auto kElements =
    std::to_array<json::ElementChoice>({{kMachineConfigNode, "conditions", "type", controller::kReportedConditions}});

// Makes room for the objects of a long list at once.  A vector that grows step by step takes more than twice the memory
// that it needs in the end, and each page of new memory has to be cleared.
class Room {
 public:
  explicit Room(const std::string& path) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (!error) bytes_ = static_cast<std::size_t>(size);
  }

  void CountRead(std::size_t bytes) { read_ += bytes; }

  // Makes room before an object is added, if the objects so far allow a guess.
  template <typename T>
  void MakeFor(std::vector<T>& objects) const {
    constexpr std::size_t kSample = 256;
    constexpr std::size_t kMost = (std::size_t{64} << 20) / sizeof(T);
    if (objects.size() < kSample || objects.size() < objects.capacity() || read_ < 2 * json::kReadWindow) return;
    // At least this much text has been read for the objects so far, so the guess is rather too large.  Room that is not
    // used takes no memory.
    const std::size_t used = read_ - json::kReadWindow;
    objects.reserve(std::min(kMost, objects.size() * (bytes_ / used + 1)));
  }

 private:
  std::size_t bytes_ = 0;  // The size of the file; 0 if it is unknown.
  std::size_t read_ = 0;
};

// Returns the objects of a JSON list in which each object has its kind, as kubectl writes them.  Returns nullopt for
// any other text, and for a text with an error, so that there is one place that describes errors.
std::optional<ClusterObjects> ReadListedObjects(const std::string& path, machineconfig::PiecewiseInput& input) {
  ClusterObjects objects;
  Room room(path);
  const auto take = [&](Value element) {
    const std::string kind = TextMember(element, "kind");
    if (kind.empty() || element.contains("items")) return false;
    return AddObject(kind, std::move(element), objects).has_value();
  };
  const auto read = [&](std::span<char> to) -> std::optional<std::size_t> {
    const auto count = input.ReadPiece(to);
    if (!count) return std::nullopt;
    room.CountRead(*count);
    return *count;
  };
  api::Node node;
  api::MachineConfigNode report;
  const json::DirectKind direct[] = {
      {kNode, json::ShapeOf<api::Node>(), [&] { return &(node = api::Node()); },
       [&] {
         room.MakeFor(objects.nodes);
         objects.nodes.push_back(std::move(node));
         return true;
       }},
      {kMachineConfigNode, json::ShapeOf<api::MachineConfigNode>(),
       [&] { return &(report = api::MachineConfigNode()); },
       [&] {
         room.MakeFor(objects.machine_config_nodes);
         Add(std::move(report), objects);
         return true;
       }},
  };
  const auto frame = json::ReadList(read, {kOmissions, kPrefixes, kElements}, take, {}, json::kReadWindow, direct);
  if (!frame) return std::nullopt;
  if (frame->is_array()) return objects;
  const std::string kind = TextMember(*frame, "kind");
  // An object of another kind may have a member `items` of its own.
  const bool is_list = kind.ends_with("List") && !frame->contains("variant");
  return is_list ? std::optional(std::move(objects)) : std::nullopt;
}

template <typename T>
void Append(std::vector<T> from, std::vector<T>& to) {
  if (to.empty()) {
    to = std::move(from);
  } else {
    std::move(from.begin(), from.end(), std::back_inserter(to));
  }
}

void Append(ClusterObjects from, ClusterObjects& to) {
  Append(std::move(from.pools), to.pools);
  Append(std::move(from.nodes), to.nodes);
  Append(std::move(from.machine_config_nodes), to.machine_config_nodes);
  Append(std::move(from.os_configs), to.os_configs);
  Append(std::move(from.os_builds), to.os_builds);
  Append(std::move(from.rollout_policies), to.rollout_policies);
  for (auto& [name, config] : from.configs) to.configs[name] = std::move(config);
  if (!from.os_image_streams.empty()) to.os_image_streams = std::move(from.os_image_streams);
  if (!from.cert_expirys.empty()) to.cert_expirys = std::move(from.cert_expirys);
  if (!from.control_plane_topology.empty()) to.control_plane_topology = std::move(from.control_plane_topology);
}

}  // namespace

Result<> AddDocument(Value document, std::string_view kind, ClusterObjects& objects) {
  if (document.is_array()) {
    std::size_t index = 0;
    for (Value& element : document) {
      TRY(AddDocument(std::move(element), kind, objects), fmt::format("element {}", index));
      ++index;
    }
    return {};
  }
  if (!document.is_object()) return Error(ErrorKind::kInvalid, "is neither an object nor a list of objects");

  std::string object_kind = TextMember(document, "kind");
  if (Value* items = document.Find("items");
      items != nullptr && (object_kind.empty() || object_kind.ends_with("List"))) {
    if (object_kind.size() > 4) kind = std::string_view(object_kind).substr(0, object_kind.size() - 4);
    if (items->is_null()) return {};
    return AddDocument(std::move(*items), kind, objects);
  }
  if (object_kind.empty()) object_kind = GuessKind(document);
  if (object_kind.empty()) object_kind = kind;
  if (object_kind.empty()) return Error(ErrorKind::kInvalid, "$.kind: is required, to know what this object is");
  const std::string name = Member(&document, "metadata") != nullptr ? TextMember(document["metadata"], "name") : "";
  TRY(AddObject(object_kind, std::move(document), objects), fmt::format("{} {}", object_kind, name));
  return {};
}

Result<> AddFile(const std::string& path, std::string_view kind, ClusterObjects& objects) {
  auto input = TRY(machineconfig::PiecewiseInput::Open(path));
  if (auto listed = ReadListedObjects(path, input)) {
    Append(*std::move(listed), objects);
    return {};
  }
  const std::string text = TRY(input.ReadWhole());
  std::vector<Value> documents = TRY(machineconfig::DocumentsIn(text, path));
  const bool is_one_object = documents.size() == 1 && documents[0].is_object() && !documents[0].contains("items");
  if (kind.empty()) kind = KindOfFile(path);
  const std::size_t builds_before = objects.os_builds.size();
  for (Value& document : documents) {
    if (document.is_null()) continue;
    TRY(AddDocument(std::move(document), kind, objects), path);
  }
  if (is_one_object && objects.os_builds.size() > builds_before) objects.lone_os_build = objects.os_builds.back();
  return {};
}

}  // namespace pintle::ctl
