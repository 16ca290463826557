// SPDX-License-Identifier: Apache-2.0
#include "change/staged_image.h"

#include "change/kept_file.h"

namespace pintle::change {

Result<std::optional<StagedImage>> ReadStagedImage(const Root& root) {
  return ReadKept<StagedImage>(root, format::kStagedImage);
}

Result<> KeepStagedImage(const Root& root, const std::optional<StagedImage>& staged) {
  return Keep(root, format::kStagedImage, staged);
}

}  // namespace pintle::change
