// SPDX-License-Identifier: Apache-2.0
#include "ctl/validate.h"

#include <fmt/core.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ctl/config_input.h"
#include "ctl/remedy.h"
#include "ctl/verbs.h"
#include "ignition/source_text.h"
#include "json/fields.h"
#include "json/parse.h"

namespace pintle::ctl {
namespace {

// One line of the answer.
struct Finding {
  std::string file;
  std::optional<std::uint64_t> line;
  std::optional<std::uint64_t> column;
  std::string severity;
  std::string path;
  std::string problem;
  std::string remedy;

  static constexpr auto kFields = std::tuple{
      json::Required{"file", &Finding::file},  json::Field{"line", &Finding::line},
      json::Field{"column", &Finding::column}, json::Required{"severity", &Finding::severity},
      json::Field{"path", &Finding::path},     json::Required{"problem", &Finding::problem},
      json::Field{"remedy", &Finding::remedy},
  };
};

Finding ToFinding(const std::string& file, const json::Problem& problem) {
  return {
      .file = file,
      .line = {},
      .column = {},
      .severity = problem.severity == json::Severity::kError ? "error" : "warning",
      .path = problem.path,
      .problem = problem.what,
      .remedy = std::string(RemedyFor(problem.what)),
  };
}

void AddFindings(const std::string& file, const ConfigDocument& document, const std::string& text,
                 std::vector<Finding>& findings) {
  const std::span problems = document.report.problems();
  // Only JSON that stands in the file as it is has lines to show.
  std::vector<ignition::Found> found;
  if (!problems.empty() && json::Parse(text)) found = ignition::Locate(text, problems);
  for (std::size_t i = 0; i < problems.size(); ++i) {
    Finding& finding = findings.emplace_back(ToFinding(file, problems[i]));
    if (found.empty() || found[i].position.line == 0) continue;
    finding.line = found[i].position.line;
    finding.column = found[i].position.column;
  }
  // What is wrong as a whole, such as the version, has no place.
  if (document.error && !document.report.has_errors()) {
    Finding& finding = findings.emplace_back();
    finding.file = file;
    finding.severity = "error";
    finding.problem = document.error->message();
  }
}

void Print(const Finding& finding) {
  std::string place = finding.file;
  if (finding.line) place += fmt::format(":{}:{}", *finding.line, finding.column.value_or(1));
  std::string what = finding.path.empty() ? finding.problem : fmt::format("{}: {}", finding.path, finding.problem);
  if (!finding.remedy.empty()) what += fmt::format(" ({})", finding.remedy);
  fmt::print(stderr, "{}: {}: {}\n", place, finding.severity, what);
}

}  // namespace

Result<ExitStatus> Validate(const CommandLine& line) {
  const std::string format = line.Value("-o").value_or("text");
  if (format != "text" && format != "json") return Error(ErrorKind::kInvalid, "-o " + format + ": text or json");
  if (line.words().empty()) return Error(ErrorKind::kInvalid, "say which files to validate (see --help)");
  std::vector<Finding> findings;
  for (const std::string& path : line.words()) {
    auto file = ReadConfigFile(path);
    if (!file) {
      Finding& finding = findings.emplace_back();
      finding.file = path;
      finding.severity = "error";
      finding.problem = file.error().message();
      continue;
    }
    for (const ConfigDocument& document : file->documents) AddFindings(path, document, file->text, findings);
  }
  bool has_errors = false;
  for (const Finding& finding : findings) {
    has_errors = has_errors || finding.severity == "error";
    if (format == "text") Print(finding);
  }
  if (format == "json") fmt::print("{}\n", json::ToIndentedText(json::Encode(findings)));
  return has_errors ? ExitStatus::kWrong : ExitStatus::kFine;
}

}  // namespace pintle::ctl
