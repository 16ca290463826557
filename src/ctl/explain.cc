// SPDX-License-Identifier: Apache-2.0
#include "ctl/explain.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/output.h"
#include "base/printable.h"
#include "change/current_config.h"
#include "change/findings.h"
#include "change/text_diff.h"
#include "ctl/drift.h"
#include "ctl/named_thing.h"
#include "ctl/plan_text.h"
#include "ctl/policy.h"
#include "ctl/verbs.h"
#include "host/accounts.h"
#include "host/authorized_keys.h"
#include "host/files/files.h"
#include "host/password_hash.h"
#include "json/fields.h"
#include "json/parse.h"

namespace pintle::ctl {
namespace {

using FileState = resource::FileEntry::State;

// The answer that `-o json` prints.  Its `wanted` and `present` have no contents of files, no SSH keys and no hashes of
// passwords.  The `difference` of a finding has lines of files; secrets in these lines are masked.
struct Explanation {
  std::string about;
  std::string config;
  std::vector<std::string> wanted;  // Empty if the config does not manage the thing.
  std::vector<std::string> present;
  std::vector<std::string> written_by;
  std::vector<change::ReportedThing> findings;
  json::Value actions = json::Value::array();

  static constexpr auto kFields = json::FieldList{
      json::Required{"about", &Explanation::about},          json::Required{"config", &Explanation::config},
      json::Required{"wanted", &Explanation::wanted},        json::Required{"present", &Explanation::present},
      json::Required{"writtenBy", &Explanation::written_by}, json::Required{"findings", &Explanation::findings},
      json::Required{"actions", &Explanation::actions},
  };
};

std::string NameOrId(const resource::UserOrGroup& owner) {
  return owner.name.empty() ? std::to_string(owner.id) : owner.name;
}

std::string StateText(const FileState& state) {
  if (state.kind == resource::EntryKind::kLink) return "a link to " + state.target;
  return fmt::format("a {}, {:04o} {}:{}{}", state.kind == resource::EntryKind::kFile ? "file" : "directory",
                     state.permissions, NameOrId(state.user), NameOrId(state.group),
                     state.sha256.empty() ? "" : ", SHA-256 " + state.sha256.substr(0, 12));
}

std::string KeysText(const std::optional<resource::AuthorizedKeys::State>& keys) {
  const std::size_t count = keys ? keys->keys.size() : 0;
  return fmt::format("{} SSH key{}", count == 0 ? "no" : std::to_string(count), count == 1 ? "" : "s");
}

std::string PasswordText(const std::optional<resource::PasswordHash::State>& password) {
  const bool is_locked = !password || password->hash.starts_with('*') || password->hash.starts_with('!');
  if (is_locked) return "no password";
  return password->hash.empty() ? "an empty password, so that anyone can log in without one" : "a password";
}

// Describes what the config wants and what the machine has, for all steps about one thing.
class Describer {
 public:
  Describer(const host::Host& host, Explanation& explanation) : host_(host), explanation_(explanation) {}

  Result<> operator()(const resource::Put<resource::FileEntry>& put) const {
    AddWanted(put.key, put.want ? StateText(*put.want) : "nothing");
    return AddPathState(put.key);
  }
  Result<> operator()(const resource::Put<resource::UnitState>& put) const {
    AddWanted(put.key, json::Encode(put.want->enablement).text());
    return AddUnitState(put.key);
  }
  Result<> operator()(const resource::Put<resource::AuthorizedKeys>& put) const {
    AddWanted(put.key, KeysText(put.want));
    return {};  // The step for the password also describes the keys that the user has.
  }
  Result<> operator()(const resource::Put<resource::PasswordHash>& put) const {
    AddWanted(put.key, PasswordText(put.want));
    return AddUserState(put.key);
  }
  Result<> operator()(const resource::Put<resource::UnitLinks>&) const { return {}; }
  Result<> operator()(const resource::Put<resource::Deployment>& put) const {
    const auto& want = *put.want;
    if (!want.image.empty()) AddWanted("image", want.image);
    if (!want.kernel_arguments.empty())
      AddWanted("kernel arguments", fmt::format("{}", fmt::join(want.kernel_arguments, " ")));
    if (!want.extensions.empty()) AddWanted("extensions", fmt::format("{}", fmt::join(want.extensions, ", ")));
    AddWanted("kernel", want.kernel_type);
    return AddOsState();
  }

  // Describes what the machine has, for a thing that the config does not manage.
  Result<> AddState(const NamedThing& thing) const {
    switch (thing.kind()) {
      case ThingKind::kPath:
        return AddPathState(thing.name());
      case ThingKind::kUnit:
        return AddUnitState(thing.name());
      case ThingKind::kUser:
        return AddUserState(thing.name());
      case ThingKind::kOs:
        return AddOsState();
    }
    return {};
  }

 private:
  void AddWanted(const std::string& subject, const std::string& text) const {
    explanation_.wanted.push_back(fmt::format("{}: {}", subject, text));
  }
  void AddPresent(const std::string& subject, const std::string& text) const {
    explanation_.present.push_back(fmt::format("{}: {}", subject, text));
  }

  Result<> AddPathState(const std::string& path) const {
    // If the path cannot be observed, as with a device, the error is the answer.
    const auto state = host::Observe(host_.root, path);
    AddPresent(path, !state ? state.error().message() : *state ? StateText(**state) : "nothing");
    return {};
  }
  Result<> AddUnitState(const std::string& unit) const {
    const host::UnitStatus status = TRY(host_.systemd.Observe(unit));
    std::vector<std::string> states;
    for (const std::string& state : {status.file_state, status.load_state, status.active_state}) {
      if (!state.empty()) states.push_back(state);
    }
    AddPresent(unit, states.empty() ? "not found" : fmt::format("{}", fmt::join(states, ", ")));
    return {};
  }
  Result<> AddUserState(const std::string& user) const {
    if (!TRY(host::FindUser(host_.root, user))) {
      AddPresent(
          user,
          "there is no such user; write a path with a leading slash, and a unit with its suffix, such as .service");
      return {};
    }
    AddPresent(user, KeysText(TRY(host::ObserveAuthorizedKeys(host_.root, user))));
    AddPresent(user, PasswordText(TRY(host::ObservePasswordHash(host_.root, user))));
    return {};
  }

  Result<> AddOsState() const {
    if (host_.deployments == nullptr) {
      AddPresent("image", "none: this machine does not boot from OSTree");
      return {};
    }
    const auto state = TRY(host_.deployments->Observe());
    if (!state.booted) return {};
    AddPresent("image", host::NameOf(*state.booted));
    AddPresent("kernel arguments", fmt::format("{}", fmt::join(state.booted->kernel_arguments, " ")));
    if (state.pending) AddPresent("with the next boot", host::NameOf(*state.pending));
    return {};
  }

  const host::Host& host_;
  Explanation& explanation_;
};

std::string ListText(std::string_view title, const std::vector<std::string>& lines) {
  std::string text = fmt::format("{}\n", title);
  for (const std::string& line : lines) text += fmt::format("  {}\n", Printable(line));
  return text;
}

std::string WantedText(const Explanation& explanation) {
  if (explanation.config == change::kNoConfig) return "This machine has no config.\n";
  const std::string config = Printable(explanation.config);
  if (explanation.wanted.empty())
    return fmt::format("{} has no setting for {}.\n", config, Printable(explanation.about));
  return ListText(fmt::format("{} wants:", config), explanation.wanted);
}

std::string ExplanationText(const Explanation& explanation, const plan::Plan& plan) {
  std::string text = WantedText(explanation);
  text += ListText("This machine has:", explanation.present);
  if (!explanation.written_by.empty()) text += Printable(WritersText(explanation.written_by)) + "\n";
  for (const change::ReportedThing& thing : explanation.findings)
    text += ListText("Not as it should be:", thing.problems) + DifferenceText(thing);
  if (!explanation.wanted.empty()) {
    text += fmt::format("\nIf a config changes {}:\n", Printable(explanation.about));
    text += ConsequencesText(plan, Drains::kNone);
  }
  return text;
}

}  // namespace

Result<ExitStatus> Explain(const CommandLine& line) {
  const Form form = FormOf(line);
  if (line.operands().size() != 1) return Error(ErrorKind::kInvalid, "name one path, unit or user, or os");
  const Machine machine = TRY(Machine::Of(line));
  const auto policy = TRY(PolicyFor(line, machine));
  const host::Host host = machine.host();
  const change::CurrentConfig config = TRY(change::ReadCurrentConfig(machine.root()));
  const NamedThing thing(line.operands().front());

  std::vector<plan::Step> steps = TRY(plan::StepsFor(config, config, {}));
  std::erase_if(steps, [&](const plan::Step& step) { return !thing.Covers(step); });
  Explanation explanation;
  explanation.about = thing.name();
  explanation.config = config.object.metadata.name;
  const Describer describer(host, explanation);
  for (const plan::Step& step : steps) TRY(std::visit(describer, step));
  if (steps.empty()) TRY(describer.AddState(thing));
  const auto writers = config.writers.find(thing.name());
  if (writers != config.writers.end()) explanation.written_by = writers->second;
  const auto ignored = TRY(change::ReadIgnored(machine.root(), host.clock.Wall()));
  explanation.findings = TRY(change::VerifyReportOf(machine.root(), config, TRY(change::FindingsIn(host, steps)),
                                                    ignored, machine.RootOptionText(), PrivateLinesFor(line)))
                             .things;
  const PlanForThings change = MakePlanForThings({&thing, 1}, config, policy);
  explanation.actions = ActionsAnswer(change.plan);
  if (form == Form::kText) {
    Print(ExplanationText(explanation, change.plan));
  } else {
    PrintData(json::Encode(explanation), form);
  }
  return explanation.findings.empty() ? ExitStatus::kSuccess : ExitStatus::kDiffers;
}

}  // namespace pintle::ctl
