// SPDX-License-Identifier: Apache-2.0
#include "ctl/validate.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/output.h"
#include "ctl/answer.h"
#include "ctl/config_problems.h"
#include "ctl/verbs.h"
#include "json/fields.h"
#include "json/parse.h"
#include "machineconfig/config_input.h"

namespace pintle::ctl {

Result<ExitStatus> Validate(const CommandLine& line) {
  const Form form = FormOf(line);
  if (line.operands().empty()) return Error(ErrorKind::kInvalid, "name the files to validate (see --help)");
  std::vector<ConfigProblem> problems;
  for (const std::string& path : line.operands()) {
    auto file = machineconfig::ReadConfigFile(path);
    if (!file) {
      problems.push_back(ProblemOfFile(path, file.error().message()));
      continue;
    }
    std::vector<ConfigProblem> problems_of_file = ProblemsOf(path, *file);
    std::move(problems_of_file.begin(), problems_of_file.end(), std::back_inserter(problems));
  }
  bool has_errors = false;
  for (const ConfigProblem& problem : problems) {
    has_errors = has_errors || IsError(problem);
    if (form == Form::kText) PrintConfigProblem(problem);
  }
  if (form != Form::kText) PrintData(json::Encode(problems), form);
  return has_errors ? ExitStatus::kFailure : ExitStatus::kSuccess;
}

}  // namespace pintle::ctl
