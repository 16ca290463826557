// SPDX-License-Identifier: Apache-2.0
#include "change/abilities.h"

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace pintle::change {

Result<> CheckAbleTo(const plan::Difference& difference) {
  struct Part {
    bool differs;
    std::string_view name;
    std::string_view field;
  };
  const Part parts[] = {
      {difference.os_image, "OS image", "osImageURL"},
      {difference.kernel_arguments, "kernel arguments", "kernelArguments"},
      {difference.kernel_type, "kernel", "kernelType"},
      {difference.extensions, "extensions", "extensions"},
      {difference.fips, "FIPS mode", "fips"},
  };
  std::string names;
  for (const Part& part : parts) {
    if (part.differs) names += fmt::format("{}{} (spec.{})", names.empty() ? "" : ", ", part.name, part.field);
  }
  if (names.empty()) return {};
  return Error(ErrorKind::kInvalid,
               fmt::format("this machine cannot change these yet: {}; take them out of the config", names));
}

}  // namespace pintle::change
