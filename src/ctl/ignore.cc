// SPDX-License-Identifier: Apache-2.0
#include "ctl/ignore.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/output.h"
#include "base/printable.h"
#include "change/claim.h"
#include "change/current_config.h"
#include "change/ignored.h"
#include "ctl/named_thing.h"
#include "ctl/verbs.h"
#include "json/parse.h"

namespace pintle::ctl {
namespace {

using change::Ignored;
using change::IgnoredThing;

// Returns an error if the machine's config has no setting for the thing.
Result<> CheckIsManaged(const Machine& machine, const std::string& name) {
  const change::CurrentConfig config = TRY(change::ReadCurrentConfig(machine.root()));
  const NamedThing thing(name);
  const auto steps = TRY(plan::StepsFor(config, config, {}));
  if (std::any_of(steps.begin(), steps.end(), [&](const plan::Step& step) { return thing.Covers(step); })) return {};
  if (change::IsNoConfig(config.object)) return Error(ErrorKind::kNotFound, "this machine has no config");
  return Error(ErrorKind::kNotFound,
               fmt::format("{} has no setting for {}", config.object.metadata.name, Printable(name)));
}

// Removes a thing from the list, and returns whether the list had it.
bool Drop(const std::string& name, Ignored& ignored) {
  return std::erase_if(ignored, [&](const IgnoredThing& thing) { return thing.about == name; }) > 0;
}

Result<Ignored> ReadIgnoredOn(const Machine& machine) {
  return change::ReadIgnored(machine.root(), machine.host().clock.Wall());
}

Result<> ChangeIgnored(const CommandLine& line, const Machine& machine, Ignored& ignored) {
  if (const auto name = line.Value("--end")) {
    if (Drop(*name, ignored)) return {};
    return Error(ErrorKind::kNotFound, fmt::format("{} is not ignored", Printable(*name)));
  }
  const std::string& name = line.operands().front();
  const auto until = TRY(change::ParseUntil(TRY(line.Needed("--until")), machine.host().clock.Wall()));
  TRY(CheckIsManaged(machine, name));
  Drop(name, ignored);
  ignored.push_back({name, until});
  return {};
}

// The list is read while the claim is held.  Otherwise an entry that someone else adds in between would be lost.
Result<Ignored> ReadAndChange(const CommandLine& line, const Machine& machine) {
  const auto claim = TRY(change::Claim::Take(machine.root(), change::kClaimPatience));
  Ignored ignored = TRY(ReadIgnoredOn(machine));
  TRY(ChangeIgnored(line, machine, ignored));
  TRY(change::KeepIgnored(machine.root(), ignored));
  return ignored;
}

std::string IgnoredText(const Ignored& ignored) {
  std::string text;
  for (const IgnoredThing& thing : ignored) {
    text += fmt::format("{} is ignored until {}\n", Printable(thing.about), ToRfc3339(thing.until));
  }
  return text.empty() ? "Nothing is ignored.\n" : text;
}

json::Value IgnoredAnswer(const Ignored& ignored) {
  json::Value answer = json::Value::array();
  for (const IgnoredThing& thing : ignored) {
    answer.push_back({{"about", thing.about}, {"until", ToRfc3339(thing.until)}});
  }
  return answer;
}

Result<> CheckWords(const CommandLine& line) {
  if (line.operands().size() > 1) return Error(ErrorKind::kInvalid, "name one path, unit or user, or os");
  if (line.Has("--end") && (line.Has("--until") || !line.operands().empty())) {
    return Error(ErrorKind::kInvalid, "--end THING accepts no other word and no --until");
  }
  if (line.Has("--until") && line.operands().empty()) {
    return Error(ErrorKind::kInvalid, "name one path, unit or user, or os");
  }
  return {};
}

}  // namespace

Result<ExitStatus> Ignore(const CommandLine& line) {
  const Form form = FormOf(line);
  TRY(CheckWords(line));
  const Machine machine = TRY(Machine::Of(line));
  const bool changes = line.Has("--end") || !line.operands().empty();
  const Ignored ignored = TRY(changes ? ReadAndChange(line, machine) : ReadIgnoredOn(machine));
  if (form == Form::kText) {
    Print(IgnoredText(ignored));
  } else if (form == Form::kName) {
    for (const IgnoredThing& thing : ignored) PrintName(thing.about);
  } else {
    PrintData(IgnoredAnswer(ignored), form);
  }
  return ExitStatus::kSuccess;
}

}  // namespace pintle::ctl
