// SPDX-License-Identifier: Apache-2.0
#pragma once

// A CRIOCredentialProviderConfig: the config of the kubelet's credential providers with one more provider, which hands
// CRI-O the secrets of a pod's own namespace for certain images.

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
  // Images for which another provider is there already, in their order; they are left out.
  std::vector<std::string> overlapping;
};

// `platform` is that of the cluster, such as "AWS"; `template_configs` are those that templates make for the pool's
// role.  What other platforms than AWS, Azure and GCP need is not known here, and an error.
Result<CredentialProviderFiles> FilesOf(const api::CredentialProviderConfigSpec& spec, std::string_view platform,
                                        std::span<const MachineConfig> template_configs);

// Whether there is an image that both are for.
bool DoOverlap(std::string_view images, std::string_view other_images);

MachineConfig CredentialProviderMachineConfig(const api::MachineConfigPool& pool, const std::vector<NewFile>& files,
                                              const api::CredentialProviderConfig& owner,
                                              std::string_view controller_version);

// What the status says afterwards; `problem` is why a config could not be made, or empty.
std::vector<api::GenerationCondition> ConditionsOf(const api::CredentialProviderConfig& config,
                                                   const std::vector<std::string>& overlapping,
                                                   std::string_view problem, WallTime now);

}  // namespace pintle::generated
