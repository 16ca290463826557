// SPDX-License-Identifier: Apache-2.0
#include "ctl/config_problems.h"

#include <fmt/core.h>

#include <cstddef>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "base/output.h"
#include "base/size_limits.h"
#include "change/warnings.h"
#include "ignition/data_url.h"
#include "ignition/source_text.h"
#include "json/known_keys.h"
#include "json/parse.h"
#include "machineconfig/contents.h"
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
      .path = json::PlaceForMessage(problem.path),
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

// Returns an error if the contents cannot be unpacked.  Like a machine, stops when they are too long.
Result<> CheckCompression(const ignition::Resource& contents) {
  if (contents.compression.value_or("").empty()) return {};
  std::size_t size = 0;
  const auto count = [&](std::string_view piece) {
    size += piece.size();
    return size <= limits::kFileContents;
  };
  return machineconfig::WalkContents(contents, count, std::numeric_limits<std::size_t>::max());
}

// Returns warnings about parts of a config that Ignition and a render accept, but that a running machine leaves out or
// cannot write.  The Machine Config Operator leaves out the same parts.
json::Report WarningsOfMachines(const machineconfig::ConfigDocument& document) {
  json::Report report;
  if (!document.config) return report;
  const std::string above = document.kind == api::MachineConfig::kKind ? "spec.config." : "";
  const json::Path root;
  if (change::RefersToOtherConfigs(*document.config)) {
    report.Warning(json::Path(root, above + "ignition.config"), change::kOtherConfigsAreNotFetched);
  }
  const std::vector<ignition::File>& files = document.config->storage.files;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const ignition::Resource& contents = files[i].contents;
    const std::string place = fmt::format("{}storage.files.{}.contents", above, i);
    if (const std::string source = contents.source.value_or(""); !source.empty() && !ignition::IsDataUrl(source)) {
      report.Warning(json::Path(root, place),
                     "the source is not a data: URL; only Ignition fetches it, at the first "
                     "boot of a machine, and a running machine refuses the config");
    } else if (const auto unpacked = CheckCompression(contents); !unpacked) {
      report.Warning(json::Path(root, place), fmt::format("cannot be unpacked: {}", unpacked.error().message()));
    }
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
    AddReport(path, WarningsOfMachines(document), file.text, problems);
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
  // The report of an Ignition parser ends with line breaks.
  const std::string_view what = std::string_view(problem.problem).substr(0, problem.problem.find_last_not_of('\n') + 1);
  std::string text = problem.path.empty() ? std::string(what) : fmt::format("{}: {}", problem.path, what);
  if (!problem.remedy.empty()) text += fmt::format(" ({})", problem.remedy);
  if (!problem.object.empty()) text = problem.object + ": " + text;
  PrintToStderr(fmt::format("{}: {}: {}\n", place, problem.severity, text));
}

}  // namespace pintle::ctl
