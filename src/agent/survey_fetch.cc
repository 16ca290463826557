// SPDX-License-Identifier: Apache-2.0
#include "agent/survey_fetch.h"

#include <fmt/core.h>

#include <memory>
#include <string>
#include <utility>

#include "change/image_mode.h"
#include "machineconfig/ignition_part.h"

namespace pintle::agent {
namespace {

// A cluster has one MachineConfiguration, which has this name.
constexpr const char* kMachineConfigurationName = "cluster";

// The config is large, and read only once, so it is moved out of the provided config when it is read.
ProvidedConfig ProvidedConfigOf(Goal goal, api::MachineConfig object) {
  const auto shared = std::make_shared<api::MachineConfig>(std::move(object));
  auto read = [shared, image = goal.image]() -> Result<change::CurrentConfig> {
    change::CurrentConfig config;
    config.object = std::move(*shared);
    change::Embed(image, config.object);
    json::Report report;
    config.ignition = TRY(machineconfig::ParseIgnitionPart(config.object, report), config.object.metadata.name);
    return config;
  };
  return {std::move(goal), std::move(read)};
}

}  // namespace

void SurveyFetch::Begin(std::optional<Goal> assumed, std::optional<Goal> wanted) {
  open_requests_ = 1;  // Begin() itself counts as a request, so that `done_` is called only after all others are sent.
  if (assumed) FetchConfig(*assumed, request_.assumed);
  if (wanted && wanted == assumed) {
    wanted_is_assumed_ = true;
  } else if (wanted) {
    FetchConfig(*wanted, request_.wanted);
  }
  if (wanted) FetchPolicy();
  EndRequest();
}

void SurveyFetch::FetchConfig(const Goal& goal, std::optional<ProvidedConfig>& target) {
  ++open_requests_;
  calls_.push_back(
      client_.Get<api::MachineConfig>({"", goal.config}, [this, goal, &target](Result<api::MachineConfig> config) {
        if (!config) return Fail(std::move(config).error().While(fmt::format("reading the config {}", goal.config)));
        target = ProvidedConfigOf(goal, *std::move(config));
        EndRequest();
      }));
}

void SurveyFetch::FetchPolicy() {
  ++open_requests_;
  calls_.push_back(client_.Get<api::MachineConfiguration>(
      {"", kMachineConfigurationName},
      [this](Result<api::MachineConfiguration>&& configuration) { OnPolicy(std::move(configuration)); }));
}

void SurveyFetch::OnPolicy(Result<api::MachineConfiguration>&& configuration) {
  if (configuration) {
    TakePolicy(*std::move(configuration));
  } else if (const Error& error = configuration.error(); error.kind() != ErrorKind::kNotFound) {
    return Fail(Error(error).While("reading the policy of updates"));
  }
  EndRequest();
}

// An operator completes the administrator's policy, and stores the result in the status.  If there is no result, or
// only that of an older policy, the administrator's policy is used as it is.
void SurveyFetch::TakePolicy(api::MachineConfiguration configuration) {
  request_.overrides = std::move(configuration.spec.irreconcilable_validation_overrides);
  auto& completed = configuration.status.node_disruption_policy_status.cluster_policies;
  const bool is_fresh = configuration.status.observed_generation == configuration.metadata.generation;
  request_.policy =
      completed && is_fresh ? *std::move(completed) : std::move(configuration.spec.node_disruption_policy);
}

void SurveyFetch::EndRequest() {
  if (--open_requests_ > 0) return;
  if (wanted_is_assumed_) request_.wanted = request_.assumed;
  const Done done = std::move(done_);
  done(std::move(request_));
}

void SurveyFetch::Fail(Error error) {
  const Done done = std::exchange(done_, nullptr);
  calls_.clear();
  if (done) done(std::move(error));
}

}  // namespace pintle::agent
