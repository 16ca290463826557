// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the files that configure registries, mirrors and signatures on nodes.

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
  // Both lists of policies are empty while the feature gate SigstoreImageVerification is closed.
  std::span<const api::ImagePolicy> cluster_policies;
  std::span<const api::ImagePolicy> namespace_policies;
};

// Files are made for a running cluster, or for its installation.  For an installation, the allowed registries of an
// Image are added twice, as in the operator.
enum class ImagesFor { kCluster, kBootstrap };

// The inputs of the files that are the same for all pools.  The lists of registries are those of PayloadRegistries.
struct ImageRules {
  api::RegistrySources sources;
  std::vector<std::string> allowed;
  std::vector<std::string> blocked_in_registries;  // For registries.conf.
  std::vector<std::string> blocked_in_policy;      // For policy.json.
  std::string payload;                             // The repository of the cluster's release.
  MirrorObjects mirrors;
  PolicyRequirements requirements;
  std::vector<std::string> complaints;  // Messages for the log about inputs that were left out.
};

// Works out the rules from the objects of the cluster.
Result<ImageRules> ImageRulesOf(const ImageInputs& inputs, ImagesFor purpose);

// Makes the files for one role.  Errors have the words of the Machine Config Operator.
Result<std::vector<NewFile>> FilesOf(const ImageRules& rules, const RuntimeTemplates& templates);

// These functions return the name of a pool's config, and the name that older operators gave the config.  A config with
// the old name is not renamed.
std::string RegistriesConfigName(std::string_view pool);
std::string OldRegistriesConfigName(const api::ObjectMeta& pool);

// Makes the config in a running cluster.  The config is annotated with the build that made it.
MachineConfig RegistriesConfig(std::string name, const api::MachineConfigPool& pool, const std::vector<NewFile>& files,
                               const api::Image& image, std::string_view controller_version);
// Makes the config at bootstrap.  The config is not annotated with a build, so that the controller of the cluster makes
// it again.
MachineConfig RegistriesConfigAtBootstrap(const api::MachineConfigPool& pool, const std::vector<NewFile>& files);

}  // namespace pintle::generated
