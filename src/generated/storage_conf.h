// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes /etc/containers/storage.conf, which sets where and how a node stores container images.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pintle::generated {

// The changes to the template.  An empty member leaves the template's value.
struct StorageChanges {
  std::string size;  // The limit of what a container may write to its own layer.
  std::vector<std::string> additional_layer_stores;
  std::vector<std::string> additional_image_stores;
};

// Applies the changes to the template.  As in the operator, only the settings that the container tools know are read
// and written, so comments and unknown settings are dropped.
Result<std::string> StorageConf(std::string_view template_text, const StorageChanges& changes);

}  // namespace pintle::generated
