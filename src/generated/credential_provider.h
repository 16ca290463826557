// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes a config from a CRIOCredentialProviderConfig.  The config adds one provider to the kubelet's credential
// providers.  This provider gives CRI-O the secrets of a pod's own namespace for certain images.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/credential_provider_config.h"
#include "api/machine_config_pool.h"
#include "base/clock.h"
#include "base/result.h"
#include "generated/machine_config.h"

namespace pintle::generated {

struct CredentialProviderFiles {
  std::vector<NewFile> files;
  // The patterns of images that overlap with a pattern of another provider, sorted.  The new provider omits them.
  std::vector<std::string> overlapping;
};

// The cluster's platform, such as "AWS", and a role with the configs that are made from its templates.
struct ProviderTemplates {
  std::string_view platform;
  std::string_view role;
  std::span<const MachineConfig> configs;
};

// Adds the provider to the file that lists the kubelet's credential providers.  On AWS, Azure and GCP, the templates
// must have this file.  Other platforms do not have it, and it is an error there if `spec` lists images.
Result<CredentialProviderFiles> FilesOf(const api::CredentialProviderConfigSpec& spec,
                                        const ProviderTemplates& templates);

// Returns the error about the templates of a role: they cannot be executed, or the file of the credential providers is
// missing.
Error ProviderTemplatesFailed(std::string_view role, std::string_view why);

// Returns whether one of the patterns includes all images of the other.
bool PatternsOverlap(std::string_view images, std::string_view other_images);

// Makes the config for a pool.
MachineConfig CredentialProviderMachineConfig(const api::MachineConfigPool& pool, const std::vector<NewFile>& files,
                                              const api::CredentialProviderConfig& owner,
                                              std::string_view controller_version);

// Returns the conditions after the config was made or could not be made.  `overlapping` is nullopt if no files could be
// made for any pool; then it is unknown which images overlap.  `problem` is the reason of a failure, or "".
std::vector<api::ConditionWithGeneration> ConditionsOf(const api::CredentialProviderConfig& config,
                                                       const std::optional<std::vector<std::string>>& overlapping,
                                                       std::string_view problem, WallTime now);

}  // namespace pintle::generated
