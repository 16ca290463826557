// SPDX-License-Identifier: Apache-2.0
#pragma once

// Image policies for tests.

#include <string>
#include <utility>
#include <vector>

#include "api/image_policy.h"

namespace pintle::generated {

// Makes a policy with a public key.  It is one of the whole cluster if `name_space` is empty.
inline api::ImagePolicy PolicyFor(std::vector<std::string> scopes, std::string name_space = "") {
  api::ImagePolicy policy;
  policy.metadata.namespace_name = std::move(name_space);
  policy.spec.scopes = std::move(scopes);
  policy.spec.policy.root_of_trust.policy_type = "PublicKey";
  policy.spec.policy.root_of_trust.public_key = api::PublicKeyTrust{.key = api::Base64Text{"a2V5"}, .rekor_key = {}};
  return policy;
}

}  // namespace pintle::generated
