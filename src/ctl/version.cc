// SPDX-License-Identifier: Apache-2.0
#include "ctl/version.h"

#include <fmt/core.h>

#include "base/output.h"
#include "base/version.h"
#include "ctl/verbs.h"
#include "json/parse.h"

namespace pintle::ctl {

Result<ExitStatus> Version(const CommandLine& line) {
  if (!line.operands().empty()) {
    return Error(ErrorKind::kInvalid, fmt::format("\"{}\" is not an option (see --help)", line.operands().front()));
  }
  const Form form = FormOf(line);
  if (form == Form::kText) {
    Print(fmt::format("pintle {}\n", kVersion));
  } else {
    PrintData({{"version", kVersion}}, form);
  }
  return ExitStatus::kSuccess;
}

}  // namespace pintle::ctl
