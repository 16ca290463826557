// SPDX-License-Identifier: Apache-2.0
#include "ctl/status.h"

#include <fmt/core.h>
#include <unistd.h>

#include <optional>
#include <string_view>
#include <utility>

#include "base/output.h"
#include "base/printable.h"
#include "change/abilities.h"
#include "change/current_config.h"
#include "change/journal.h"
#include "ctl/colour.h"
#include "ctl/recover.h"
#include "ctl/verbs.h"
#include "json/fields.h"
#include "json/parse.h"

namespace pintle::ctl {
namespace {

using host::AgentState;
using host::AgentStatus;

// Moves the cursor to the top and clears the screen below it.
constexpr std::string_view kClearScreen = "\x1b[H\x1b[J";

// The answer in both forms, and the exit status.
struct StatusAnswer {
  json::Value json;
  std::string text;
  ExitStatus exit = ExitStatus::kSuccess;
};

StatusAnswer StatusAnswerOf(const AgentStatus& status) {
  StatusAnswer answer{.json = json::Encode(status), .text = StatusText(status)};
  answer.json["running"] = true;
  const bool is_wrong = status.state == AgentState::kDegraded || status.state == AgentState::kUnreconcilable;
  if (is_wrong || status.findings > 0) answer.exit = ExitStatus::kDiffers;
  return answer;
}

std::string ConfigText(const api::MachineConfig& config) {
  return change::IsNoConfig(config) ? "it has no config" : "its config is " + Printable(config.metadata.name);
}

// Reads the status from the disk, since no agent runs.
Result<StatusAnswer> StatusAnswerFromDisk(const CommandLine& line) {
  constexpr std::string_view kNoAgent = "No agent runs on this machine";
  StatusAnswer answer{.json = {{"running", false}}, .text = ""};
  if (::geteuid() != 0) {
    answer.text = fmt::format("{}; only root may see which config it has.\n", kNoAgent);
    return answer;
  }
  const Machine machine = TRY(Machine::Of(line));
  const auto config = TRY(change::ReadCurrentConfig(machine.root()));
  answer.json["current"] = config.object.metadata.name;
  answer.text = fmt::format("{}; {}.\n", kNoAgent, ConfigText(config.object));
  if (const std::string aside = change::UnsupportedPartsText(machine.host(), config.object.spec); !aside.empty()) {
    answer.json["leftAside"] = aside;
    answer.text += fmt::format("Left aside: {}.\n", aside);
  }
  if (const auto pending = TRY(change::Journal(machine.root()).Read())) {
    answer.json["pending"] = pending->to;
    answer.text += Printable(PendingText(*pending, machine)) + "\n";
    answer.exit = ExitStatus::kDiffers;
  }
  return answer;
}

Result<StatusAnswer> StatusAnswerFor(const CommandLine& line, const Result<AgentStatus>& status) {
  if (status) return StatusAnswerOf(*status);
  if (status.error().kind() == ErrorKind::kNotFound) return StatusAnswerFromDisk(line);
  return status.error();
}

Colour ColourOfStatus(std::string_view line) {
  if (line.starts_with("Reason:")) return Colour::kBad;
  if (line.starts_with("Warnings:")) return Colour::kAttention;
  if (!line.starts_with("State:")) return Colour::kNone;
  const auto has = [&](std::string_view state) { return line.find(fmt::format(" {}, ", state)) != line.npos; };
  if (has("Degraded") || has("Unreconcilable")) return Colour::kBad;
  return has("Done") ? Colour::kGood : Colour::kAttention;
}

void PrintStatusAnswer(const StatusAnswer& answer, Form form) {
  if (form == Form::kText) return PrintColoured(answer.text, ColourOfStatus);
  PrintData(answer.json, form);
}

// Prints the status whenever it changes, until a person presses Control-C.  Ends earlier if the status cannot be read,
// which is an error, or if it cannot be printed.
Result<ExitStatus> Watch(const CommandLine& line, Form form) {
  const bool redraws = form == Form::kText && ::isatty(STDOUT_FILENO) == 1;
  bool is_first = true;
  Result<ExitStatus> exit = ExitStatus::kSuccess;
  const auto print = [&](const Result<AgentStatus>& status) {
    const Result<StatusAnswer> answer = StatusAnswerFor(line, status);
    if (!answer) {
      exit = answer.error();
      return false;
    }
    if (redraws) Print(kClearScreen);
    const bool is_next = !std::exchange(is_first, false);
    if (is_next && form == Form::kText && !redraws) Print("\n");
    if (is_next && form == Form::kYaml) Print("---\n");
    if (form == Form::kJson) {
      Print(json::ToText(answer->json) + "\n");
    } else {
      PrintStatusAnswer(*answer, form);
    }
    // The text is flushed now, since the next change may come much later.
    return FlushOutput();
  };
  TRY(host::FollowAgent(print));
  return exit;
}

// Formats names and values, with the values below one another.
class NameValueLines {
 public:
  void Add(std::string_view name, const std::string& value) {
    if (value.empty()) return;
    text_ += fmt::format("{:<10}{}\n", name, Printable(value));
  }
  std::string Take() && { return std::move(text_); }

 private:
  std::string text_;
};

std::string FindingsText(std::uint32_t findings) {
  if (findings == 0) return "none";
  return fmt::format("{}; `pintle verify` lists {}, `pintle explain PATH` explains one", findings,
                     findings == 1 ? "it" : "them");
}

std::string LoginText(const host::AgentLogin& login) {
  return fmt::format("{} {}{}", login.when, login.user, login.from.empty() ? "" : " from " + login.from);
}

}  // namespace

std::string StatusText(const AgentStatus& status) {
  const auto word = [](const auto& value) { return json::Encode(value).text(); };
  NameValueLines lines;
  lines.Add("Node:", status.node);
  lines.Add("Configs:", status.source == host::AgentSource::kKubernetes ? "from the cluster" : "from this machine");
  lines.Add("Current:", status.current);
  lines.Add("", status.current_image.value_or(""));
  lines.Add("Desired:", status.desired);
  lines.Add("", status.desired_image.value_or(""));
  lines.Add("State:", fmt::format("{}, {}{}", word(status.state), word(status.phase),
                                  status.since.empty() ? "" : " since " + status.since));
  lines.Add("Doing:", status.doing);
  lines.Add("Next:", status.next);
  lines.Add("Reason:", status.reason);
  lines.Add("Findings:", FindingsText(status.findings));
  std::string_view warning_name = "Warnings:";
  for (const std::string& warning : status.warnings) lines.Add(std::exchange(warning_name, ""), warning);
  lines.Add("Aside:", status.left_aside);
  std::string_view login_name = "SSH:";
  for (const host::AgentLogin& login : status.logins.value_or(std::vector<host::AgentLogin>()))
    lines.Add(std::exchange(login_name, ""), LoginText(login));
  return std::move(lines).Take();
}

Result<ExitStatus> Status(const CommandLine& line) {
  const Form form = FormOf(line);
  if (!line.operands().empty()) return Error(ErrorKind::kInvalid, "this verb takes no arguments");
  if (line.Has("--watch")) return Watch(line, form);
  const StatusAnswer answer = TRY(StatusAnswerFor(line, host::ReadAgentStatus()));
  PrintStatusAnswer(answer, form);
  return answer.exit;
}

}  // namespace pintle::ctl
