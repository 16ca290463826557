// SPDX-License-Identifier: Apache-2.0
#pragma once

// Fetches the inputs of a look that come from the cluster: the configs to compare, and the update policy.

#include <functional>
#include <optional>
#include <vector>

#include "agent/source.h"
#include "api/machine_config.h"
#include "api/machine_configuration.h"
#include "base/result.h"
#include "kube/client.h"

namespace pintle::agent {

class SurveyFetch {
 public:
  // Called once; the call may destroy this object.
  using Done = std::function<void(Result<SurveyRequest> request)>;

  SurveyFetch(kube::Client client, Done done) : client_(std::move(client)), done_(std::move(done)) {}

  // Fetches these configs and, if there is a wanted one, the policy.
  void Begin(std::optional<Goal> assumed, std::optional<Goal> wanted);

 private:
  void FetchConfig(const Goal& goal, std::optional<ProvidedConfig>& target);
  void FetchPolicy();
  void OnPolicy(Result<api::MachineConfiguration>&& configuration);
  void TakePolicy(api::MachineConfiguration configuration);
  void EndRequest();
  void Fail(Error error);

  kube::Client client_;
  Done done_;
  SurveyRequest request_;
  bool wanted_is_assumed_ = false;  // The wanted config is the assumed one, so it is fetched once.
  int open_requests_ = 0;
  std::vector<kube::Call> calls_;
};

}  // namespace pintle::agent
