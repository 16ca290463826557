// SPDX-License-Identifier: Apache-2.0
#include "ctl/config_problems.h"

#include <fmt/core.h>

#include <span>
#include <utility>

#include "base/output.h"
#include "change/warnings.h"
#include "ignition/source_text.h"
#include "json/known_keys.h"
#include "json/parse.h"
#include "machineconfig/remedy.h"
#include "machineconfig/validate.h"

namespace pintle::ctl {
namespace {

constexpr const char* kError = "error";
constexpr const char* kWarning = "warning";

ConfigProblem ToConfigProblem(const std::string& file, const json::Problem& problem) {
  return {
      .file = file,
      .line = {},
      .column = {},
      .object = {},
      .severity = problem.severity == json::Severity::kError ? kError : kWarning,
      .path = json::ShownPlace(problem.path),
      .problem = problem.what,
      .remedy = std::string(machineconfig::RemedyForConfigProblem(problem.what)),
  };
}

// Adds the problems of a report.  `text` is the text of the file, or empty to leave out lines and columns.
void AddReport(const std::string& file, const json::Report& report, const std::string& text,
               std::vector<ConfigProblem>& problems) {
  const std::span reported = report.problems();
  // Lines are known only if the whole text of the file is one Ignition config in JSON.
  std::vector<ignition::LocatedProblem> located;
  if (!reported.empty() && json::Parse(text)) located = ignition::Locate(text, reported);
  for (std::size_t i = 0; i < reported.size(); ++i) {
    ConfigProblem& problem = problems.emplace_back(ToConfigProblem(file, reported[i]));
    if (located.empty() || located[i].position.line == 0) continue;
    problem.line = located[i].position.line;
    problem.column = located[i].position.column;
  }
  if (report.left_out() == 0) return;
  problems.push_back(ProblemOfFile(file, fmt::format("{} more problems", report.left_out())));
  if (!report.has_errors()) problems.back().severity = kWarning;
}

// Returns the name of one of a file's documents.  Returns "" for the only document of a file if it has no name.
std::string NameOf(const machineconfig::ConfigFile& file, std::size_t index) {
  const machineconfig::ConfigDocument& document = file.documents[index];
  if (!document.name.empty()) return document.kind + " " + document.name;
  return file.documents.size() == 1 ? "" : fmt::format("document {}", index + 1);
}

// Returns warnings about the parts of a config that a running machine leaves out, as the Machine Config Operator does.
json::Report WarningsOfLeftOutParts(const machineconfig::ConfigDocument& document) {
  json::Report report;
  if (document.config && change::RefersToOtherConfigs(*document.config)) {
    const json::Path root;
    const bool is_machine_config = document.kind == api::MachineConfig::kKind;
    report.Warning(json::Path(root, is_machine_config ? "spec.config.ignition.config" : "ignition.config"),
                   change::kOtherConfigsAreNotFetched);
  }
  return report;
}

}  // namespace

ConfigProblem ProblemOfFile(const std::string& file, std::string problem) {
  ConfigProblem error;
  error.file = file;
  error.severity = kError;
  error.remedy = machineconfig::RemedyForConfigProblem(problem);
  error.problem = std::move(problem);
  return error;
}

bool IsError(const ConfigProblem& problem) { return problem.severity == kError; }

std::vector<ConfigProblem> ProblemsOf(const std::string& path, const machineconfig::ConfigFile& file) {
  std::vector<ConfigProblem> problems;
  AddReport(path, file.report, "", problems);
  for (std::size_t i = 0; i < file.documents.size(); ++i) {
    const machineconfig::ConfigDocument& document = file.documents[i];
    const std::size_t before = problems.size();
    AddReport(path, document.report, file.text, problems);
    // An error about the whole document, such as an unknown version, is not in the report.
    if (document.error && !document.report.has_errors()) {
      problems.push_back(ProblemOfFile(path, document.error->message()));
    }
    AddReport(path, WarningsOfLeftOutParts(document), file.text, problems);
    if (document.refusal_by_machines) problems.push_back(ProblemOfFile(path, document.refusal_by_machines->message()));
    for (std::size_t j = before; j < problems.size(); ++j) problems[j].object = NameOf(file, i);
  }
  return problems;
}

std::vector<ConfigProblem> ErrorsOf(const std::string& path, const api::MachineConfig& config) {
  json::Report report;
  machineconfig::FindProblems(config, report);
  std::vector<ConfigProblem> problems;
  AddReport(path, report, "", problems);
  std::erase_if(problems, [](const ConfigProblem& problem) { return !IsError(problem); });
  for (ConfigProblem& problem : problems) {
    problem.object = fmt::format("{} {}", api::MachineConfig::kKind, config.metadata.name);
  }
  return problems;
}

std::vector<ConfigProblem> WarningsOf(const std::string& path, const json::Report& report) {
  std::vector<ConfigProblem> problems;
  AddReport(path, report, "", problems);
  std::erase_if(problems, IsError);
  return problems;
}

void PrintConfigProblem(const ConfigProblem& problem) {
  std::string place = problem.file;
  if (problem.line) place += fmt::format(":{}:{}", *problem.line, problem.column.value_or(1));
  std::string text = problem.path.empty() ? problem.problem : fmt::format("{}: {}", problem.path, problem.problem);
  if (!problem.remedy.empty()) text += fmt::format(" ({})", problem.remedy);
  if (!problem.object.empty()) text = problem.object + ": " + text;
  PrintToStderr(fmt::format("{}: {}: {}\n", place, problem.severity, text));
}

}  // namespace pintle::ctl
