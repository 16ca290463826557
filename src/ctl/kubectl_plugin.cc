// SPDX-License-Identifier: Apache-2.0
#include "ctl/kubectl_plugin.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/nearest.h"
#include "base/output.h"
#include "ctl/cluster_history.h"
#include "ctl/command_line.h"
#include "ctl/diff.h"
#include "ctl/environment.h"
#include "ctl/pools_status.h"
#include "ctl/rollout.h"
#include "ctl/rollout_orders.h"

namespace pintle::ctl {
namespace {

struct PluginVerb {
  std::string_view name;
  std::string_view usage;    // The words that follow the name.
  std::string_view summary;  // A phrase that describes the verb.
  std::span<const Option> options;
  Verb* run;
};

// Unlike `pintle rollout`, the plug-in has no options for files, since it always reads a cluster.
constexpr std::array kPluginRolloutOptions = {
    Option{"--feature-gates", "A,B", "feature gates that are on"},
    Option{"--operator-node", "NAME", "the node that the operator runs on"},
    kSimulateOption,
    kNodeTimeOption,
    kBeginOption,
    kKubeconfigOption,
    kContextOption,
    kOutputOrNamesOption,
};

constexpr std::array kPluginVerbs = {
    PluginVerb{"approve", "POOL", "let the next wave of a pool's rollout begin, if it waits for an approval",
               kRolloutOrderOptions, ApproveWave},
    PluginVerb{"diff", "POOL | OLD NEW",
               "print what nodes would have to do for their pool's config, or to change from OLD to NEW", kDiffOptions,
               Diff},
    PluginVerb{"history", "NODE | POOL", "print what has happened to a node, or to a pool and its nodes, and when",
               kClusterHistoryOptions, ClusterHistory},
    PluginVerb{"override", "--reason=TEXT POOL",
               "let a pool's present config be rolled out outside of its RolloutPolicy's windows",
               kRolloutOverrideOptions, OverrideWindows},
    PluginVerb{"resume", "POOL", "continue a pool's rollout that failures or a gate have halted", kRolloutOrderOptions,
               ResumeRollout},
    PluginVerb{"rollout", "POOL",
               "print which nodes of a pool would be updated next, why others wait, and the pool's status",
               kPluginRolloutOptions, Rollout},
    PluginVerb{"status", "[POOL...]", "print the state of each pool, what is wrong, and what waits behind a pause",
               kPoolsStatusOptions, PoolsStatus},
};

// Returns the kubeconfig that kubectl would use.  If $KUBECONFIG names several files that exist, kubectl merges them;
// this program returns an error.
Result<std::string> UsualKubeconfig() {
  const std::string variable(FromEnvironment("KUBECONFIG"));
  if (variable.empty()) {
    std::string usual = std::string(FromEnvironment("HOME")) + "/.kube/config";
    std::error_code ignored;  // If this check fails, reading the file reports the error.
    if (std::filesystem::exists(usual, ignored) || ignored) return usual;
    return Error(ErrorKind::kInvalid,
                 fmt::format("there is no {}: name a kubeconfig with --kubeconfig or $KUBECONFIG", usual));
  }
  std::vector<std::string> existing;
  for (std::size_t begin = 0; begin <= variable.size();) {
    const std::size_t end = std::min(variable.find(':', begin), variable.size());
    const std::string path = variable.substr(begin, end - begin);
    std::error_code ignored;  // A file that cannot be checked counts as missing.
    if (!path.empty() && std::filesystem::exists(path, ignored)) existing.push_back(path);
    begin = end + 1;
  }
  if (existing.size() == 1) return existing.front();
  if (existing.empty()) {
    return Error(
        ErrorKind::kInvalid,
        fmt::format("$KUBECONFIG names no file that exists ({}): name one there or with --kubeconfig", variable));
  }
  return Error(
      ErrorKind::kInvalid,
      fmt::format("$KUBECONFIG names {} existing files, but only one can be used: name one with --kubeconfig, or "
                  "merge them with `kubectl config view --flatten --minify`",
                  existing.size()));
}

ExitStatus FailPlugin(std::string_view message) {
  PrintToStderr(fmt::format("kubectl pintle: {}\n", message));
  return ExitStatus::kFailure;
}

ExitStatus PrintPluginHelp() {
  Print(
      "kubectl pintle: reports the state of machine configuration in this cluster, and what comes next\n\n"
      "Usage: kubectl pintle VERB [WORD...]\n\n");
  for (const PluginVerb& verb : kPluginVerbs) Print(fmt::format("  {:<8} {}\n", verb.name, verb.summary));
  Print("\n`kubectl pintle help VERB` explains one verb; kubectl-pintle(1) has all of them.\n");
  return ExitStatus::kSuccess;
}

ExitStatus PrintVerbHelp(const PluginVerb& verb) {
  Print(fmt::format("kubectl pintle {}: {}\n\nUsage: kubectl pintle {} [OPTION...] {}\n\n{}", verb.name, verb.summary,
                    verb.name, verb.usage, Describe(verb.options)));
  return ExitStatus::kSuccess;
}

const PluginVerb* VerbNamed(std::string_view name) {
  const auto verb = std::find_if(kPluginVerbs.begin(), kPluginVerbs.end(),
                                 [&](const PluginVerb& known) { return known.name == name; });
  return verb == kPluginVerbs.end() ? nullptr : &*verb;
}

ExitStatus FailUnknownVerb(std::string_view name) {
  std::vector<std::string_view> known = {"help"};
  for (const PluginVerb& verb : kPluginVerbs) known.push_back(verb.name);
  return FailPlugin(fmt::format("\"{}\" is not a verb{} (`kubectl pintle help` lists the verbs)", name,
                                name.starts_with('-') ? "; options go after the verb" : SuggestionFor(name, known)));
}

// Prints help on the verb that follows `help`, or on the program if no word follows.
ExitStatus PrintPluginHelpFor(std::span<const char* const> words) {
  if (words.empty() || IsHelpOption(words[0]) || std::string_view(words[0]) == "help") return PrintPluginHelp();
  const PluginVerb* const verb = VerbNamed(words[0]);
  return verb == nullptr ? FailUnknownVerb(words[0]) : PrintVerbHelp(*verb);
}

Result<ExitStatus> RunPluginVerb(const PluginVerb& verb, std::span<const char* const> words) {
  auto line = TRY(CommandLine::Parse(verb.options, words));
  if (line.Has("--kubeconfig")) return TRY(verb.run(line));
  const std::string kubeconfig = TRY(UsualKubeconfig());
  std::vector<const char*> more = {"--kubeconfig", kubeconfig.c_str()};
  more.insert(more.end(), words.begin(), words.end());
  line = TRY(CommandLine::Parse(verb.options, more));
  return TRY(verb.run(line));
}

}  // namespace

ExitStatus KubectlPlugin(std::span<const char* const> words) {
  if (words.empty()) return PrintPluginHelp();
  if (IsHelpOption(words[0]) || std::string_view(words[0]) == "help") return PrintPluginHelpFor(words.subspan(1));
  const PluginVerb* const verb = VerbNamed(words[0]);
  if (verb == nullptr) return FailUnknownVerb(words[0]);
  words = words.subspan(1);
  if (HasHelpOption(words)) return PrintVerbHelp(*verb);
  const auto status = RunPluginVerb(*verb, words);
  return status ? *status : FailPlugin(fmt::format("{}: {}", verb->name, status.error().message()));
}

}  // namespace pintle::ctl
