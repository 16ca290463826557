// SPDX-License-Identifier: Apache-2.0
#include "controller/secret_entry.h"

#include <fmt/core.h>

#include <utility>

#include "base/base64.h"

namespace pintle::controller {

Result<std::string> SecretEntry(const FollowedObject<api::Secret>& secret, const std::string& key) {
  const std::string name = secret.name().ToString();
  if (const std::string why = secret.WhyUnreadable(); !why.empty()) {
    return Error(ErrorKind::kUnavailable, fmt::format("the Secret {} cannot be read: {}", name, why));
  }
  const api::Secret* const found = secret.Find();
  if (found == nullptr) return Error(ErrorKind::kNotFound, fmt::format("there is no Secret {}; create it", name));
  const auto entry = found->data.find(key);
  if (entry == found->data.end()) {
    return Error(ErrorKind::kInvalid, fmt::format("the Secret {} has no {}; add it", name, key));
  }
  auto decoded = DecodeBase64(entry->second);
  if (!decoded) {
    return Error(ErrorKind::kInvalid, fmt::format("the Secret {}: {} is not in Base64; set it again", name, key));
  }
  if (decoded->empty()) {
    return Error(ErrorKind::kInvalid, fmt::format("the Secret {}: {} is empty; set it", name, key));
  }
  return *std::move(decoded);
}

}  // namespace pintle::controller
