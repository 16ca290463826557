// SPDX-License-Identifier: Apache-2.0
#include "vectors/generated/kubelet_input.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "generated/kubelet_base.h"
#include "generated/tls_settings.h"
#include "machineconfig/objects.h"
#include "machineconfig/yaml.h"
#include "vectors/generated/case_files.h"

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
  } else if (kind == api::ApiServer::kKind) {
    input.api_server = Decoded<api::ApiServer>(std::move(document));
  }
}

void Replace(std::string_view what, std::string_view with, std::string& text) {
  const std::size_t at = text.find(what);
  if (at != std::string::npos) text.replace(at, what.size(), with);
}

// The template of a kubelet.conf uses three things of all that templates may have.
std::string Filled(std::string text, const std::string& dns_address, const generated::TlsSettings& tls) {
  Replace("{{.ClusterDNSIP}}", dns_address, text);
  Replace("{{.TLSMinVersion}}", tls.min_version, text);
  const std::size_t begin = text.find("{{- range .TLSCipherSuites }}");
  constexpr std::string_view kEnd = "{{- end }}";
  const std::size_t end = text.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos) return text;
  std::string lines;
  for (const std::string& suite : tls.cipher_suites) lines += "\n        - " + suite;
  const std::size_t trimmed = text.find_last_not_of(" \n", begin - 1) + 1;
  text.replace(trimmed, end + kEnd.size() - trimmed, lines);
  return text;
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
  return [&input](const std::string& pool) -> Result<std::vector<generated::MachineConfig>> {
    const bool has_own = pool == api::kMasterPool || pool == api::kArbiterPool;
    const std::string role = has_own ? pool : std::string(api::kWorkerPool);
    const auto folder = input.templates / role / fmt::format("01-{}-kubelet", role) / "_base" / "files";
    const std::string text =
        Filled(TextOf(folder / "kubelet.yaml"), input.controller_config.TextAt({"spec", "clusterDNSIP"}),
               generated::TlsSettingsOf(input.api_server.spec.tls_security_profile));
    const std::vector<json::Value> documents = TRY(machineconfig::ParseYaml(text));
    generated::MachineConfig config;
    config.name = fmt::format("01-{}-kubelet", role);
    config.role = pool;
    config.config = generated::ConfigText(
        generated::ConfigOf({{documents.at(0).TextAt({"path"}), documents.at(0).TextAt({"contents", "inline"})}}));
    return std::vector{std::move(config)};
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
