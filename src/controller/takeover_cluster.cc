// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_cluster.h"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "controller/generated_kinds.h"
#include "controller/owned_pods.h"
#include "controller/takeover_pods.h"
#include "controller/takeover_server.h"
#include "controller/takeover_steps.h"
#include "event/watches.h"
#include "json/fields.h"
#include "json/parse.h"
#include "kube/patch.h"
#include "serving/ignition_route.h"

namespace pintle::controller {

// An object of which only the metadata is read, so that an undo needs no contents that it might be unable to read.
template <kube::Resource T>
struct MetadataOf {
  api::ObjectMeta metadata;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Required{"metadata", &MetadataOf::metadata}};
};

// A pool of which only the conditions are read.
struct PoolConditions {
  api::ObjectMeta metadata;
  json::Value status;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Required{"metadata", &PoolConditions::metadata},
                                                  json::Field{"status", &PoolConditions::status}};

  std::vector<std::string> types() const {
    std::vector<std::string> types;
    for (const json::Value& condition : status["conditions"]) types.push_back(condition.TextAt({"type"}));
    return types;
  }
};

}  // namespace pintle::controller

namespace pintle::kube {

template <typename T>
inline constexpr ResourceKind kResourceKind<controller::MetadataOf<T>> = kResourceKind<T>;
template <>
inline constexpr ResourceKind kResourceKind<controller::PoolConditions> = kResourceKind<api::MachineConfigPool>;

}  // namespace pintle::kube

namespace pintle::controller {
namespace {

// A check needs about a hundred reviews of rights.  This many at a time do not burden the API server, which lets more
// requests of one client wait.
constexpr std::size_t kReviewsAtOnce = 8;
// A server in a pod has to answer within this time.
constexpr auto kServerPatience = std::chrono::seconds(5);

const kube::ResourceKind& ResourceOf(TakeoverObject object) {
  switch (object) {
    case TakeoverObject::kRecord:
    case TakeoverObject::kKubeconfigData:
      return kube::kResourceKind<api::ConfigMap>;
    case TakeoverObject::kClusterVersion:
      return kube::kResourceKind<WholeClusterVersion>;
    case TakeoverObject::kDeployment:
      return kube::kResourceKind<WholeDeployment>;
    case TakeoverObject::kDaemonSet:
      return kube::kResourceKind<WholeDaemonSet>;
    case TakeoverObject::kLease:
      return kube::kResourceKind<api::Lease>;
    case TakeoverObject::kPool:
      return kube::kResourceKind<api::MachineConfigPool>;
    case TakeoverObject::kControllerConfig:
      return kube::kResourceKind<api::ControllerConfig>;
    case TakeoverObject::kNode:
      break;
  }
  return kube::kResourceKind<api::Node>;
}

Result<kube::ApiRequest> RequestFor(const TakeoverWrite& write) {
  const kube::ResourceKind& kind = ResourceOf(write.object);
  const kube::ObjectName name = {.namespace_name = write.namespace_name, .name = write.name};
  if (write.is_creation) {
    const std::string path = TRY(kube::CollectionPath(kind, write.namespace_name));
    return kube::ApiRequest{.method = "POST",
                            .path = path + "?fieldManager=pintle",
                            .content_type = "application/json",
                            .body = json::ToText(write.patch),
                            .doing = fmt::format("creating {} {}", kind.kind, name.ToString())};
  }
  if (write.patch.is_null()) {
    std::string path = TRY(kube::ObjectPath(kind, name));
    return kube::ApiRequest{.method = "DELETE",
                            .path = std::move(path),
                            .content_type = "application/json",
                            .body = json::ToText({{"preconditions", {{"resourceVersion", write.version}}}}),
                            .doing = fmt::format("deleting {} {}", kind.kind, name.ToString())};
  }
  return kube::PatchRequest(kind, name, kube::JsonPatch{write.patch}, write.part, "pintle");
}

// Returns whether the Machine Config Operator updates boot images.  The status has what is in use, with the operator's
// defaults where the spec has nothing.  An old operator writes no status.
bool UpdatesBootImages(const WholeMachineConfiguration& settings) {
  const json::Value& wanted = std::as_const(settings.spec)["managedBootImages"]["machineManagers"];
  const json::Value& used = std::as_const(settings.status)["managedBootImagesStatus"]["machineManagers"];
  for (const json::Value& manager : used.empty() ? wanted : used) {
    const std::string& mode = manager.TextAt({"selection", "mode"});
    if (mode != "None") return true;
  }
  return false;
}

kube::ApiRequest ReviewRequest(const Right& right, const std::optional<RightsHolder>& holder) {
  const char* const path = holder ? "/apis/authorization.k8s.io/v1/subjectaccessreviews"
                                  : "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  return {.method = "POST",
          .path = path,
          .content_type = "application/json",
          .body = json::ToText(ReviewOf(right, holder)),
          .doing = "reading the right to " + RightInWords(right)};
}

// Returns the verdict in the answer to a ReviewRequest().
Result<bool> IsAllowed(kube::Fetched answer, const Right& right) {
  if (auto* const failure = std::get_if<kube::Failure>(&answer)) return std::move(failure->error);
  const json::Value review =
      TRY(json::Parse(std::get<std::string>(answer)), "reading the right to " + RightInWords(right));
  return std::as_const(review)["status"]["allowed"] == json::Value(true);
}

bool HasEnded(const api::Pod& pod) { return pod.status.phase == "Succeeded" || pod.status.phase == "Failed"; }

ServerReplica::Phase PhaseOf(const api::Pod& pod) {
  if (pod.metadata.deletion_timestamp) return ServerReplica::Phase::kEnds;
  return pod.status.phase == "Running" ? ServerReplica::Phase::kRuns : ServerReplica::Phase::kStarts;
}

}  // namespace

Result<std::string> TakeoverCluster::Send(kube::ApiRequest request, kube::Repeatable repeatable,
                                          const kube::Patience& patience) {
  std::optional<kube::Fetched> answer;
  const kube::Call call =
      kube::Fetch(client_.transport(), std::move(request), repeatable, patience, [&](kube::Fetched fetched) {
        answer = std::move(fetched);
        loop_.Stop();
      });
  TRY(loop_.Run());
  if (!answer) return Error(ErrorKind::kCancelled, "the request was given up");
  if (auto* const failure = std::get_if<kube::Failure>(&*answer)) return std::move(failure->error);
  return std::get<std::string>(*std::move(answer));
}

template <typename T>
Result<std::optional<T>> TakeoverCluster::ReadOne(const kube::ObjectName& name) {
  std::optional<Result<T>> found;
  const kube::Call call = client_.Get<T>(name, [&](Result<T> object) {
    found = std::move(object);
    loop_.Stop();
  });
  TRY(loop_.Run());
  if (!found) return Error(ErrorKind::kCancelled, "the request was given up");
  if (*found) return std::optional<T>(**std::move(found));
  if (found->error().kind() == ErrorKind::kNotFound) return std::optional<T>();
  return std::move(*found).error();
}

template <typename T>
Result<std::vector<T>> TakeoverCluster::ReadAll(kube::Selection selection, const UnreadableListener& unreadable) {
  std::optional<Result<std::vector<T>>> found;
  const kube::Call call = client_.List<T>(
      std::move(selection),
      [&](Result<std::vector<T>> objects) {
        found = std::move(objects);
        loop_.Stop();
      },
      [&unreadable](const kube::ObjectName& name, const Error& why) {
        if (unreadable) unreadable(kube::kResourceKind<T>, name, Error(why).While(name.ToString()));
      });
  TRY(loop_.Run());
  if (!found) return Error(ErrorKind::kCancelled, "the request was given up");
  if (!*found && found->error().kind() == ErrorKind::kNotFound) return std::vector<T>();
  return *std::move(found);
}

Result<std::vector<std::string>> TakeoverCluster::UnsupportedFeatures(const UnreadableListener& unreadable) {
  std::vector<std::string> features;
  for (const PinnedImageSet& set : TRY(ReadAll<PinnedImageSet>({}, unreadable))) {
    features.push_back(fmt::format("PinnedImageSet {}: nodes do not pull its images in advance", set.metadata.name));
  }
  const auto note_image = [&](const InternalReleaseImage& image) {
    features.push_back(fmt::format("InternalReleaseImage {}: its registry is not managed", image.metadata.name));
  };
  const std::vector<InternalReleaseImage> images = TRY(ReadAll<InternalReleaseImage>({}, unreadable));
  for (const InternalReleaseImage& image : images) note_image(image);
  if (images.empty()) {
    for (const InternalReleaseImage& image : TRY(ReadAll<OldInternalReleaseImage>({}, unreadable))) note_image(image);
  }
  for (const WholeMachineConfiguration& settings : TRY(ReadAll<WholeMachineConfiguration>({}, unreadable))) {
    if (!UpdatesBootImages(settings)) continue;
    features.push_back(fmt::format("MachineConfiguration {}: the boot images of machine sets are not updated",
                                   settings.metadata.name));
  }
  return features;
}

Result<bool> TakeoverCluster::HasMachineNamespace() {
  const auto found = TRY(ReadOne<Namespace>({"", kMachineNamespace}));
  return found.has_value();
}

Result<std::optional<api::ClusterOperator>> TakeoverCluster::ReadClusterOperator() {
  return ReadOne<api::ClusterOperator>({"", api::kMachineConfigOperatorName});
}

Result<std::vector<Right>> TakeoverCluster::LackingRights(const std::vector<Right>& rights,
                                                          const std::optional<RightsHolder>& holder) {
  std::vector<std::optional<Result<bool>>> verdicts(rights.size());
  std::vector<kube::Call> calls(rights.size());
  std::size_t begun = 0;
  std::size_t ended = 0;
  const std::function<void()> begin_next = [&] {
    if (begun == rights.size()) return;
    const std::size_t index = begun++;
    // A review changes nothing, so it may be repeated.
    calls[index] = kube::Fetch(client_.transport(), ReviewRequest(rights[index], holder), kube::Repeatable::kYes,
                               kube::Patience(), [&, index](kube::Fetched answer) {
                                 verdicts[index] = IsAllowed(std::move(answer), rights[index]);
                                 ++ended;
                                 if (!*verdicts[index] || ended == rights.size()) return loop_.Stop();
                                 begin_next();
                               });
  };
  while (begun < std::min(kReviewsAtOnce, rights.size())) begin_next();
  if (!rights.empty()) TRY(loop_.Run());
  std::vector<Right> lacking;
  for (std::size_t index = 0; index < rights.size(); ++index) {
    if (!verdicts[index]) continue;  // Another review has failed.
    const bool is_allowed = TRY(std::move(*verdicts[index]));
    if (!is_allowed) lacking.push_back(rights[index]);
  }
  if (ended < rights.size()) return Error(ErrorKind::kCancelled, "the reviews of rights were given up");
  return lacking;
}

Result<TakeoverState> TakeoverCluster::Read() {
  const std::string& theirs = settings_.namespace_name;
  const std::string& own = settings_.own_namespace;
  TakeoverState state;
  // The record is read first.  An undo removes the record last, so if the record is missing, the other values are not
  // those of an undo that is still under way.
  state.record = TRY(ReadOne<api::ConfigMap>({own, "pintle-takeover"}));
  state.cluster_version = TRY(ReadOne<WholeClusterVersion>({"", "version"}));
  state.operators = TRY(ReadOne<WholeDeployment>({theirs, "machine-config-operator"}));
  state.controller = TRY(ReadOne<WholeDeployment>({theirs, "machine-config-controller"}));
  state.server = TRY(ReadOne<WholeDaemonSet>({theirs, "machine-config-server"}));
  state.daemon = TRY(ReadOne<WholeDaemonSet>({theirs, "machine-config-daemon"}));
  state.ours = TRY(ReadOne<WholeDeployment>({own, settings_.own_deployment}));
  state.operator_lease = TRY(ReadOne<api::Lease>({theirs, "machine-config"}));
  state.controller_lease = TRY(ReadOne<api::Lease>({theirs, "machine-config-controller"}));
  state.operator_sight = operator_sightings_.See(state.operator_lease, clock_.Monotonic());
  state.controller_sight = controller_sightings_.See(state.controller_lease, clock_.Monotonic());
  if (state.operators) TRY(ReadRemainingPods(*state.operators, state));
  if (state.controller) TRY(ReadRemainingPods(*state.controller, state));
  if (state.server) TRY(ReadRemainingPods(*state.server, state));
  if (AreNodesNeeded(state, settings_)) TRY(ReadNodes(state));
  if (AreAnnotationsNeeded(state)) TRY(ReadAnnotated(state));
  if (AreServersAwaited(state)) TRY(ReadUnreadyServers(state));
  if (settings_.with_server && state.ours && HasServerEnded(state)) {
    state.server_replicas = TRY(ReadServerReplicas(*state.ours));
  }
  return state;
}

Result<> TakeoverCluster::ReadRemainingPods(const WholeObject& owner, TakeoverState& state) {
  const std::string selector = PodSelectorOf(owner);
  if (!IsToHaveNoPods(owner) || selector.empty()) return {};
  for (const api::Pod& pod :
       TRY(ReadAll<api::Pod>({.namespace_name = owner.metadata.namespace_name, .label_selector = selector}))) {
    if (HasEnded(pod)) continue;
    std::string& pods = state.remaining_pods[owner.metadata.name];
    pods += fmt::format("{}{} on the node {}", pods.empty() ? "" : ", ", pod.metadata.name, pod.spec.node_name);
  }
  return {};
}

Result<> TakeoverCluster::ReadAnnotated(TakeoverState& state) {
  for (PoolConditions& pool : TRY(ReadAll<PoolConditions>({}))) {
    std::vector<std::string> conditions = pool.types();
    state.annotated.push_back({TakeoverObject::kPool, std::move(pool.metadata), std::move(conditions)});
  }
  for (MetadataOf<api::ControllerConfig>& config : TRY(ReadAll<MetadataOf<api::ControllerConfig>>({}))) {
    state.annotated.push_back({TakeoverObject::kControllerConfig, std::move(config.metadata)});
  }
  const kube::ObjectName data = {.namespace_name = settings_.namespace_name, .name = "kubeconfig-data"};
  if (auto map = TRY(ReadOne<MetadataOf<api::ConfigMap>>(data))) {
    state.annotated.push_back({TakeoverObject::kKubeconfigData, std::move(map->metadata)});
  }
  return {};
}

Result<> TakeoverCluster::ReadUnreadyServers(TakeoverState& state) {
  const std::string selector = PodSelectorOf(*state.server);
  if (selector.empty()) return {};
  std::set<std::string> ready;
  for (const WholePod& pod :
       TRY(ReadAll<WholePod>({.namespace_name = settings_.namespace_name, .label_selector = selector}))) {
    const std::string placed = pod.spec.TextAt({"nodeName"});
    const std::string node = placed.empty() ? NodeAwaitedBy(pod) : placed;
    if (IsReady(pod)) {
      ready.insert(node);
    } else if (!node.empty()) {
      state.unready_servers.emplace(node, pod.metadata.name);
    }
  }
  std::erase_if(state.unready_servers, [&](const auto& unready) { return ready.contains(unready.first); });
  return {};
}

Result<> TakeoverCluster::ReadNodes(TakeoverState& state) {
  state.nodes = TRY(ReadAll<api::Node>());
  if (!state.daemon) return {};
  const std::string selector = PodSelectorOf(*state.daemon);
  if (selector.empty()) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("DaemonSet {}: its pods cannot be selected by spec.selector; correct it, or delete the "
                             "DaemonSet",
                             state.daemon->metadata.name));
  }
  for (const WholePod& pod :
       TRY(ReadAll<WholePod>({.namespace_name = settings_.namespace_name, .label_selector = selector}))) {
    const std::string node = pod.spec.TextAt({"nodeName"});
    if (!node.empty()) state.nodes_with_daemon.insert(node);
    if (std::string awaited = NodeAwaitedBy(pod); !awaited.empty()) state.nodes_awaiting_daemon.insert(awaited);
  }
  return {};
}

// The requests go through the API server, because this program may run outside of the network of the pods.
Result<std::vector<ServerReplica>> TakeoverCluster::ReadServerReplicas(const WholeDeployment& ours) {
  std::vector<ServerReplica> replicas;
  const auto port = IgnitionPortOf(ours);
  const std::string selector = PodSelectorOf(ours);
  if (!port || selector.empty()) return replicas;
  kube::Patience once;
  once.attempts = 1;
  for (const api::Pod& pod :
       TRY(ReadAll<api::Pod>({.namespace_name = settings_.own_namespace, .label_selector = selector}))) {
    if (HasEnded(pod)) continue;
    ServerReplica& replica = replicas.emplace_back();
    replica.pod = pod.metadata.name;
    replica.node = pod.spec.node_name;
    replica.phase = PhaseOf(pod);
    if (replica.phase != ServerReplica::Phase::kRuns) continue;
    kube::ApiRequest request = {
        .path = fmt::format("/api/v1/namespaces/{}/pods/https:{}:{}/proxy{}", settings_.own_namespace,
                            pod.metadata.name, *port, serving::kConfigsHealthPath),
        .doing =
            fmt::format("asking the Ignition server in the pod {} for the health of its configs", pod.metadata.name)};
    request.timeouts.whole = kServerPatience;
    replica.answers = Send(std::move(request), kube::Repeatable::kNo, once).has_value();
  }
  return replicas;
}

Result<> TakeoverCluster::Write(const TakeoverWrite& write, WriteMode mode) {
  kube::ApiRequest request = TRY(RequestFor(write));
  if (mode == WriteMode::kDryRun) {
    // The API server ignores this parameter in a deletion with a body.
    assert(!write.patch.is_null());
    request.path += request.path.find('?') == std::string::npos ? "?dryRun=All" : "&dryRun=All";
  }
  TRY(Send(std::move(request), kube::Repeatable::kNo));
  return {};
}

Result<> TakeoverCluster::Wait(std::chrono::milliseconds time) {
  event::Timer timer(loop_, [this] { loop_.Stop(); });
  timer.After(time);
  return loop_.Run();
}

}  // namespace pintle::controller
