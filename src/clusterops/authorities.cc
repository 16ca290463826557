// SPDX-License-Identifier: Apache-2.0
#include "clusterops/authorities.h"

#include "base/base64.h"

namespace pintle::clusterops {

std::string AuthoritiesIn(const api::ConfigMap& map, std::string_view key) {
  const std::string name(key);
  if (const auto bytes = map.binary_data.find(name); bytes != map.binary_data.end()) {
    return DecodeBase64(bytes->second).value_or("");
  }
  const auto text = map.data.find(name);
  return text == map.data.end() ? "" : DecodeBase64(text->second).value_or(text->second);
}

}  // namespace pintle::clusterops
