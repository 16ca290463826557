// SPDX-License-Identifier: Apache-2.0
#include "vectors/generated/kubelet_input.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "generated/kubelet_base.h"
#include "json/fields.h"
#include "machineconfig/objects.h"

namespace pintle::vectors {
namespace {

constexpr const char* kRelease = "0.0.1-snapshot";
constexpr const char* kBuild = "HASH";

bool HasKind(const std::vector<json::Value>& documents, std::string_view kind) {
  return std::any_of(documents.begin(), documents.end(),
                     [&](const json::Value& document) { return machineconfig::KindOf(document) == kind; });
}

template <typename T>
T Decoded(json::Value document) {
  json::Report report;
  T object = json::Decode<T>(std::move(document), report);
  if (const Result<> read = report.ToResult(); !read) throw std::runtime_error(read.error().message());
  return object;
}

void Add(json::Value document, KubeletInput& input) {
  const std::string kind(machineconfig::KindOf(document));
  if (kind == "ControllerConfig") {
    input.controller_config = std::move(document);
  } else if (kind == "MachineConfigPool") {
    input.pools.push_back(Decoded<api::MachineConfigPool>(std::move(document)));
  } else if (kind == api::KubeletConfig::kKind) {
    input.kubelet_configs.push_back(Decoded<api::KubeletConfig>(std::move(document)));
  } else if (kind == api::FeatureGate::kKind) {
    input.feature_gate = Decoded<api::FeatureGate>(std::move(document));
  } else if (kind == api::NodeSettings::kKind) {
    input.node = Decoded<api::NodeSettings>(std::move(document));
  } else if (kind == "APIServer") {
    input.api_server = std::move(document);
  }
}

}  // namespace

KubeletInput ReadKubeletInput(const std::vector<json::Value>& base, const std::vector<json::Value>& documents) {
  KubeletInput input;
  for (const json::Value& document : base) {
    if (!HasKind(documents, machineconfig::KindOf(document))) Add(document, input);
  }
  for (const json::Value& document : documents) Add(document, input);
  return input;
}

generated::TemplatesFor TemplatesOf(const KubeletInput& input) {
  return [&input](const std::string& pool) {
    return input.templates->For(pool, input.controller_config, &input.api_server);
  };
}

Result<generated::KubeletSettings> SettingsOf(const KubeletInput& input) {
  return generated::KubeletSettings{
      .feature_gates = TRY(generated::FeatureGatesOf(input.feature_gate, kRelease)),
      .worker_latency_profile = input.node.spec.worker_latency_profile,
      .cgroup_mode = input.node.spec.cgroup_mode,
      .controller_version = kBuild,
  };
}

}  // namespace pintle::vectors
