// SPDX-License-Identifier: Apache-2.0
#pragma once

// /etc/containers/storage.conf: where container images are kept on a node, and how.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pintle::generated {

// What is to differ from the template.  What is empty stays as the template has it.
struct StorageChanges {
  std::string size;  // Of a container's own layer.
  std::vector<std::string> additional_layer_stores;
  std::vector<std::string> additional_image_stores;
};

// The template with these changes.  It is read and written again by way of the settings that the container tools know,
// as the operator does: comments and all other settings go.
Result<std::string> StorageConf(std::string_view from_template, const StorageChanges& changes);

}  // namespace pintle::generated
