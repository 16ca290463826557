// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover_cluster.h"

#include <fmt/core.h>

#include <string>
#include <utility>
#include <variant>

#include "controller/generated_kinds.h"
#include "event/watches.h"
#include "json/fields.h"
#include "kube/patch.h"

namespace pintle::controller {
namespace {

const kube::ResourceKind& ResourceOf(TakeoverObject object) {
  switch (object) {
    case TakeoverObject::kRecord:
      return kube::kResourceKind<api::ConfigMap>;
    case TakeoverObject::kClusterVersion:
      return kube::kResourceKind<WholeClusterVersion>;
    case TakeoverObject::kDeployment:
      return kube::kResourceKind<WholeDeployment>;
    case TakeoverObject::kDaemonSet:
      return kube::kResourceKind<WholeDaemonSet>;
    case TakeoverObject::kLease:
      break;
  }
  return kube::kResourceKind<api::Lease>;
}

Result<kube::ApiRequest> RequestFor(const TakeoverWrite& write) {
  const kube::ResourceKind& kind = ResourceOf(write.object);
  const kube::ObjectName name = {.namespace_name = write.namespace_name, .name = write.name};
  if (write.is_creation) {
    return kube::ApiRequest{.method = "POST",
                            .path = TRY(kube::CollectionPath(kind, write.namespace_name)) + "?fieldManager=pintle",
                            .content_type = "application/json",
                            .body = json::ToText(write.patch),
                            .doing = fmt::format("creating {} {}", kind.kind, name.ToString())};
  }
  if (write.patch.is_null()) {
    return kube::ApiRequest{.method = "DELETE",
                            .path = TRY(kube::ObjectPath(kind, name)) + "?propagationPolicy=Background",
                            .doing = fmt::format("deleting {} {}", kind.kind, name.ToString())};
  }
  return kube::PatchRequest(kind, name, kube::JsonPatch{write.patch}, kube::Part::kObject, "pintle");
}

}  // namespace

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
Result<std::vector<T>> TakeoverCluster::ReadAll() {
  std::optional<Result<std::vector<T>>> found;
  const kube::Call call = client_.List<T>(
      {},
      [&](Result<std::vector<T>> objects) {
        found = std::move(objects);
        loop_.Stop();
      },
      [](const kube::ObjectName&, const Error&) {});
  TRY(loop_.Run());
  if (!found) return Error(ErrorKind::kCancelled, "the request was given up");
  if (!*found && found->error().kind() == ErrorKind::kNotFound) return std::vector<T>();
  return *std::move(found);
}

Result<std::vector<std::string>> TakeoverCluster::Unsupported() {
  std::vector<std::string> features;
  for (const PinnedImageSet& set : TRY(ReadAll<PinnedImageSet>())) {
    features.push_back(fmt::format("PinnedImageSet {}: nodes do not pull its images in advance", set.metadata.name));
  }
  for (const InternalReleaseImage& image : TRY(ReadAll<InternalReleaseImage>())) {
    features.push_back(fmt::format("InternalReleaseImage {}: its registry is not managed", image.metadata.name));
  }
  for (const WholeMachineConfiguration& settings : TRY(ReadAll<WholeMachineConfiguration>())) {
    if (std::as_const(settings.spec)["managedBootImages"].empty()) continue;
    features.push_back(fmt::format("MachineConfiguration {}: the boot images of machine sets are not updated",
                                   settings.metadata.name));
  }
  return features;
}

Result<TakeoverState> TakeoverCluster::Read() {
  const std::string& theirs = settings_.namespace_name;
  const std::string& own = settings_.own_namespace;
  TakeoverState state;
  state.cluster_version = TRY(ReadOne<WholeClusterVersion>({"", "version"}));
  state.operators = TRY(ReadOne<WholeDeployment>({theirs, "machine-config-operator"}));
  state.controller = TRY(ReadOne<WholeDeployment>({theirs, "machine-config-controller"}));
  state.server = TRY(ReadOne<WholeDaemonSet>({theirs, "machine-config-server"}));
  state.ours = TRY(ReadOne<WholeDeployment>({own, settings_.own_deployment}));
  state.operator_lease = TRY(ReadOne<api::Lease>({theirs, "machine-config"}));
  state.controller_lease = TRY(ReadOne<api::Lease>({theirs, "machine-config-controller"}));
  state.record = TRY(ReadOne<api::ConfigMap>({own, "pintle-takeover"}));
  return state;
}

Result<> TakeoverCluster::Write(const TakeoverWrite& write, WriteMode mode) {
  kube::ApiRequest request = TRY(RequestFor(write));
  if (mode == WriteMode::kDryRun) {
    request.path += request.path.find('?') == std::string::npos ? "?dryRun=All" : "&dryRun=All";
  }
  std::optional<kube::Fetched> answer;
  const kube::Call call = kube::Fetch(client_.transport(), std::move(request), kube::Repeatable::kNo, kube::Patience(),
                                      [&](kube::Fetched fetched) {
                                        answer = std::move(fetched);
                                        loop_.Stop();
                                      });
  TRY(loop_.Run());
  if (!answer) return Error(ErrorKind::kCancelled, "the request was given up");
  if (auto* const failure = std::get_if<kube::Failure>(&*answer)) return std::move(failure->error);
  return {};
}

Result<> TakeoverCluster::Wait(std::chrono::milliseconds time) {
  event::Timer timer(loop_, [this] { loop_.Stop(); });
  timer.After(time);
  return loop_.Run();
}

}  // namespace pintle::controller
