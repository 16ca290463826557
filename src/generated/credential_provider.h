// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes a config from a CRIOCredentialProviderConfig.  The config adds one provider to the kubelet's credential
// providers.  This provider gives CRI-O the secrets of a pod's own namespace for certain images.

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
  // The images that another provider covers already, sorted.  The new provider omits them.
  std::vector<std::string> overlapping;
};

// `platform` is the platform of the cluster, such as "AWS".  `template_configs` are made from the templates of the
// pool's role.  If `spec` lists images, it is an error if the platform is not AWS, Azure or GCP, because other
// platforms have no file of providers.
Result<CredentialProviderFiles> FilesOf(const api::CredentialProviderConfigSpec& spec, std::string_view platform,
                                        std::span<const MachineConfig> template_configs);

// Returns whether the patterns overlap: the ports are equal, the path of one begins with the path of the other, and for
// each part of the two hosts, one pattern matches the text of the other.
bool DoOverlap(std::string_view images, std::string_view other_images);

MachineConfig CredentialProviderMachineConfig(const api::MachineConfigPool& pool, const std::vector<NewFile>& files,
                                              const api::CredentialProviderConfig& owner,
                                              std::string_view controller_version);

// Returns the conditions after the config was made or could not be made.  `problem` is the reason of a failure, or "".
std::vector<api::ConditionWithGeneration> ConditionsOf(const api::CredentialProviderConfig& config,
                                                       const std::vector<std::string>& overlapping,
                                                       std::string_view problem, WallTime now);

}  // namespace pintle::generated
