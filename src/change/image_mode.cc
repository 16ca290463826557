// SPDX-License-Identifier: Apache-2.0
#include "change/image_mode.h"

#include <utility>

namespace pintle::change {
namespace {

constexpr const char* kOriginalAnnotation = "machineconfiguration.openshift.io/original-osimageurl";
const std::string kImageAnnotation{api::kOclOsImageUrlAnnotation};

}  // namespace

void Embed(const std::string& image, api::MachineConfig& config) {
  if (image.empty()) return;
  config.metadata.annotations[kOriginalAnnotation] = std::exchange(config.spec.os_image_url, image);
  config.metadata.annotations[kImageAnnotation] = image;
}

std::string Extract(api::MachineConfig& config) {
  const auto embedded = config.metadata.annotations.extract(kImageAnnotation);
  const auto original = config.metadata.annotations.extract(kOriginalAnnotation);
  if (embedded.empty()) return "";
  if (!original.empty()) config.spec.os_image_url = original.mapped();
  return embedded.mapped();
}

std::string EmbeddedImage(const api::MachineConfig& config) {
  const auto found = config.metadata.annotations.find(kImageAnnotation);
  return found == config.metadata.annotations.end() ? "" : found->second;
}

}  // namespace pintle::change
