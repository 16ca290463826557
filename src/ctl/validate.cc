// SPDX-License-Identifier: Apache-2.0
#include "ctl/validate.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "ctl/answer.h"
#include "ctl/config_findings.h"
#include "ctl/output.h"
#include "ctl/verbs.h"
#include "json/fields.h"
#include "json/parse.h"
#include "machineconfig/config_input.h"

namespace pintle::ctl {

Result<ExitStatus> Validate(const CommandLine& line) {
  const Form form = FormOf(line);
  if (line.words().empty()) return Error(ErrorKind::kInvalid, "name the files to validate (see --help)");
  std::vector<Finding> findings;
  for (const std::string& path : line.words()) {
    auto file = machineconfig::ReadConfigFile(path);
    if (!file) {
      findings.push_back(WholeFinding(path, file.error().message()));
      continue;
    }
    std::vector<Finding> more = FindingsOn(path, *file);
    std::move(more.begin(), more.end(), std::back_inserter(findings));
  }
  bool has_errors = false;
  for (const Finding& finding : findings) {
    has_errors = has_errors || IsError(finding);
    if (form == Form::kText) PrintFinding(finding);
  }
  if (form != Form::kText) PrintData(json::Encode(findings), form);
  return has_errors ? ExitStatus::kWrong : ExitStatus::kFine;
}

}  // namespace pintle::ctl
