// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/go_json.h"

#include "json/fields.h"
#include "json/go_json.h"

namespace pintle::machineconfig {

std::size_t GoJsonLength(const api::MachineConfig& config) {
  api::MachineConfig rest = {config.api_version, config.kind, config.metadata, {}};
  rest.spec.os_image_url = config.spec.os_image_url;
  rest.spec.base_os_extensions_container_image = config.spec.base_os_extensions_container_image;
  rest.spec.kernel_arguments = config.spec.kernel_arguments;
  rest.spec.extensions = config.spec.extensions;
  rest.spec.fips = config.spec.fips;
  rest.spec.kernel_type = config.spec.kernel_type;
  const std::size_t null_length = json::GoJsonLength(rest.spec.config);
  return json::GoJsonLength(json::Encode(rest)) - null_length + json::GoJsonLength(config.spec.config);
}

}  // namespace pintle::machineconfig
