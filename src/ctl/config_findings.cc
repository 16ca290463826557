// SPDX-License-Identifier: Apache-2.0
#include "ctl/config_findings.h"

#include <fmt/core.h>

#include <span>
#include <utility>

#include "change/warnings.h"
#include "ctl/output.h"
#include "ignition/source_text.h"
#include "json/known_keys.h"
#include "json/parse.h"
#include "machineconfig/remedy.h"
#include "machineconfig/validate.h"

namespace pintle::ctl {
namespace {

constexpr const char* kError = "error";
constexpr const char* kWarning = "warning";

Finding ToFinding(const std::string& file, const json::Problem& problem) {
  return {
      .file = file,
      .line = {},
      .column = {},
      .object = {},
      .severity = problem.severity == json::Severity::kError ? kError : kWarning,
      .path = json::ShownPlace(problem.path),
      .problem = problem.what,
      .remedy = std::string(machineconfig::RemedyFor(problem.what)),
  };
}

void AddReport(const std::string& file, const json::Report& report, const std::string& text,
               std::vector<Finding>& findings) {
  const std::span problems = report.problems();
  // Lines are known only for JSON that is the whole text of the file.
  std::vector<ignition::LocatedProblem> found;
  if (!problems.empty() && json::Parse(text)) found = ignition::Locate(text, problems);
  for (std::size_t i = 0; i < problems.size(); ++i) {
    Finding& finding = findings.emplace_back(ToFinding(file, problems[i]));
    if (found.empty() || found[i].position.line == 0) continue;
    finding.line = found[i].position.line;
    finding.column = found[i].position.column;
  }
  if (report.left_out() == 0) return;
  findings.push_back(WholeFinding(file, fmt::format("{} more problems", report.left_out())));
  if (!report.has_errors()) findings.back().severity = kWarning;
}

// Names one of a file's documents.
std::string NameOf(const machineconfig::ConfigFile& file, std::size_t index) {
  const machineconfig::ConfigDocument& document = file.documents[index];
  if (!document.name.empty()) return document.kind + " " + document.name;
  return file.documents.size() == 1 ? "" : fmt::format("document {}", index + 1);
}

// Returns warnings about the parts of a config that a running machine leaves out, as the Machine Config Operator does.
json::Report WarningsOn(const machineconfig::ConfigDocument& document) {
  json::Report report;
  if (document.config && change::LeadsToOthers(*document.config)) {
    const json::Path root;
    const bool is_inside = document.kind == api::MachineConfig::kKind;
    report.Warning(json::Path(root, is_inside ? "spec.config.ignition.config" : "ignition.config"),
                   change::kLeadsToOthers);
  }
  return report;
}

}  // namespace

Finding WholeFinding(const std::string& file, std::string problem) {
  Finding finding;
  finding.file = file;
  finding.severity = kError;
  finding.remedy = machineconfig::RemedyFor(problem);
  finding.problem = std::move(problem);
  return finding;
}

bool IsError(const Finding& finding) { return finding.severity == kError; }

std::vector<Finding> FindingsOn(const std::string& path, const machineconfig::ConfigFile& file) {
  std::vector<Finding> findings;
  AddReport(path, file.report, "", findings);
  for (std::size_t i = 0; i < file.documents.size(); ++i) {
    const machineconfig::ConfigDocument& document = file.documents[i];
    const std::size_t before = findings.size();
    AddReport(path, document.report, file.text, findings);
    // A problem of the whole document, such as its version, has no place.
    if (document.error && !document.report.has_errors()) {
      findings.push_back(WholeFinding(path, document.error->message()));
    }
    AddReport(path, WarningsOn(document), file.text, findings);
    if (document.unfit) findings.push_back(WholeFinding(path, document.unfit->message()));
    for (std::size_t j = before; j < findings.size(); ++j) findings[j].object = NameOf(file, i);
  }
  return findings;
}

std::vector<Finding> ErrorsOf(const std::string& path, const api::MachineConfig& config) {
  json::Report report;
  machineconfig::FindProblems(config, report);
  std::vector<Finding> findings;
  AddReport(path, report, "", findings);
  std::erase_if(findings, [](const Finding& finding) { return !IsError(finding); });
  for (Finding& finding : findings) {
    finding.object = fmt::format("{} {}", api::MachineConfig::kKind, config.metadata.name);
  }
  return findings;
}

std::vector<Finding> WarningsOf(const std::string& path, const json::Report& report) {
  std::vector<Finding> findings;
  AddReport(path, report, "", findings);
  std::erase_if(findings, IsError);
  return findings;
}

void PrintFinding(const Finding& finding) {
  std::string place = finding.file;
  if (finding.line) place += fmt::format(":{}:{}", *finding.line, finding.column.value_or(1));
  std::string what = finding.path.empty() ? finding.problem : fmt::format("{}: {}", finding.path, finding.problem);
  if (!finding.remedy.empty()) what += fmt::format(" ({})", finding.remedy);
  if (!finding.object.empty()) what = finding.object + ": " + what;
  PrintToStderr(fmt::format("{}: {}: {}\n", place, finding.severity, what));
}

}  // namespace pintle::ctl
