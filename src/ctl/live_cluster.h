// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads objects from a cluster while a verb runs, instead of from files that someone has saved.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ctl/cluster_objects.h"
#include "ctl/command_line.h"
#include "event/loop.h"
#include "kube/client.h"

namespace pintle::ctl {

inline constexpr Option kKubeconfigOption = {"--kubeconfig", "FILE", "use the cluster of this kubeconfig"};
inline constexpr Option kContextOption = {"--context", "NAME", "the context of the kubeconfig, if not its current one"};

// kRead makes LiveCluster::ForEach() read MachineConfigs with their Ignition configs, which are long.  Rendered
// MachineConfigs are an exception: ForEach() always leaves out their Ignition configs.
enum class ConfigBodies { kLeftOut, kRead };

class LiveCluster {
 public:
  // Returns the cluster that --kubeconfig and --context lead to.
  static Result<LiveCluster> Of(const CommandLine& line);

  // Returns the object with this name, or the error kNotFound.
  template <kube::Resource T>
  Result<T> Get(const std::string& name);

  // Returns all objects of a kind; a kind that the cluster does not know has none.
  template <kube::Resource T>
  Result<std::vector<T>> All();

  // Changes an object by a merge patch, and returns the changed object.
  template <kube::Resource T>
  Result<T> Patch(const std::string& name, json::Value merge_patch);

  // Returns the name of the user that the API server has authenticated.  Returns nullopt if the server does not answer
  // this question, as Kubernetes before 1.26 does not.
  Result<std::optional<std::string>> AuthenticatedUser();

  // Visits all objects of a kind; a kind that the cluster does not know has none.
  Result<> ForEach(const kube::ResourceKind& kind, const kube::Selection& selection,
                   const std::function<Result<>(json::Value object)>& each,
                   ConfigBodies bodies = ConfigBodies::kLeftOut);

  // Returns the objects that concern pools, as if they had come from files.  RolloutPolicies are not among them.
  Result<ClusterObjects> Objects();
  // Returns the name of the node on which the operator runs.  Returns "" if the operator has no pod, or has pods on
  // several nodes.
  Result<std::string> OperatorNode();

 private:
  LiveCluster(std::unique_ptr<event::Loop> loop, kube::Client client)
      : loop_(std::move(loop)), client_(std::move(client)) {}

  std::unique_ptr<event::Loop> loop_;
  kube::Client client_;
};

template <kube::Resource T>
Result<std::vector<T>> LiveCluster::All() {
  std::vector<T> objects;
  TRY(ForEach(kube::kResourceKind<T>, {}, [&](json::Value object) -> Result<> {
    objects.push_back(TRY(kube::Decode<T>(std::move(object))));
    return {};
  }));
  return objects;
}

template <kube::Resource T>
Result<T> LiveCluster::Patch(const std::string& name, json::Value merge_patch) {
  std::optional<Result<T>> answer;
  const kube::Call call = client_.Patch<T>({"", name}, kube::MergePatch{std::move(merge_patch)}, [&](Result<T> object) {
    answer.emplace(std::move(object));
    loop_->Stop();
  });
  TRY(loop_->Run());
  return *std::move(answer);
}

template <kube::Resource T>
Result<T> LiveCluster::Get(const std::string& name) {
  std::optional<Result<T>> answer;
  const kube::Call call = client_.Get<T>({"", name}, [&](Result<T> object) {
    answer.emplace(std::move(object));
    loop_->Stop();
  });
  TRY(loop_->Run());
  return *std::move(answer);
}

}  // namespace pintle::ctl
