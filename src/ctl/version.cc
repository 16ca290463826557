// SPDX-License-Identifier: Apache-2.0
#include "ctl/version.h"

#include <fmt/core.h>

#include "base/version.h"
#include "ctl/output.h"
#include "ctl/verbs.h"
#include "json/parse.h"

namespace pintle::ctl {

Result<ExitStatus> Version(const CommandLine& line) {
  if (!line.words().empty()) {
    return Error(ErrorKind::kInvalid, fmt::format("\"{}\" is no option (see --help)", line.words().front()));
  }
  const std::string format = line.Value("-o").value_or("");
  if (!format.empty() && format != "json") {
    return Error(ErrorKind::kInvalid, fmt::format("-o {}: there is only json", format));
  }
  Print(format.empty() ? fmt::format("pintle {}", kVersion) : json::ToIndentedText({{"version", kVersion}}));
  Print("\n");
  return ExitStatus::kFine;
}

}  // namespace pintle::ctl
