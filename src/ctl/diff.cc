// SPDX-License-Identifier: Apache-2.0
#include "ctl/diff.h"

#include <fmt/core.h>

#include <utility>
#include <vector>

#include "change/masking.h"
#include "ctl/output.h"
#include "ctl/plan_text.h"
#include "ctl/verbs.h"
#include "machineconfig/ignition_part.h"
#include "machineconfig/input.h"
#include "machineconfig/machine_configuration_input.h"
#include "machineconfig/objects.h"
#include "machineconfig/validate.h"
#include "plan/plan.h"

namespace pintle::ctl {
namespace {

using change::Printable;
using machineconfig::ParsedConfig;
using plan::Plan;

Result<api::MachineConfig> ReadConfig(const std::string& file) {
  std::vector<json::Value> documents = TRY(machineconfig::ReadDocuments(file));
  if (documents.size() != 1) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("{}: {} documents where one MachineConfig is needed", file, documents.size()));
  }
  return TRY(machineconfig::ReadMachineConfig(std::move(documents.front())), file);
}

DiffPreview Unreadable(std::string_view which, const api::MachineConfig& from, const api::MachineConfig& to,
                       const Error& error, DiffPreview preview) {
  const api::MachineConfig& config = which == "old" ? from : to;
  const std::string text = machineconfig::UnparsableText(which, config, error);
  preview.answer["diffError"] =
      fmt::format("parsing {} Ignition config failed with error: {}", which, machineconfig::ParseErrorText(error));
  preview.answer["reconcilableError"] = UnreconcilableText(from, to, text);
  preview.error = Error(ErrorKind::kInvalid, UnreconcilableText(from, to, text));
  return preview;
}

}  // namespace

Result<DiffPreview> PreviewDiff(const DiffQuestion& question) {
  const api::MachineConfig from = TRY(ReadConfig(question.old_file));
  const api::MachineConfig to = TRY(ReadConfig(question.new_file));
  api::NodeDisruptionPolicy policy;
  if (question.policy_file) policy = TRY(machineconfig::ReadPolicy(*question.policy_file));
  api::IrreconcilableValidationOverrides overrides;
  if (question.overrides_file) overrides = TRY(machineconfig::ReadOverrides(*question.overrides_file));

  DiffPreview preview;
  json::Report report;
  const auto valid = machineconfig::Validate(to, report);
  const auto parsed_from = machineconfig::ParseIgnitionPart(from, report);
  // What cannot be converted is found when it is needed, and not before.
  const bool is_found_now = !valid && valid.error().kind() != ErrorKind::kUnconvertible;
  if (is_found_now) preview.answer["validateNewError"] = valid.error().message();
  if (!parsed_from) return Unreadable("old", from, to, parsed_from.error(), std::move(preview));
  const auto parsed_to = machineconfig::ParseIgnitionPart(to, report);
  if (!parsed_to) return Unreadable("new", from, to, parsed_to.error(), std::move(preview));

  const ParsedConfig before{from, *parsed_from};
  const ParsedConfig after{to, *parsed_to};
  const Plan plan = plan::Make(before, after, policy, overrides);
  preview.differs = Differ(before, after);
  preview.answer.update(AnswerOf(plan, before, after));
  preview.answer["differs"] = preview.differs;
  if (preview.differs) preview.text = ChangesText(plan, before, after) + "\n" + ConsequencesText(plan, Drains::kTold);
  if (!valid) preview.text += fmt::format("The new config is not valid: {}\n", Printable(valid.error().message()));
  return preview;
}

Result<ExitStatus> Diff(const CommandLine& line) {
  if (line.words().size() != 2) return Error(ErrorKind::kInvalid, "say two files: OLD NEW");
  const std::string format = line.Value("-o").value_or("");
  if (!format.empty() && format != "json")
    return Error(ErrorKind::kInvalid, fmt::format("-o {}: there is only json", format));
  const DiffPreview preview = TRY(PreviewDiff({
      .old_file = line.words()[0],
      .new_file = line.words()[1],
      .policy_file = line.Value("--policy"),
      .overrides_file = line.Value("--overrides"),
  }));
  if (format == "json") {
    Print(json::ToIndentedText(preview.answer));
    Print("\n");
  } else {
    Print(preview.text);
  }
  if (preview.error) return *preview.error;
  return preview.differs ? ExitStatus::kDiffers : ExitStatus::kFine;
}

}  // namespace pintle::ctl
