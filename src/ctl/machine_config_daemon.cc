// SPDX-License-Identifier: Apache-2.0
#include "ctl/machine_config_daemon.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/nearest.h"
#include "base/output.h"
#include "base/root.h"
#include "base/version.h"
#include "change/first_boot.h"
#include "change/tuning.h"
#include "ctl/carry_out.h"
#include "ctl/command_line.h"
#include "ctl/firstboot.h"
#include "ctl/machine.h"
#include "ctl/pivot.h"

namespace pintle::ctl {
namespace {

constexpr const char* kPullSpec = "/etc/pivot/image-pullspec";
// If this file exists, `pivot` reboots.
constexpr const char* kRebootNeeded = "/run/pivot/reboot-needed";
// The drop-in passes the flags of `start` to pintled as settings.
constexpr const char* kDropInDirectory = "/run/pintle/pintled.conf.d";
constexpr const char* kDropIn = "/run/pintle/pintled.conf.d/50-machine-config-daemon.conf";

// All commands of the old program accepted these flags, most of which are about logging.  Here they have no effect.
constexpr std::array kLogOptions = {
    Option{"-v", "N", ""},
    Option{"--v", "N", ""},
    Option{"--vmodule", "LIST", ""},
    Option{"--log-flush-frequency", "TIME", ""},
    Option{"--log-backtrace-at", "PLACE", ""},
    Option{"--log-dir", "DIR", ""},
    Option{"--log-file", "FILE", ""},
    Option{"--log-file-max-size", "N", ""},
    Option{"--stderrthreshold", "N", ""},
    Option{"--payload-version", "VERSION", ""},
    Option{"--add-dir-header", "", ""},
    Option{"--alsologtostderr", "", ""},
    Option{"--logtostderr", "", ""},
    Option{"--one-output", "", ""},
    Option{"--skip-headers", "", ""},
    Option{"--skip-log-headers", "", ""},
};

constexpr std::array kOldPivotOptions = {
    Option{"--keep", "", "accepted: no container is left behind in any case"},
    Option{"--reboot", "", "reboot if something has changed"},
    Option{"--from-etc-pullspec", "", "take the image that /etc/pivot/image-pullspec names"},
    Option{"--unchanged-exit-77", "", "end with status 77 if there was nothing to change"},
};

constexpr std::array kOldFirstbootOptions = {
    Option{"--root-mount", "DIR", "accepted only as /, the default"},
    Option{"--persist-nics", "", "accepted: the names of network interfaces stay as they are"},
    Option{"--machineconfig-file", "FILE", "the first config, if it is not where Ignition puts it"},
};

constexpr std::array kStartOptions = {
    Option{"--kubeconfig", "FILE", "Kubeconfig= of pintled.conf(5)"},
    Option{"--node-name", "NAME", "NodeName= of pintled.conf(5)"},
    Option{"--metrics-url", "ADDRESS", "Listen= of pintled.conf(5)"},
    Option{"--root-mount", "DIR", "accepted only as /, the default"},
    Option{"--desired-configmap", "DIR", "refused"},
    Option{"--once-from", "FILE", "refused: see pintle apply"},
    Option{"--skip-reboot", "", "refused: see pintle apply"},
    Option{"--kubelet-healthz-enabled", "", "with =false: KubeletHealth= of pintled.conf(5) is empty"},
    Option{"--kubelet-healthz-endpoint", "URL", "KubeletHealth= of pintled.conf(5)"},
    Option{"--tls-cipher-suites", "LIST", "accepted: the metrics are for this machine alone, and not encrypted"},
    Option{"--tls-min-version", "VERSION", "accepted: the metrics are for this machine alone, and not encrypted"},
};

void PrintNotice(const std::string& text) { PrintToStderr(fmt::format("machine-config-daemon: {}\n", text)); }

// ---- words ----------------------------------------------------------------------------------------------------------

using Options = std::vector<Option>;

Options WithLogging(std::span<const Option> own) {
  Options all(own.begin(), own.end());
  all.insert(all.end(), kLogOptions.begin(), kLogOptions.end());
  return all;
}

// Returns the name of a flag as our options have it: underscores become dashes.
std::string FlagName(std::string_view word) {
  std::string name(word.substr(0, word.find('=')));
  if (word.starts_with("--")) std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

bool IsSwitch(const Options& options, std::string_view name) {
  return std::any_of(options.begin(), options.end(),
                     [&](const Option& option) { return option.name == name && option.value.empty(); });
}

// Reads the value of a switch as Go's strconv.ParseBool() does.
Result<bool> ReadBool(std::string_view name, std::string_view value) {
  constexpr std::array<std::string_view, 6> kOn = {"1", "t", "T", "TRUE", "true", "True"};
  constexpr std::array<std::string_view, 6> kOff = {"0", "f", "F", "FALSE", "false", "False"};
  if (std::find(kOn.begin(), kOn.end(), value) != kOn.end()) return true;
  if (std::find(kOff.begin(), kOff.end(), value) != kOff.end()) return false;
  return Error(ErrorKind::kInvalid, fmt::format("{}={}: the value of this switch must be true or false", name, value));
}

// Expands letters such as "-kr" to "--keep" and "--reboot".  Returns nullopt if other letters are among them.
std::optional<std::vector<std::string>> SpelledOut(std::string_view letters) {
  constexpr std::array<std::pair<char, const char*>, 3> kLetters = {
      {{'k', "--keep"}, {'r', "--reboot"}, {'P', "--from-etc-pullspec"}}};
  std::vector<std::string> words;
  for (const char letter : letters) {
    const auto known =
        std::find_if(kLetters.begin(), kLetters.end(), [&](const auto& entry) { return entry.first == letter; });
    if (known == kLetters.end()) return std::nullopt;
    words.emplace_back(known->second);
  }
  return words;
}

// Rewrites Go's flags as our options: underscores become dashes, a switch may have a value, and "-v4" becomes "-v 4".
// If a switch is given several times, its last value counts.
Result<std::vector<std::string>> Translated(const Options& options, std::span<const char* const> words) {
  std::vector<std::string> translated;
  for (const std::string_view word : words) {
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string name = FlagName(word);
    const std::string_view value = word.substr(std::min(equals + 1, word.size()));
    const bool is_letters = word.size() > 1 && word[0] == '-' && word[1] != '-';
    const auto spelled = is_letters ? SpelledOut(word.substr(1)) : std::nullopt;
    if (spelled) {
      translated.insert(translated.end(), spelled->begin(), spelled->end());
    } else if (word.starts_with("-v") && word.size() > 2 && IsDigit(word[2])) {
      translated.insert(translated.end(), {"-v", std::string(word.substr(2))});
    } else if (equals < word.size() && IsSwitch(options, name)) {
      const bool is_on = TRY(ReadBool(name, value));
      std::erase(translated, name);
      if (is_on) translated.push_back(name);
    } else {
      translated.push_back(name + std::string(word.substr(equals)));
    }
  }
  return translated;
}

Result<CommandLine> Parse(std::span<const Option> own, std::span<const char* const> words) {
  const Options options = WithLogging(own);
  const auto translated = TRY(Translated(options, words));
  std::vector<const char*> pointers;
  for (const std::string& word : translated) pointers.push_back(word.c_str());
  return CommandLine::Parse(options, pointers);
}

Result<> ExpectRootMount(const CommandLine& line) {
  const std::string directory = line.Value("--root-mount").value_or("/");
  if (directory == "/") return {};
  return Error(ErrorKind::kInvalid,
               fmt::format("--root-mount {}: this program runs on the host and not in a container; leave this flag out",
                           directory));
}

std::string Stripped(std::string text) {
  constexpr const char* kBlanks = " \t\r\n";
  text.erase(text.find_last_not_of(kBlanks) + 1);
  text.erase(0, text.find_first_not_of(kBlanks));
  return text;
}

// ---- pivot ----------------------------------------------------------------------------------------------------------

// Returns the image that the command line names.  If it names none, or with --from-etc-pullspec, returns the image in
// /etc/pivot/image-pullspec.
Result<std::string> ImageFor(const CommandLine& line, const Root& root) {
  if (line.operands().size() > 1) return Error(ErrorKind::kInvalid, "name one image, and nothing else");
  const bool is_named = !line.operands().empty() && !line.Has("--from-etc-pullspec");
  if (is_named) return line.operands().front();
  const std::string image = TRY(root.Status(kPullSpec)) ? Stripped(TRY(root.ReadFile(kPullSpec))) : "";
  if (image.empty()) return Error(ErrorKind::kInvalid, "No container specified");
  return image;
}

Result<ExitStatus> OldPivot(std::span<const char* const> words) {
  const CommandLine line = TRY(Parse(kOldPivotOptions, words));
  const Machine machine = TRY(Machine::Of(line));
  const Root& root = machine.root();
  PivotOrder order;
  order.pivot.image = TRY(ImageFor(line, root));
  const auto tuning = TRY(change::ReadTuning(root));
  for (const std::string& argument : tuning.refused) {
    PrintNotice(fmt::format("{}: {} cannot be tuned on this OS, and stays as it is", change::kTuning, argument));
  }
  order.pivot.add_arguments = tuning.add;
  order.pivot.remove_arguments = tuning.remove;
  // The old command did not ask for confirmation, and checked nothing but the OS.
  order.is_confirmed = true;
  order.is_forced = true;
  const PivotAnswer answer = TRY(CarryOutPivot(machine, line, order));
  TRY(root.Remove(kPullSpec));
  Print(PivotText(answer));
  if (answer.outcome == outcome::kNothingToDo) {
    return line.Has("--unchanged-exit-77") ? ExitStatus::kUnchanged : ExitStatus::kSuccess;
  }
  if (line.Has("--reboot") || TRY(root.Status(kRebootNeeded))) {
    TRY(machine.Reboot(fmt::format("pivot of {} needs it", answer.to)));
  }
  return ExitStatus::kSuccess;
}

// ---- firstboot ------------------------------------------------------------------------------------------------------

Result<ExitStatus> OldFirstboot(std::span<const char* const> words) {
  const CommandLine line = TRY(Parse(kOldFirstbootOptions, words));
  if (!line.operands().empty()) return Error(ErrorKind::kInvalid, "this command takes no arguments");
  TRY(ExpectRootMount(line));
  if (line.Has("--persist-nics")) {
    PrintNotice("--persist-nics: the names of network interfaces stay as they are");
    return ExitStatus::kSuccess;
  }
  const std::string file = line.Value("--machineconfig-file").value_or(change::kFirstConfig);
  const std::array<const char*, 2> own = {"--file", file.c_str()};
  return Firstboot(TRY(CommandLine::Parse(kFirstbootOptions, own)));
}

// ---- start ----------------------------------------------------------------------------------------------------------

// Returns the lines of pintled.conf for a flag, or an empty text if the flag is not given.
Result<std::string> SettingText(const CommandLine& line, const char* flag, const char* section, const char* key) {
  const std::string value = line.Value(flag).value_or("");
  if (value.empty()) return std::string();
  const auto is_control = [](unsigned char c) { return c < ' '; };
  if (std::any_of(value.begin(), value.end(), is_control)) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("{}: its value has a line break or another control character in it", flag));
  }
  return fmt::format("[{}]\n{}={}\n", section, key, value);
}

// Returns whether a flag that is on by default is turned off.  If the flag is given several times, its last value
// counts.
Result<bool> IsTurnedOff(std::span<const char* const> words, std::string_view flag) {
  bool is_on = true;
  for (const std::string_view word : words) {
    if (FlagName(word) != flag) continue;
    const std::size_t equals = word.find('=');
    is_on = equals == std::string_view::npos || TRY(ReadBool(flag, word.substr(equals + 1)));
  }
  return !is_on;
}

Result<std::string> KubeletSettingText(const CommandLine& line, std::span<const char* const> words) {
  if (TRY(IsTurnedOff(words, "--kubelet-healthz-enabled"))) return std::string("[Kubernetes]\nKubeletHealth=\n");
  return SettingText(line, "--kubelet-healthz-endpoint", "Kubernetes", "KubeletHealth");
}

Result<ExitStatus> OldStart(std::span<const char* const> words) {
  const CommandLine line = TRY(Parse(kStartOptions, words));
  if (!line.operands().empty()) return Error(ErrorKind::kInvalid, "this command takes no arguments");
  if (line.Has("--once-from") || line.Has("--skip-reboot")) {
    return Error(ErrorKind::kInvalid,
                 "--once-from and --skip-reboot are not supported; use `pintle apply [--no-reboot] FILE`");
  }
  if (line.Has("--desired-configmap")) {
    return Error(ErrorKind::kInvalid, "--desired-configmap: machines of HyperShift are not supported");
  }
  TRY(ExpectRootMount(line));
  for (const char* flag : {"--tls-cipher-suites", "--tls-min-version"}) {
    if (line.Has(flag)) PrintNotice(fmt::format("{} has no effect; see pintled.conf(5)", flag));
  }
  const std::string settings = TRY(SettingText(line, "--node-name", "Agent", "NodeName")) +
                               TRY(SettingText(line, "--kubeconfig", "Kubernetes", "Kubeconfig")) +
                               TRY(KubeletSettingText(line, words)) +
                               TRY(SettingText(line, "--metrics-url", "Metrics", "Listen"));
  if (::geteuid() != 0) return Error(ErrorKind::kInvalid, "only root may do this; run it as root");
  const Root root = TRY(Root::Open("/"));
  if (!settings.empty()) TRY(root.MakeDirectories(kDropInDirectory));
  TRY(settings.empty() ? root.Remove(kDropIn) : root.WriteFile(kDropIn, settings), "passing the flags to pintled");
  ::execl(PINTLED, "pintled", static_cast<char*>(nullptr));
  return Error::FromErrno(PINTLED);
}

// ---- the commands ---------------------------------------------------------------------------------------------------

Result<ExitStatus> OldVersion(std::span<const char* const> words) {
  TRY(Parse({}, words));
  Print(fmt::format("MachineConfigDaemon {}-pintle\n", kVersion));
  return ExitStatus::kSuccess;
}

struct OldVerb {
  std::string_view name;
  std::string_view usage;
  std::string_view summary;
  std::span<const Option> options;
  Result<ExitStatus> (*run)(std::span<const char* const> words);
};

constexpr std::array kOldVerbs = {
    OldVerb{"firstboot-complete-machineconfig", "[FLAG...]",
            "bring the OS of a new machine to what its first config wants", kOldFirstbootOptions, OldFirstboot},
    OldVerb{"pivot", "[-k] [-r] [-P] [FLAG...] [IMAGE]", "have the next boot take another OS image", kOldPivotOptions,
            OldPivot},
    OldVerb{"start", "[FLAG...]", "run the node agent, pintled", kStartOptions, OldStart},
    OldVerb{"version", "", "print the version", {}, OldVersion},
};

ExitStatus PrintCommandsHelp() {
  Print(
      "machine-config-daemon: pintle(1) under the name that the Machine Config Operator's program had\n\n"
      "Usage: machine-config-daemon COMMAND [FLAG...]\n\n");
  for (const OldVerb& verb : kOldVerbs) Print(fmt::format("  {:<34} {}\n", verb.name, verb.summary));
  return ExitStatus::kSuccess;
}

ExitStatus PrintCommandHelp(const OldVerb& verb) {
  Print(fmt::format("machine-config-daemon {}: {}\n\nUsage: machine-config-daemon {} {}\n", verb.name, verb.summary,
                    verb.name, verb.usage));
  if (!verb.options.empty()) Print(fmt::format("\n{}", Describe(verb.options)));
  return ExitStatus::kSuccess;
}

ExitStatus FailCommand(const std::string& message) {
  PrintToStderr(fmt::format("error: {}\n", message));
  return ExitStatus::kFailure;
}

}  // namespace

ExitStatus MachineConfigDaemon(std::span<const char* const> words) {
  const bool wants_help = words.empty() || words[0] == std::string_view("help") || IsHelpOption(words[0]);
  // Flags for all commands may precede the command.  It is assumed that no value of such a flag is the name of a
  // command.
  for (auto word = words.begin(); word != words.end(); ++word) {
    const auto verb = std::find_if(kOldVerbs.begin(), kOldVerbs.end(),
                                   [&](const OldVerb& known) { return known.name == std::string_view(*word); });
    if (verb == kOldVerbs.end()) continue;
    std::vector<const char*> flags(words.begin(), word);
    flags.insert(flags.end(), word + 1, words.end());
    if (wants_help || std::any_of(flags.begin(), flags.end(), IsHelpOption)) return PrintCommandHelp(*verb);
    const auto status = verb->run(flags);
    return status ? *status : FailCommand(status.error().message());
  }
  if (wants_help) return PrintCommandsHelp();
  std::vector<std::string_view> known = {"help"};
  for (const OldVerb& verb : kOldVerbs) known.push_back(verb.name);
  return FailCommand(
      fmt::format("unknown command \"{}\" for \"{}\"{}", words[0], kOldProgram, SuggestionFor(words[0], known)));
}

}  // namespace pintle::ctl
