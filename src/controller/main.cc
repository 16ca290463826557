// SPDX-License-Identifier: Apache-2.0

// The main program of `pintle-controller`, the cluster's part of Pintle.

#include <fmt/core.h>

#include <array>
#include <csignal>
#include <string>
#include <string_view>
#include <vector>

#include "base/command_line.h"
#include "base/exit_status.h"
#include "base/nearest.h"
#include "base/output.h"
#include "base/printable.h"
#include "base/version.h"
#include "controller/bootstrap.h"
#include "controller/list_garbage.h"
#include "controller/start.h"
#include "controller/takeover.h"
#include "serving/serve.h"
#include "serving/token.h"

namespace pintle::controller {
namespace {

struct Verb {
  std::string_view name;
  std::string_view summary;
  ExitStatus (*run)(const std::vector<std::string_view>& arguments);
};

constexpr std::array kVersionOptions = {Option{"--help", "", "print this help"}};

ExitStatus PrintVersion(const std::vector<std::string_view>& arguments) {
  const auto line = CommandLine::Parse(kVersionOptions, arguments);
  if (line && line->Has("--help")) {
    Print("Usage: pintle-controller version\n\nPrints the version of pintle-controller.\n");
    return ExitStatus::kSuccess;
  }
  if (!line || !line->operands().empty()) {
    PrintToStderr(
        fmt::format("pintle-controller version: {}\n",
                    line ? fmt::format("unexpected argument \"{}\" (see --help)", Printable(line->operands()[0]))
                         : line.error().message()));
    return ExitStatus::kFailure;
  }
  Print(fmt::format("pintle-controller {}\n", kVersion));
  return ExitStatus::kSuccess;
}

constexpr std::array kVerbs = {
    Verb{"bootstrap", "make the rendered configs of a new cluster's first machines", Bootstrap},
    Verb{"garbage", "list the rendered configs that the controller would remove", ListGarbage},
    Verb{"serve", "serve Ignition from files, without a cluster", serving::Serve},
    Verb{"start", "render, roll out, drain and serve, in a cluster", Start},
    Verb{"takeover", "take over from the Machine Config Operator, or hand back to it", Takeover},
    Verb{"token", "make a token for new machines", serving::Token},
    Verb{"version", "print the version", PrintVersion},
};

std::string Usage() {
  std::string text =
      "pintle-controller: the cluster's part of Pintle\n\n"
      "Usage: pintle-controller VERB [OPTION...]\n\n";
  for (const Verb& verb : kVerbs) text += fmt::format("  {:<9} {}\n", verb.name, verb.summary);
  return text + "\n`pintle-controller help VERB` lists a verb's options; pintle-controller(8) describes all verbs.\n";
}

// Replaces `-h` by `--help`, `help VERB` by `VERB --help`, and `help` alone by `--help`.
std::vector<std::string_view> WithHelpOptionsNormalized(std::vector<std::string_view> arguments) {
  for (std::string_view& word : arguments) {
    if (word == "-h") word = "--help";
  }
  if (arguments.empty() || (arguments[0] != "help" && arguments[0] != "--help")) return arguments;
  if (arguments.size() == 1 || arguments[1] == "help" || arguments[1] == "--help") return {"--help"};
  return {arguments[1], "--help"};
}

ExitStatus ReportUnknownVerb(std::string_view name) {
  std::vector<std::string_view> known = {"help"};
  for (const Verb& verb : kVerbs) known.push_back(verb.name);
  PrintToStderr(fmt::format("pintle-controller: \"{}\" is not a verb{} (`pintle-controller help` lists the verbs)\n",
                            Printable(name),
                            name.starts_with('-') ? "; options go after the verb" : SuggestionFor(name, known)));
  return ExitStatus::kFailure;
}

ExitStatus Main(const std::vector<std::string_view>& given) {
  const std::vector<std::string_view> arguments = WithHelpOptionsNormalized(given);
  std::string_view name = arguments.empty() ? "" : arguments[0];
  if (name == "--version") name = "version";
  for (const Verb& verb : kVerbs) {
    if (verb.name == name) return verb.run({arguments.begin() + 1, arguments.end()});
  }
  if (name == "--help") {
    Print(Usage());
    return ExitStatus::kSuccess;
  }
  if (!name.empty()) return ReportUnknownVerb(name);
  PrintToStderr(Usage());
  return ExitStatus::kFailure;
}

}  // namespace
}  // namespace pintle::controller

int main(int argc, char** argv) {
  // Makes a write beyond the limit on file sizes fail with EFBIG instead of killing the process.
  std::signal(SIGXFSZ, SIG_IGN);
  auto status = pintle::controller::Main({argv + 1, argv + argc});
  // If the answer could not be printed, for instance to a file on a full disk, the exit status must not be that of
  // success.
  if (!pintle::FlushOutput()) status = pintle::ExitStatus::kFailure;
  return static_cast<int>(status);
}
