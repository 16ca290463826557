// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/go_json.h"

#include "json/fields.h"
#include "json/go_json.h"

namespace pintle::machineconfig {

// Encode() would copy the Ignition config, which may have many megabytes.  So the Ignition config is measured by
// itself, and the rest is encoded with null in its place.
std::size_t GoJsonLength(const api::MachineConfig& config) {
  api::MachineConfig without_ignition = {config.api_version, config.kind, config.metadata, {}};
  without_ignition.spec.os_image_url = config.spec.os_image_url;
  without_ignition.spec.base_os_extensions_container_image = config.spec.base_os_extensions_container_image;
  without_ignition.spec.kernel_arguments = config.spec.kernel_arguments;
  without_ignition.spec.extensions = config.spec.extensions;
  without_ignition.spec.fips = config.spec.fips;
  without_ignition.spec.kernel_type = config.spec.kernel_type;
  const std::size_t null_length = json::GoJsonLength(without_ignition.spec.config);
  return json::GoJsonLength(json::Encode(without_ignition)) - null_length + json::GoJsonLength(config.spec.config);
}

}  // namespace pintle::machineconfig
