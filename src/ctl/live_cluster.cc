// SPDX-License-Identifier: Apache-2.0
#include "ctl/live_cluster.h"

#include <fmt/core.h>

#include <map>
#include <set>
#include <string_view>
#include <variant>

#include "api/pod.h"
#include "controller/watched.h"
#include "json/parse.h"
#include "kube/attempts.h"
#include "kube/list.h"

namespace pintle::ctl {
namespace {

// A request is tried this many times.  A person waits for the answer, so the waits between the attempts take at most
// seven seconds together, unless the server asks for a longer wait.
constexpr int kAttempts = 4;
constexpr std::string_view kOperatorNamespace = "openshift-machine-config-operator";
constexpr std::string_view kOperatorLabel = "k8s-app=machine-config-operator";

kube::Patience BriefPatience() {
  kube::Patience patience;
  patience.attempts = kAttempts;
  return patience;
}

// Removes the Ignition config of a MachineConfig, which is long and which pools do not need.
void DropConfig(json::Value& document) {
  if (json::Value* spec = document.Find("spec")) spec->Erase("config");
}

bool IsRenderedConfig(const json::Value& document) {
  return document.TextAt({"metadata", "name"}).starts_with("rendered-");
}

// Returns the name of an object, with its namespace if it has one: objects of several namespaces may have the same
// name.
std::string NameIn(const json::Value& document) {
  const std::string& name = document.TextAt({"metadata", "name"});
  const std::string& namespace_name = document.TextAt({"metadata", "namespace"});
  return namespace_name.empty() ? name : fmt::format("{}/{}", namespace_name, name);
}

}  // namespace

Result<LiveCluster> LiveCluster::Of(const CommandLine& line) {
  auto access =
      TRY(kube::Access::FromKubeconfig(TRY(line.Needed("--kubeconfig")), line.Value("--context").value_or("")));
  auto loop = TRY(event::Loop::Create());
  auto client = TRY(kube::Client::Create(*loop, std::move(access), {.patience = BriefPatience()}));
  return LiveCluster(std::move(loop), std::move(client));
}

Result<> LiveCluster::ForEach(const kube::ResourceKind& kind, const kube::Selection& selection,
                              const std::function<Result<>(json::Value object)>& each, ConfigBodies bodies) {
  std::map<std::string, json::Value> found;  // By name: after a page has failed, its objects come again.
  std::optional<std::variant<std::string, kube::Failure>> outcome;
  const kube::Call call = kube::List(client_.transport(), kind, selection, BriefPatience(),
                                     {.begin = [&] { found.clear(); },
                                      .item = [&](json::Value object) -> Result<> {
                                        const bool is_config = kind.kind == api::MachineConfig::kKind;
                                        const bool is_read = bodies == ConfigBodies::kRead && !IsRenderedConfig(object);
                                        if (is_config && !is_read) DropConfig(object);
                                        found.insert_or_assign(NameIn(object), std::move(object));
                                        return {};
                                      },
                                      .end =
                                          [&](std::variant<std::string, kube::Failure> end) {
                                            outcome = std::move(end);
                                            loop_->Stop();
                                          }});
  TRY(loop_->Run());
  if (const auto* failure = std::get_if<kube::Failure>(&*outcome)) {
    if (failure->error.kind() == ErrorKind::kNotFound) return {};
    return failure->error;
  }
  for (auto& [name, object] : found) TRY(each(std::move(object)), fmt::format("{} {}", kind.kind, name));
  return {};
}

Result<std::optional<std::string>> LiveCluster::AuthenticatedUser() {
  for (const std::string_view version : {"v1", "v1beta1"}) {
    json::Value review;
    review["apiVersion"] = fmt::format("authentication.k8s.io/{}", version);
    review["kind"] = "SelfSubjectReview";
    std::optional<kube::Fetched> answer;
    const kube::Call call =
        kube::Fetch(client_.transport(),
                    {.method = "POST",
                     .path = fmt::format("/apis/authentication.k8s.io/{}/selfsubjectreviews", version),
                     .content_type = "application/json",
                     .body = json::ToText(review),
                     .doing = "asking for the name of the user"},
                    kube::Repeatable::kYes, BriefPatience(), [&](kube::Fetched fetched) {
                      answer = std::move(fetched);
                      loop_->Stop();
                    });
    TRY(loop_->Run());
    const auto* const text = std::get_if<std::string>(&*answer);
    if (text == nullptr) continue;
    const auto document = json::Parse(*text);
    const std::string name = document ? document->TextAt({"status", "userInfo", "username"}) : "";
    if (!name.empty()) return std::optional(name);
  }
  return std::optional<std::string>();
}

Result<ClusterObjects> LiveCluster::Objects() {
  ClusterObjects objects;
  const kube::ResourceKind kinds[] = {
      kube::kResourceKind<api::MachineConfigPool>, kube::kResourceKind<api::Node>,
      kube::kResourceKind<api::MachineConfigNode>, kube::kResourceKind<api::MachineOSConfig>,
      kube::kResourceKind<api::MachineOSBuild>,    kube::kResourceKind<api::MachineConfig>,
      kube::kResourceKind<api::ControllerConfig>,  kube::kResourceKind<api::OSImageStream>,
  };
  for (const kube::ResourceKind& kind : kinds) {
    TRY(ForEach(kind, {}, [&](json::Value object) { return AddDocument(std::move(object), kind.kind, objects); }));
  }
  return objects;
}

Result<std::string> LiveCluster::OperatorNode() {
  std::set<std::string> nodes;
  TRY(ForEach(kube::kResourceKind<api::Pod>,
              {.namespace_name = std::string(kOperatorNamespace), .label_selector = std::string(kOperatorLabel)},
              [&](json::Value pod) -> Result<> {
                nodes.insert(pod.TextAt({"spec", "nodeName"}));
                return {};
              }));
  return nodes.size() == 1 ? *nodes.begin() : std::string();
}

}  // namespace pintle::ctl
