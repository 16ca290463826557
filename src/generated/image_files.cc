// SPDX-License-Identifier: Apache-2.0
#include "generated/image_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "generated/managed_names.h"
#include "generated/payload_registries.h"
#include "generated/policy_json.h"
#include "generated/registries_conf.h"
#include "generated/scopes.h"
#include "generated/sigstore_registries.h"

namespace pintle::generated {
namespace {

constexpr std::string_view kRegistriesFailed = "could not update registries config with new changes";
constexpr std::string_view kPolicyFailed = "could not update policy json with new changes";
constexpr std::string_view kNamespacePoliciesFailed = "could not update namespace policy JSON from imagepolicy";

void AddIfAny(std::vector<NewFile>& files, std::string_view path, std::string contents) {
  if (!contents.empty()) files.push_back({std::string(path), std::move(contents)});
}

bool ChangesRegistries(const ImageRules& rules) {
  return rules.sources.insecure || !rules.blocked_in_registries.empty() || !rules.mirrors.is_empty();
}

Result<RegistriesConf> RegistriesConfFor(const ImageRules& rules, const RuntimeTemplates& templates) {
  const std::vector<std::string> insecure = rules.sources.insecure.value_or(std::vector<std::string>());
  TRY(CheckScopes("insecure", insecure));
  TRY(CheckScopes("blocked", rules.blocked_in_registries));
  TRY(CheckMirrors(rules.mirrors));
  RegistriesConf conf = TRY(ReadRegistriesConf(templates.registries_conf), "reading the template of registries.conf");
  TRY(Edit(conf, {insecure, rules.blocked_in_registries}, rules.mirrors));
  return conf;
}

PolicyScopes ScopesOf(const ImageRules& rules) { return {rules.allowed, rules.blocked_in_policy, rules.payload}; }

// Makes the policy of the cluster, or returns "" if the template's policy stays.  If only a namespace has requirements,
// the policy is needed all the same, because the policy of the namespace is based on it.
Result<std::string> ClusterPolicy(const ImageRules& rules, const RuntimeTemplates& templates) {
  const bool is_changed = !rules.allowed.empty() || !rules.blocked_in_policy.empty() || !rules.requirements.is_empty();
  if (!is_changed) return std::string();
  return PolicyJson(templates.policy_json, ScopesOf(rules), rules.requirements.of_cluster);
}

Result<std::vector<NewFile>> NamespacePolicies(const ImageRules& rules, std::string_view cluster_policy) {
  std::vector<NewFile> files;
  for (const auto& [name, requirements] : rules.requirements.of_namespaces) {
    AddIfAny(files, fmt::format("/etc/crio/policies/{}.json", name),
             TRY(NamespacePolicyJson(cluster_policy, ScopesOf(rules), requirements)));
  }
  return files;
}

std::string SearchRegistriesConf(const api::RegistrySources& sources) {
  if (!sources.search) return "";
  RegistriesConf conf;
  conf.unqualified_search_registries = sources.search;
  return Write(conf);
}

}  // namespace

Result<ImageRules> ImageRulesOf(const ImageInputs& inputs, ImagesFor purpose) {
  ImageRules rules;
  rules.mirrors = inputs.mirrors;
  const auto read_policies = [&]() -> Result<> {
    rules.requirements = TRY(RequirementsOf(inputs.cluster_policies, inputs.namespace_policies));
    return {};
  };
  // As in the operator, a problem with a policy is reported first at bootstrap, and last in a cluster.
  if (purpose == ImagesFor::kBootstrap) TRY(read_policies());
  if (inputs.image != nullptr) {
    rules.sources = inputs.image->spec.registry_sources;
    PayloadRegistries split = TRY(SplitRegistries(rules.sources, inputs.release_image, inputs.mirrors));
    for (const std::string& scope : split.left_out) rules.complaints.push_back(WhyLeftOut(scope));
    if (!split.problem.empty()) {
      rules.complaints.push_back(
          fmt::format("cannot determine the registry from which nodes pull the release, so no registry is blocked and "
                      "the list of allowed registries has no effect: {}",
                      split.problem));
    }
    rules.allowed = std::move(split.allowed);
    if (purpose == ImagesFor::kBootstrap && rules.sources.allowed) {
      rules.allowed.insert(rules.allowed.end(), rules.sources.allowed->begin(), rules.sources.allowed->end());
    }
    rules.blocked_in_registries = std::move(split.blocked_in_registries);
    rules.blocked_in_policy = std::move(split.blocked_in_policy);
    rules.payload = std::move(split.payload);
  }
  if (purpose == ImagesFor::kCluster) TRY(read_policies());
  return rules;
}

Result<std::vector<NewFile>> FilesOf(const ImageRules& rules, const RuntimeTemplates& templates) {
  std::vector<NewFile> files;
  RegistriesConf conf;
  if (ChangesRegistries(rules)) {
    conf = TRY(RegistriesConfFor(rules, templates), kRegistriesFailed);
    AddIfAny(files, "/etc/containers/registries.conf", Write(conf));
  }
  const std::string policy = TRY(ClusterPolicy(rules, templates), kPolicyFailed);
  AddIfAny(files, "/etc/containers/policy.json", policy);
  // The file of signatures comes before the policies of namespaces.  But if both fail, the error about the policies is
  // returned.
  std::vector<NewFile> of_namespaces = TRY(NamespacePolicies(rules, policy), kNamespacePoliciesFailed);
  AddIfAny(files, "/etc/containers/registries.d/sigstore-registries.yaml",
           TRY(SigstoreRegistries(rules.requirements, conf)));
  std::move(of_namespaces.begin(), of_namespaces.end(), std::back_inserter(files));
  AddIfAny(files, "/etc/containers/registries.conf.d/01-image-searchRegistries.conf",
           SearchRegistriesConf(rules.sources));
  return files;
}

std::string RegistriesConfigName(std::string_view pool) { return fmt::format("99-{}-generated-registries", pool); }

std::string OldRegistriesConfigName(const api::ObjectMeta& pool) { return OldConfigName("99", pool, "registries"); }

MachineConfig RegistriesConfig(std::string name, const api::MachineConfigPool& pool, const std::vector<NewFile>& files,
                               const api::Image& image, std::string_view controller_version) {
  MachineConfig config = NewConfig(std::move(name), pool.metadata.name, files);
  config.annotations = MadeBy(controller_version);
  // The Image belongs to another operator, so the reference does not name it as the controller of our config.
  config.owner_references = {OwnedBy(api::kConfigApiVersion, api::Image::kKind, image.metadata)};
  return config;
}

MachineConfig RegistriesConfigAtBootstrap(const api::MachineConfigPool& pool, const std::vector<NewFile>& files) {
  const std::string& role = pool.metadata.name;
  MachineConfig config = NewConfig(RegistriesConfigName(role), role, files);
  config.owner_references = {OwnedAtBootstrap(api::kConfigApiVersion, api::Image::kKind)};
  return config;
}

}  // namespace pintle::generated
