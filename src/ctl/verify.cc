// SPDX-License-Identifier: Apache-2.0
#include "ctl/verify.h"

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/output.h"
#include "base/printable.h"
#include "change/current_config.h"
#include "change/drift.h"
#include "change/journal.h"
#include "ctl/colour.h"
#include "ctl/drift.h"
#include "ctl/recover.h"
#include "ctl/verbs.h"
#include "json/fields.h"
#include "json/parse.h"

namespace pintle::ctl {
namespace {

std::string NoDriftText(const change::VerifyReport& report, const change::CurrentConfig& config) {
  if (change::IsNoConfig(config.object)) return "This machine has no config.\n";
  const std::string name = Printable(report.config);
  if (report.things.empty()) return fmt::format("This machine is as {} wants it.\n", name);
  return fmt::format("This machine is as {} wants it, except for the things that are ignored.\n\n", name);
}

// Returns the colour of a line of VerifyReportText(), where the diffs are indented below the names of their files.
Colour ColourOfFinding(std::string_view line) {
  return line.starts_with("  ") ? ColourOfDiff(line.substr(2)) : Colour::kNone;
}

}  // namespace

Result<ExitStatus> Verify(const CommandLine& line) {
  const Form form = FormOf(line);
  if (!line.operands().empty())
    return Error(ErrorKind::kInvalid, "this verb takes no arguments, and checks the whole machine");
  const Machine machine = TRY(Machine::Of(line));
  const change::CurrentConfig config = TRY(change::ReadCurrentConfig(machine.root()));
  const host::Host host = machine.host();
  const auto ignored = TRY(change::ReadIgnored(machine.root(), host.clock.Wall()));
  auto findings =
      machine.IsRunning() ? TRY(change::FindingsOnThisMachine(host, config)) : TRY(change::FindingsOn(host, config));
  const change::VerifyReport report = TRY(change::VerifyReportOf(machine.root(), config, std::move(findings), ignored,
                                                                 machine.RootOptionText(), PrivateLinesFor(line)));
  // A pending change explains the findings.  It is reported even if there are no findings.
  const auto pending = TRY(change::Journal(machine.root()).Read());
  if (pending) PrintToStderr(fmt::format("pintle: verify: {}\n", PendingText(*pending, machine)));
  if (form == Form::kText) {
    if (report.text.empty()) Print(NoDriftText(report, config));
    PrintColoured(VerifyReportText(report), ColourOfFinding);
  } else if (form == Form::kName) {
    for (const change::ReportedThing& thing : report.things) {
      if (!thing.ignored_until) PrintName(thing.about);
    }
  } else {
    json::Value answer = json::Encode(report);
    if (pending) answer["pending"] = pending->to;
    PrintData(answer, form);
  }
  return report.text.empty() && !pending ? ExitStatus::kSuccess : ExitStatus::kDiffers;
}

}  // namespace pintle::ctl
