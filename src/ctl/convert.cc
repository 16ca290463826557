// SPDX-License-Identifier: Apache-2.0
#include "ctl/convert.h"

#include <fmt/core.h>

#include <string>
#include <utility>

#include "ctl/output.h"
#include "ctl/verbs.h"
#include "ignition/convert.h"
#include "json/parse.h"
#include "machineconfig/config_input.h"

namespace pintle::ctl {
namespace {

void TellWarnings(const json::Report& report) {
  for (const json::Problem& problem : report.problems()) {
    if (problem.severity == json::Severity::kWarning) Tell(fmt::format("warning: {}\n", problem.ToString()));
  }
}

// The operator's words for a config that it cannot read; other errors say it themselves.
Error Unreadable(Error error) {
  if (!error.message().starts_with("parsing Ignition")) return error;
  return std::move(error).While("failed to parse Ignition config");
}

}  // namespace

Result<ExitStatus> Convert(const CommandLine& line) {
  const auto version = TRY(ignition::ParseSpecVersion(TRY(line.Needed("--to"))), "--to");
  if (const auto format = line.Value("-o"); format && *format != "json") {
    return Error(ErrorKind::kInvalid, "-o " + *format + ": a config is converted to json only");
  }
  if (line.words().size() != 1) return Error(ErrorKind::kInvalid, "say which file to convert (see --help)");
  machineconfig::ConfigFile file = TRY(machineconfig::ReadConfigFile(line.words()[0]));
  if (file.documents.size() != 1) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("{} holds {} configs: one is needed", line.words()[0], file.documents.size()));
  }
  machineconfig::ConfigDocument& document = file.documents.front();
  TellWarnings(document.report);
  if (document.error) return Unreadable(*std::move(document.error));
  if (!document.config) return Error(ErrorKind::kInvalid, line.words()[0] + " has no Ignition config");
  json::Report lost;
  const json::Value converted = TRY(ignition::ConvertTo(*std::move(document.config), version, &lost));
  TellWarnings(lost);
  Print(json::ToIndentedText(converted));
  Print("\n");
  return ExitStatus::kFine;
}

}  // namespace pintle::ctl
