// SPDX-License-Identifier: Apache-2.0
#pragma once

// The allowed and the blocked registries of a cluster, and the payload: the repository that has the images of the
// cluster's release.
//
// The payload is blocked only if a mirror has its images.  Otherwise the cluster could not pull its own images.

#include <string>
#include <string_view>
#include <vector>

#include "api/image_config.h"
#include "base/result.h"
#include "generated/mirrors.h"

namespace pintle::generated {

struct PayloadRegistries {
  std::string payload;
  // The allowed registries of the Image, and the payload if it is blocked and a mirror has its images.
  std::vector<std::string> allowed;
  std::vector<std::string> blocked_in_registries;  // For registries.conf.
  std::vector<std::string> blocked_in_policy;      // For policy.json.
  std::vector<std::string> left_out;  // Registries that are not blocked, because no mirror has the payload's images.
  // The reason why Pintle cannot determine the repositories from which nodes pull the release, or "".  If there is such
  // a reason, all lists are empty.
  std::string problem;
};

// Splits the registries of an Image into the lists above.  It is an error if `release_image` is not the full name of an
// image.
Result<PayloadRegistries> SplitRegistries(const api::RegistrySources& sources, std::string_view release_image,
                                          const MirrorObjects& mirrors);

// Returns the message about a registry that is left out, in the words of the Machine Config Operator.
std::string WhyLeftOut(std::string_view scope);

}  // namespace pintle::generated
