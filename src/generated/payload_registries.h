// SPDX-License-Identifier: Apache-2.0
#pragma once

// Registries that are allowed and blocked, when among them is the one of the release that the cluster runs.
//
// To block that one would leave the cluster without its own images, so that it is done only if they can be had from a
// mirror.

#include <string>
#include <string_view>
#include <vector>

#include "api/image_config.h"
#include "base/result.h"
#include "generated/mirrors.h"

namespace pintle::generated {

struct PayloadRegistries {
  std::string payload;                             // The repository of the release.
  std::vector<std::string> allowed;                // With the payload, where it is blocked and had from a mirror.
  std::vector<std::string> blocked_in_registries;  // In registries.conf.
  std::vector<std::string> blocked_in_policy;      // In policy.json.
  std::vector<std::string> left_out;               // Blocked ones that cannot be.
};

Result<PayloadRegistries> SplitRegistries(const api::RegistrySources& sources, std::string_view release_image,
                                          const MirrorObjects& mirrors);

// What is said of one that is left out, in the words of the Machine Config Operator.
std::string WhyLeftOut(std::string_view scope);

}  // namespace pintle::generated
