// SPDX-License-Identifier: Apache-2.0
#include "clusterops/registry_authorities.h"

#include <array>
#include <string_view>

#include "base/base64.h"
#include "base/utf8.h"

namespace pintle::clusterops {

api::ConfigMap MergedRegistryAuthorities(const json::Value& spec) {
  constexpr auto kLists = std::to_array<std::string_view>({"imageRegistryBundleData", "imageRegistryBundleUserData"});
  api::ConfigMap merged;
  for (const std::string_view list : kLists) {
    for (const json::Value& entry : spec[list]) {
      const std::string& file = entry.TextAt({"file"});
      const auto bytes = DecodeBase64(entry.TextAt({"data"}));
      if (file.empty() || !bytes) continue;
      merged.data.erase(file);
      merged.binary_data.erase(file);
      if (IsUtf8(*bytes)) {
        merged.data[file] = *bytes;
      } else {
        merged.binary_data[file] = EncodeBase64(*bytes);
      }
    }
  }
  return merged;
}

}  // namespace pintle::clusterops
