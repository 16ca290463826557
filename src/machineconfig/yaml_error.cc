// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/yaml_error.h"

#include <fmt/core.h>

namespace pintle::machineconfig {

Error YamlErrorAt(std::size_t line, std::string_view problem) {
  return Error(ErrorKind::kInvalid, fmt::format("not YAML: line {}: {}", line, problem));
}

Error GoYamlError(std::string_view problem) { return Error(ErrorKind::kInvalid, fmt::format("yaml: {}", problem)); }

}  // namespace pintle::machineconfig
