// SPDX-License-Identifier: Apache-2.0
#include "ctl/validate.h"

#include <fmt/core.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "change/warnings.h"
#include "ctl/output.h"
#include "ctl/verbs.h"
#include "ignition/source_text.h"
#include "json/fields.h"
#include "json/known_keys.h"
#include "json/parse.h"
#include "machineconfig/config_input.h"
#include "machineconfig/remedy.h"

namespace pintle::ctl {
namespace {

// One line of the answer.
struct Finding {
  std::string file;
  std::optional<std::uint64_t> line;
  std::optional<std::uint64_t> column;
  std::string object;
  std::string severity;
  std::string path;
  std::string problem;
  std::string remedy;

  static constexpr auto kFields = json::FieldList{
      json::Required{"file", &Finding::file},         json::Field{"line", &Finding::line},
      json::Field{"column", &Finding::column},        json::Field{"object", &Finding::object},
      json::Required{"severity", &Finding::severity}, json::Field{"path", &Finding::path},
      json::Required{"problem", &Finding::problem},   json::Field{"remedy", &Finding::remedy},
  };
};

Finding ToFinding(const std::string& file, const json::Problem& problem) {
  return {
      .file = file,
      .line = {},
      .column = {},
      .object = {},
      .severity = problem.severity == json::Severity::kError ? "error" : "warning",
      .path = json::ShownPlace(problem.path),
      .problem = problem.what,
      .remedy = std::string(machineconfig::RemedyFor(problem.what)),
  };
}

Finding WholeFinding(const std::string& file, std::string problem) {
  Finding finding;
  finding.file = file;
  finding.severity = "error";
  finding.remedy = machineconfig::RemedyFor(problem);
  finding.problem = std::move(problem);
  return finding;
}

void AddReport(const std::string& file, const json::Report& report, const std::string& text,
               std::vector<Finding>& findings) {
  const std::span problems = report.problems();
  // Only JSON that stands in the file as it is has lines to show.
  std::vector<ignition::Found> found;
  if (!problems.empty() && json::Parse(text)) found = ignition::Locate(text, problems);
  for (std::size_t i = 0; i < problems.size(); ++i) {
    Finding& finding = findings.emplace_back(ToFinding(file, problems[i]));
    if (found.empty() || found[i].position.line == 0) continue;
    finding.line = found[i].position.line;
    finding.column = found[i].position.column;
  }
  if (report.left_out() == 0) return;
  findings.push_back(WholeFinding(file, fmt::format("{} more problems", report.left_out())));
  if (!report.has_errors()) findings.back().severity = "warning";
}

// Which of a file's documents it is.
std::string NameOf(const machineconfig::ConfigFile& file, std::size_t index) {
  const machineconfig::ConfigDocument& document = file.documents[index];
  if (!document.name.empty()) return document.kind + " " + document.name;
  return file.documents.size() == 1 ? "" : fmt::format("document {}", index + 1);
}

// What a machine that runs leaves out of a config, as the Machine Config Operator does, and says so.
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

void AddFindings(const std::string& path, const machineconfig::ConfigFile& file, std::vector<Finding>& findings) {
  AddReport(path, file.report, "", findings);
  for (std::size_t i = 0; i < file.documents.size(); ++i) {
    const machineconfig::ConfigDocument& document = file.documents[i];
    const std::size_t before = findings.size();
    AddReport(path, document.report, file.text, findings);
    // What is wrong as a whole, such as the version, has no place.
    if (document.error && !document.report.has_errors()) {
      findings.push_back(WholeFinding(path, document.error->message()));
    }
    AddReport(path, WarningsOn(document), file.text, findings);
    if (document.unfit) findings.push_back(WholeFinding(path, document.unfit->message()));
    for (std::size_t j = before; j < findings.size(); ++j) findings[j].object = NameOf(file, i);
  }
}

void TellFinding(const Finding& finding) {
  std::string place = finding.file;
  if (finding.line) place += fmt::format(":{}:{}", *finding.line, finding.column.value_or(1));
  std::string what = finding.path.empty() ? finding.problem : fmt::format("{}: {}", finding.path, finding.problem);
  if (!finding.remedy.empty()) what += fmt::format(" ({})", finding.remedy);
  if (!finding.object.empty()) what = finding.object + ": " + what;
  Tell(fmt::format("{}: {}: {}\n", place, finding.severity, what));
}

}  // namespace

Result<ExitStatus> Validate(const CommandLine& line) {
  const std::string format = line.Value("-o").value_or("text");
  if (format != "text" && format != "json") return Error(ErrorKind::kInvalid, "-o " + format + ": text or json");
  if (line.words().empty()) return Error(ErrorKind::kInvalid, "say which files to validate (see --help)");
  std::vector<Finding> findings;
  for (const std::string& path : line.words()) {
    auto file = machineconfig::ReadConfigFile(path);
    if (!file) {
      findings.push_back(WholeFinding(path, file.error().message()));
      continue;
    }
    AddFindings(path, *file, findings);
  }
  bool has_errors = false;
  for (const Finding& finding : findings) {
    has_errors = has_errors || finding.severity == "error";
    if (format == "text") TellFinding(finding);
  }
  if (format == "json") Print(json::ToIndentedText(json::Encode(findings)) + "\n");
  return has_errors ? ExitStatus::kWrong : ExitStatus::kFine;
}

}  // namespace pintle::ctl
