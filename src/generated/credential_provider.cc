// SPDX-License-Identifier: Apache-2.0
#include "generated/credential_provider.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "api/image_config.h"
#include "api/meta.h"
#include "base/first_characters.h"
#include "base/printable.h"
#include "generated/go_duration.h"
#include "generated/invalid.h"
#include "generated/read_back.h"
#include "generated/scopes.h"
#include "json/fields.h"
#include "json/report.h"
#include "machineconfig/go_yaml.h"
#include "machineconfig/yaml.h"

namespace pintle::generated {
namespace {

// The name of the provider that these files add.
constexpr std::string_view kCrioProvider = "crio-credential-provider";

// A platform whose own registry has a credential provider, and the file that configures this provider.
struct PlatformFile {
  std::string_view platform;
  std::string_view path;
};

constexpr auto kPlatformFiles = std::to_array<PlatformFile>({
    {"AWS", "/etc/kubernetes/credential-providers/ecr-credential-provider.yaml"},
    {"Azure", "/etc/kubernetes/credential-providers/acr-credential-provider.yaml"},
    {"GCP", "/etc/kubernetes/credential-providers/gcr-credential-provider.yaml"},
});

// The next three structs have the members that Kubernetes defines for the platform's file.  As in the operator, other
// members of the file are left out.
struct EnvironmentVariable {
  std::string name;
  std::string value;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"name", &EnvironmentVariable::name},
      json::Required{"value", &EnvironmentVariable::value},
  };
};

struct Provider {
  std::string name;
  std::vector<std::string> match_images;
  std::optional<std::string> default_cache_duration;
  std::string api_version;
  std::vector<std::string> args;
  std::vector<EnvironmentVariable> env;
  json::Value token_attributes;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"name", &Provider::name},
      json::Required{"matchImages", &Provider::match_images},
      json::Field{"defaultCacheDuration", &Provider::default_cache_duration},
      json::Required{"apiVersion", &Provider::api_version},
      json::Field{"args", &Provider::args},
      json::Field{"env", &Provider::env},
      json::Field{"tokenAttributes", &Provider::token_attributes},
  };
};

struct ProviderConfig {
  std::string api_version = "kubelet.config.k8s.io/v1";
  std::string kind = "CredentialProviderConfig";
  std::vector<Provider> providers;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"apiVersion", &ProviderConfig::api_version},
      json::Required{"kind", &ProviderConfig::kind},
      json::Required{"providers", &ProviderConfig::providers},
  };
};

Result<ProviderConfig> ReadProviders(std::string_view text) {
  auto documents = TRY(machineconfig::ParseYaml(text));
  if (documents.size() != 1) return Invalid("the file must have one YAML document");
  json::Report report;
  auto config = json::Decode<ProviderConfig>(std::move(documents[0]), report);
  TRY(report.ToResult());
  for (Provider& provider : config.providers) {
    if (!provider.default_cache_duration) continue;
    const GoDuration duration = TRY(ParseGoDuration(*provider.default_cache_duration), "defaultCacheDuration");
    provider.default_cache_duration = GoText(duration);
  }
  return config;
}

Result<std::string> ProvidersText(const ProviderConfig& config) {
  json::Value document = json::Encode(config);
  for (json::Value& provider : document["providers"]) {
    json::Value* env = provider.Find("env");
    if (env == nullptr) continue;
    // The operator's Go struct defines no JSON names for these two fields, so Go writes them as `Name` and `Value`.
    for (json::Value& variable : *env) {
      variable = json::Value{{"Name", variable.at("name")}, {"Value", variable.at("value")}};
    }
  }
  std::string text;
  TRY(machineconfig::WriteGoYamlDocument(document, [&](std::string_view piece) { text += piece; }));
  return text;
}

Provider CrioProvider(std::vector<std::string> images) {
  Provider provider;
  provider.name = kCrioProvider;
  provider.match_images = std::move(images);
  provider.default_cache_duration = "1s";
  provider.api_version = "credentialprovider.kubelet.k8s.io/v1";
  provider.token_attributes = {{"cacheType", "Token"},
                               {"requireServiceAccount", false},
                               {"serviceAccountTokenAudience", "https://kubernetes.default.svc"}};
  return provider;
}

// Returns why the file of the credential providers is not in the configs.
std::string WhyNoProviders(std::span<const MachineConfig> configs) {
  constexpr std::string_view kIntent = "could not generate original credential provider configs";
  if (const auto problem = ParseProblemOfLast(configs)) {
    return fmt::format("{}: parsing CRIOCredentialProvider Ignition config failed with error: {}", kIntent, *problem);
  }
  return fmt::format("{}: could not find CRIOCredentialProvider Config", kIntent);
}

// Returns whether a provider other than CRI-O's covers all images of a pattern, or some of them.
bool HasProviderFor(const std::string& images, const ProviderConfig& config) {
  return std::any_of(config.providers.begin(), config.providers.end(), [&](const Provider& provider) {
    if (provider.name == kCrioProvider) return false;
    return std::any_of(provider.match_images.begin(), provider.match_images.end(),
                       [&](const std::string& pattern) { return PatternsOverlap(pattern, images); });
  });
}

// Adds CRI-O's provider.  If the platform's file already has this provider, only its images are replaced.
void SetCrioProvider(std::vector<std::string> images, ProviderConfig& config) {
  auto& providers = config.providers;
  const auto known = std::find_if(providers.begin(), providers.end(),
                                  [](const Provider& provider) { return provider.name == kCrioProvider; });
  if (known == providers.end()) {
    providers.push_back(CrioProvider(std::move(images)));
  } else {
    known->match_images = std::move(images);
  }
}

// Adds the condition, or replaces the condition of the same type.  If the status does not change, the time stays.
void AddOrReplace(std::vector<api::ConditionWithGeneration>& conditions, api::ConditionWithGeneration condition) {
  const auto same = std::find_if(conditions.begin(), conditions.end(),
                                 [&](const auto& before) { return before.type == condition.type; });
  if (same == conditions.end()) {
    conditions.push_back(std::move(condition));
    return;
  }
  if (same->status == condition.status) condition.last_transition_time = same->last_transition_time;
  *same = std::move(condition);
}

}  // namespace

Error ProviderTemplatesFailed(std::string_view role, std::string_view why) {
  return Invalid(fmt::format("could not generate original CRIOCredentialProvider config for role {}: {}", role, why));
}

bool PatternsOverlap(std::string_view images, std::string_view other_images) {
  return IsInside(images, other_images) || IsInside(other_images, images);
}

Result<CredentialProviderFiles> FilesOf(const api::CredentialProviderConfigSpec& spec,
                                        const ProviderTemplates& templates) {
  CredentialProviderFiles made;
  const auto file = std::find_if(kPlatformFiles.begin(), kPlatformFiles.end(),
                                 [&](const PlatformFile& f) { return f.platform == templates.platform; });
  if (file == kPlatformFiles.end()) {
    if (spec.match_images.empty()) return made;
    return Invalid(
        fmt::format("a CRIOCredentialProviderConfig takes effect on AWS, Azure and GCP only, and this "
                    "cluster is on \"{}\"; remove its matchImages",
                    templates.platform));
  }
  const std::optional<std::string> text = ContentsOfFile(templates.configs, file->path);
  if (!text) return ProviderTemplatesFailed(templates.role, WhyNoProviders(templates.configs));
  ProviderConfig config = TRY(ReadProviders(*text), "error unmarshalling credential provider config");
  std::vector<std::string> images;
  for (const std::string& image : std::set<std::string>(spec.match_images.begin(), spec.match_images.end())) {
    (HasProviderFor(image, config) ? made.overlapping : images).push_back(image);
  }
  if (images.empty()) return made;
  SetCrioProvider(std::move(images), config);
  std::string providers = TRY(ProvidersText(config));
  made.files.push_back({std::string(file->path), std::move(providers)});
  return made;
}

MachineConfig CredentialProviderMachineConfig(const api::MachineConfigPool& pool, const std::vector<NewFile>& files,
                                              const api::CredentialProviderConfig& owner,
                                              std::string_view controller_version) {
  const std::string& role = pool.metadata.name;
  MachineConfig config = NewConfig(fmt::format("97-{}-generated-credentialproviderconfig", role), role, files);
  config.annotations = MadeBy(controller_version);
  config.owner_references = {OwnedBy(api::kConfigApiVersion, api::CredentialProviderConfig::kKind, owner.metadata)};
  return config;
}

std::vector<api::ConditionWithGeneration> ConditionsOf(const api::CredentialProviderConfig& config,
                                                       const std::optional<std::vector<std::string>>& overlapping,
                                                       std::string_view problem, WallTime now) {
  const auto condition = [&](std::string_view type, const char* status, std::string_view reason, std::string message) {
    return api::ConditionWithGeneration{
        .type = std::string(type),
        .status = status,
        .observed_generation = config.metadata.generation,
        .last_transition_time = api::Time{now},
        .reason = std::string(reason),
        .message = FirstCharacters(PrintableLines(message), api::kLongestConditionMessage)};
  };
  std::vector<api::ConditionWithGeneration> conditions = config.status.conditions;
  if (overlapping && overlapping->empty()) {
    AddOrReplace(conditions, condition("Validated", "True", "Succeeded", "Success"));
  } else if (overlapping) {
    AddOrReplace(
        conditions,
        condition("Validated", "False", "ConfigurationPartiallyApplied",
                  fmt::format("CRIOCredentialProviderConfig has one or multiple entries that overlap with the original "
                              "credential provider config. Skip rendering entries: [{}].",
                              fmt::join(*overlapping, " "))));
  }
  if (problem.empty()) {
    AddOrReplace(conditions, condition("MachineConfigRendered", "True", "MachineConfigRenderingSucceeded", "Success"));
  } else {
    AddOrReplace(conditions,
                 condition("MachineConfigRendered", "False", "MachineConfigRenderingFailed", std::string(problem)));
  }
  return conditions;
}

}  // namespace pintle::generated
