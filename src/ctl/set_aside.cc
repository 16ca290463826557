// SPDX-License-Identifier: Apache-2.0
#include "ctl/set_aside.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/output.h"
#include "base/printable.h"
#include "change/change.h"
#include "change/claim.h"
#include "change/current_config.h"
#include "change/drift.h"
#include "change/journal.h"
#include "change/set_aside.h"
#include "ctl/drift.h"
#include "ctl/machine.h"
#include "ctl/recover.h"
#include "host/agent_dbus.h"
#include "json/fields.h"
#include "json/parse.h"

namespace pintle::ctl {
namespace {

// The state of the machine after its damaged records were set aside.
struct SetAsideResult {
  std::vector<change::SetAside> moved;
  change::VerifyReport report;
  bool has_config = false;
  std::optional<change::Change> pending;  // The change that is under way, if its journal can be read.

  bool NeedsAttention() const { return !report.text.empty() || pending || HasMoved(change::kCurrentConfig); }
  bool HasMoved(const char* path) const {
    return std::any_of(moved.begin(), moved.end(), [&](const auto& file) { return file.path == path; });
  }
};

// Moves the damaged records away.  The claim is released when this function returns, so that the agent can look.
Result<SetAsideResult> SetAsideOn(const Machine& machine) {
  const auto claim =
      TRY(change::Claim::Take(machine.root(), change::kClaimPatience, change::Claim::Allows::kAnyVersion));
  const host::Host host = machine.host();
  SetAsideResult after;
  after.moved = TRY(change::SetAsideUnusable(machine.root(), host.clock.Wall()));
  const change::CurrentConfig config = TRY(change::ReadCurrentConfig(machine.root()));
  after.has_config = !change::IsNoConfig(config.object);
  const auto ignored = TRY(change::ReadIgnored(machine.root(), host.clock.Wall()));
  auto findings = TRY(change::FindingsOn(host, config));
  after.report =
      TRY(change::VerifyReportOf(machine.root(), config, std::move(findings), ignored, machine.RootOptionText()));
  after.pending = TRY(change::Journal(machine.root()).Read());
  return after;
}

std::string SetAsideResultText(const SetAsideResult& after, const std::string& root_option) {
  std::string text;
  for (const change::SetAside& file : after.moved) {
    text += Printable(fmt::format("{} is now {}: {}", file.path, file.kept_as, file.why)) + "\n";
  }
  if (text.empty()) text = "All records of Pintle on this machine can be read; nothing was set aside.\n";
  if (after.HasMoved(change::kChangeDirectory)) {
    text += "\nThe change that was under way will neither continue nor be undone.\n";
  }
  if (!after.has_config) {
    if (!after.HasMoved(change::kCurrentConfig)) return text;
    return text + fmt::format(
                      "\nPintle no longer knows which config this machine has. In a cluster, the machine's Node names "
                      "the config; elsewhere, the agent or `pintle apply{}` must apply one. Files that only the old "
                      "config had stay.\n",
                      root_option);
  }
  const std::string name = Printable(after.report.config);
  if (after.report.things.empty()) return text + fmt::format("\nThis machine is as {} wants it.\n", name);
  return text + fmt::format("\nThis machine is not as {} wants it:\n\n", name) + VerifyReportText(after.report);
}

}  // namespace

Result<ExitStatus> SetAside(const CommandLine& line) {
  const Form form = FormOf(line);
  if (line.Has("--give-up") || line.Has("--reboot")) {
    return Error(ErrorKind::kInvalid, "--set-aside cannot be combined with --give-up or --reboot");
  }
  const Machine machine = TRY(Machine::Of(line));
  const SetAsideResult after = TRY(SetAsideOn(machine));
  if (form != Form::kText) {
    json::Value answer = {{"setAside", json::Encode(after.moved)},
                          {"config", after.has_config ? after.report.config : ""},
                          {"text", after.report.text},
                          {"findings", json::Encode(after.report.things)}};
    if (after.pending) answer["pending"] = after.pending->to;
    PrintData(answer, form);
  } else {
    Print(SetAsideResultText(after, machine.RootOptionText()));
  }
  if (after.pending) PrintToStderr(fmt::format("pintle: recover: {}\n", PendingText(*after.pending, machine)));
  // An error is ignored: without an agent, no look is needed, and a running agent looks again soon anyway.
  if (machine.IsRunning() && !after.moved.empty()) static_cast<void>(host::SendToAgent(host::AgentOrder::kCheck));
  return after.NeedsAttention() ? ExitStatus::kDiffers : ExitStatus::kSuccess;
}

}  // namespace pintle::ctl
