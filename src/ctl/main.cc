// SPDX-License-Identifier: Apache-2.0

// The command line, `pintle`: finds the verb, and passes the other words to the verb.

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/nearest.h"
#include "base/output.h"
#include "ctl/adopt.h"
#include "ctl/apply.h"
#include "ctl/command_line.h"
#include "ctl/convert.h"
#include "ctl/diff.h"
#include "ctl/explain.h"
#include "ctl/finalize.h"
#include "ctl/firstboot.h"
#include "ctl/generate.h"
#include "ctl/history.h"
#include "ctl/ignore.h"
#include "ctl/kubectl_plugin.h"
#include "ctl/machine_config_daemon.h"
#include "ctl/orders.h"
#include "ctl/pivot.h"
#include "ctl/recover.h"
#include "ctl/render.h"
#include "ctl/restore.h"
#include "ctl/rollout.h"
#include "ctl/status.h"
#include "ctl/template.h"
#include "ctl/validate.h"
#include "ctl/verbs.h"
#include "ctl/verify.h"
#include "ctl/version.h"

namespace pintle::ctl {
namespace {

struct VerbEntry {
  std::string_view name;
  std::string_view usage;    // The words that may follow the name; options that are seldom needed are left out.
  std::string_view summary;  // A phrase that describes the verb.
  std::span<const Option> options;
  Verb* run;
};

constexpr std::array kVerbs = {
    VerbEntry{"adopt", "[--root DIR] [-o FORMAT] PATH", "print a MachineConfig that keeps what is there", kAdoptOptions,
              Adopt},
    VerbEntry{"apply", "[--dry-run] [--yes] [--policy FILE] [--root DIR] FILE|DIRECTORY...|--none",
              "change this machine to the config in these files", kApplyOptions, Apply},
    VerbEntry{"check", "", "have the agent look at everything on this machine now", kOrderOptions, Check},
    VerbEntry{"convert", "[--to WHAT] [-o FORMAT] FILE",
              "convert a config to Ignition of any version, or to a MachineConfig", kConvertOptions, Convert},
    VerbEntry{"diff",
              "[--policy FILE] [--overrides FILE] [-o FORMAT] OLD NEW | --kubeconfig FILE [--with FILE]... POOL",
              "print what differs between two configs, and what a node would have to do", kDiffOptions, Diff},
    VerbEntry{"explain", "[--policy FILE] [--root DIR] [-o FORMAT] PATH|UNIT|USER|os",
              "print the state that the config wants for a thing, its actual state, and what a change needs",
              kExplainOptions, Explain},
    VerbEntry{"finalize-staged", "", "put the files into the next deployment; a unit runs this at shutdown",
              kFinalizeOptions, Finalize},
    VerbEntry{"firstboot", "[--once] [--no-reboot] [--root DIR [--if-nothing-to-do]]",
              "bring the OS of a new machine to what its first config wants", kFirstbootOptions, Firstboot},
    VerbEntry{"generate", "--templates DIR --from DIR [--pull-secret FILE] [--only WHAT]... [--bootstrap] [-o FORMAT]",
              "print the MachineConfigs that the controllers would make of templates, KubeletConfigs, mirrors and the "
              "like",
              kGenerateOptions, Generate},
    VerbEntry{"history", "[-o FORMAT]", "list what was changed on this machine", kHistoryOptions, History},
    VerbEntry{"ignore", "[--until DATE] [--end THING] [--root DIR] [-o FORMAT] [PATH|UNIT|USER|os]",
              "ignore findings about a thing until a date, or list what is ignored", kIgnoreOptions, Ignore},
    VerbEntry{"pause", "", "have the agent change nothing on this machine for now", kOrderOptions, Pause},
    VerbEntry{"pivot", "[--reboot] [--force] [--yes] [-o FORMAT] IMAGE",
              "have the next boot take another OS image, whatever the config wants", kPivotOptions, Pivot},
    VerbEntry{"recover",
              "[--give-up] [--reboot] [--root DIR] [-o FORMAT] | --set-aside [--root DIR] [-o FORMAT] | --files",
              "end what a crash or a reboot interrupted", kRecoverOptions, Recover},
    VerbEntry{"render", "--pool FILE --controller-config FILE [-o FORMAT] FILE|DIRECTORY...",
              "render many configs to the one that a pool's nodes get", kRenderOptions, Render},
    VerbEntry{"restore", "[--policy FILE] [--root DIR] PATH|UNIT|USER|os...",
              "bring things back to the state that this machine's config wants", kRestoreOptions, Restore},
    VerbEntry{"resume", "", "let the agent change this machine again", kOrderOptions, Resume},
    VerbEntry{"retry", "", "have the agent try failed work again now", kOrderOptions, Retry},
    VerbEntry{"rollout", "--pool FILE --nodes FILE [--with FILE]... [-o FORMAT] | --kubeconfig FILE POOL",
              "print which nodes of a pool would be updated next, why others wait, and the pool's status",
              kRolloutOptions, Rollout},
    VerbEntry{"status", "[--watch] [-o FORMAT]", "print what the agent is doing on this machine, and what is next",
              kStatusOptions, Status},
    VerbEntry{"template", "FILE --data FILE | FILE --controller-config FILE [--api-server FILE] [--pull-secret FILE]",
              "execute one template and print the result", kTemplateOptions, Template},
    VerbEntry{"validate", "[-o FORMAT] FILE...", "list all problems of configs", kValidateOptions, Validate},
    VerbEntry{"verify", "[--root DIR] [-o FORMAT]", "list everything that differs from this machine's config",
              kVerifyOptions, Verify},
    VerbEntry{"version", "[-o FORMAT]", "print the version", kVersionOptions, Version},
};

ExitStatus PrintHelp() {
  Print("pintle: takes a node from one whole configuration to the next\n\nUsage: pintle VERB [WORD...]\n\n");
  for (const VerbEntry& verb : kVerbs) Print(fmt::format("  {:<16} {}\n", verb.name, verb.summary));
  Print("\n`pintle help VERB` explains one verb; pintle(1) has all of them.\n");
  return ExitStatus::kSuccess;
}

ExitStatus PrintHelpOn(const VerbEntry& verb) {
  Print(fmt::format("pintle {}: {}\n\nUsage: pintle {}{}{}\n", verb.name, verb.summary, verb.name,
                    verb.usage.empty() ? "" : " ", verb.usage));
  if (!verb.options.empty()) Print(fmt::format("\n{}", Describe(verb.options)));
  return ExitStatus::kSuccess;
}

ExitStatus Fail(std::string_view message) {
  PrintToStderr(fmt::format("pintle: {}\n", message));
  return ExitStatus::kFailure;
}

const VerbEntry* VerbNamed(std::string_view name) {
  const auto verb =
      std::find_if(kVerbs.begin(), kVerbs.end(), [&](const VerbEntry& known) { return known.name == name; });
  return verb == kVerbs.end() ? nullptr : &*verb;
}

ExitStatus ReportUnknownVerb(std::string_view name) {
  std::vector<std::string_view> known = {"help"};
  for (const VerbEntry& verb : kVerbs) known.push_back(verb.name);
  return Fail(fmt::format("\"{}\" is not a verb{} (`pintle help` lists the verbs)", name,
                          name.starts_with('-') ? "; options go after the verb" : SuggestionFor(name, known)));
}

// Prints help on the verb that follows `help`, or on the program if no word follows.
ExitStatus PrintHelpFor(std::span<const char* const> words) {
  if (words.empty() || IsHelpOption(words[0]) || std::string_view(words[0]) == "help") return PrintHelp();
  const VerbEntry* const verb = VerbNamed(words[0]);
  return verb == nullptr ? ReportUnknownVerb(words[0]) : PrintHelpOn(*verb);
}

ExitStatus RunVerb(const VerbEntry& verb, std::span<const char* const> words) {
  if (HasHelpOption(words)) return PrintHelpOn(verb);
  const auto line = CommandLine::Parse(verb.options, words);
  if (!line) return Fail(fmt::format("{}: {}", verb.name, line.error().message()));
  const auto status = verb.run(*line);
  if (!status) return Fail(fmt::format("{}: {}", verb.name, status.error().message()));
  return *status;
}

ExitStatus Run(std::span<const char* const> words) {
  if (words.empty()) return Fail("a verb is missing; `pintle help` lists the verbs");
  std::string_view name = words[0];
  if (name == "help" || IsHelpOption(name)) return PrintHelpFor(words.subspan(1));
  if (name == "--version") name = "version";
  const VerbEntry* const verb = VerbNamed(name);
  return verb == nullptr ? ReportUnknownVerb(name) : RunVerb(*verb, words.subspan(1));
}

// Runs the program that `program`, the first word of the command line, names: machine-config-daemon, kubectl-pintle, or
// else pintle.
ExitStatus RunAs(std::string_view program, std::span<const char* const> words) {
  const std::string_view name = program.substr(program.rfind('/') + 1);
  if (name == kOldProgram) return MachineConfigDaemon(words);
  if (name == kKubectlPlugin) return KubectlPlugin(words);
  return Run(words);
}

// Large input may use up the memory.  Then the program reports an error and does not crash.
[[noreturn]] void EndWithoutMemory() {
  constexpr std::string_view kMessage = "pintle: out of memory: the input is too large for this machine\n";
  // If this write fails too, nothing more can be done.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kMessage.data(), kMessage.size());
  ::_exit(static_cast<int>(ExitStatus::kFailure));
}

}  // namespace
}  // namespace pintle::ctl

int main(int argc, char** argv) {
  // With the signal ignored, a write beyond the limit on the size of files fails with EFBIG.
  std::signal(SIGXFSZ, SIG_IGN);
  std::set_new_handler(pintle::ctl::EndWithoutMemory);
  const std::span<const char* const> words(argv, static_cast<std::size_t>(argc));
  auto status = pintle::ctl::RunAs(words.empty() ? "" : words[0], words.subspan(words.empty() ? 0 : 1));
  // If the answer could not be printed, for instance to a file on a full disk, the exit status must not be that of
  // success.
  if (!pintle::FlushOutput()) status = pintle::ctl::ExitStatus::kFailure;
  return static_cast<int>(status);
}
