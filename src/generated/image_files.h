// SPDX-License-Identifier: Apache-2.0
#pragma once

// The files that a node gets from what a cluster says of images: registries, mirrors, signatures.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/image_config.h"
#include "api/image_policy.h"
#include "api/machine_config_pool.h"
#include "base/result.h"
#include "generated/image_policies.h"
#include "generated/machine_config.h"
#include "generated/mirrors.h"
#include "generated/runtime_templates.h"

namespace pintle::generated {

struct ImageInputs {
  const api::Image* image = nullptr;
  std::string release_image;
  MirrorObjects mirrors;
  // None while the feature gate SigstoreImageVerification is closed.
  std::span<const api::ImagePolicy> cluster_policies;
  std::span<const api::ImagePolicy> namespace_policies;
};

// Bootstrap counts what an Image allows twice.
enum class ImagesFor { kCluster, kBootstrap };

// What does not depend on a pool.
struct ImageRules {
  api::RegistrySources sources;
  std::vector<std::string> allowed;
  std::vector<std::string> blocked_in_registries;
  std::vector<std::string> blocked_in_policy;
  std::string payload;
  MirrorObjects mirrors;
  PolicyRequirements requirements;
  std::vector<std::string> complaints;  // For the log: what was left out, and why.
};

Result<ImageRules> RulesOf(const ImageInputs& inputs, ImagesFor whom);

// Of one role.  Errors are in the words of the Machine Config Operator.
Result<std::vector<NewFile>> FilesOf(const ImageRules& rules, const RuntimeTemplates& templates);

// The config for a pool.  A config that an older operator has named otherwise keeps that name.
std::string RegistriesConfigName(std::string_view pool);
std::string OldRegistriesConfigName(const api::ObjectMeta& pool);

// For the cluster: it says who has made it.
MachineConfig RegistriesConfig(std::string name, const api::MachineConfigPool& pool, const std::vector<NewFile>& files,
                               const api::Image& image, std::string_view controller_version);
// At bootstrap it does not, so that the cluster's controller makes it anew.
MachineConfig RegistriesConfigAtBootstrap(const api::MachineConfigPool& pool, const std::vector<NewFile>& files);

}  // namespace pintle::generated
