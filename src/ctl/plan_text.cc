// SPDX-License-Identifier: Apache-2.0
#include "ctl/plan_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "change/contents_text.h"
#include "change/masking.h"
#include "change/text_diff.h"
#include "ignition/config.h"
#include "json/fields.h"
#include "machineconfig/contents.h"
#include "machineconfig/validate.h"
#include "plan/irreconcilable_report.h"
#include "plan/kernel_arguments.h"

namespace pintle::ctl {
namespace {

using change::ContentsText;
using change::kMasked;
using change::LinesOf;
using change::MaskedLine;
using change::PrivateLines;
using change::TextDiff;
using change::WithoutDataUrls;
using json::Value;
using machineconfig::ParsedConfig;
using plan::FileChange;
using plan::Plan;
using plan::UnitChange;

// The next functions build the JSON answer.

Value FlagsOf(const plan::Difference& difference) {
  return {
      {"osUpdate", difference.os_image},
      {"kargs", difference.kernel_arguments},
      {"fips", difference.fips},
      {"passwd", difference.passwd},
      {"files", difference.files},
      {"units", difference.units},
      {"kernelType", difference.kernel_type},
      {"extensions", difference.extensions},
      {"oclEnabled", difference.ocl_enabled},
      {"revertFromOCL", difference.revert_from_ocl},
      {"isEmpty", difference.IsEmpty()},
      {"osChangesString", difference.OsChanges()},
  };
}

Value PathsOf(const std::vector<FileChange>& changes) {
  Value paths = Value::array();
  for (const FileChange& change : changes) paths.push_back(change.path);
  return paths;
}

Value UnitsOf(const std::vector<UnitChange>& changes) {
  Value units = {{"added", Value::array()}, {"removed", Value::array()}, {"updated", Value::array()}};
  for (const UnitChange& change : changes) {
    const char* list = change.from == nullptr ? "added" : change.to == nullptr ? "removed" : "updated";
    units[list].push_back(change.name);
  }
  return units;
}

Value ActionsOf(const std::vector<plan::Action>& actions) {
  Value list = Value::array();
  for (const plan::Action& action : actions) list.push_back(json::Encode(action.what));
  return list;
}

Value ReasonsOf(const std::vector<plan::Action>& actions) {
  Value list = Value::array();
  for (const plan::Action& action : actions) {
    Value entry = json::Encode(action.what);
    entry["reasons"] = json::Encode(action.reasons);
    list.push_back(std::move(entry));
  }
  return list;
}

// Encodes the changes as the node's MachineConfigNode has them.
Value ReportOf(const std::vector<plan::IrreconcilableChange>& changes) {
  if (changes.empty()) return nullptr;
  Value list = Value::array();
  for (const auto& change : changes) list.push_back({{"fieldPath", change.field_path}, {"diff", change.diff}});
  return list;
}

Value ObstaclesOf(const machineconfig::Verdict& verdict) {
  Value list = Value::array();
  for (const auto& obstacle : verdict.obstacles) list.push_back({{"text", obstacle.text}, {"advice", obstacle.advice}});
  return list;
}

void AddDrain(const plan::Drain& drain, const std::string& key, Value& answer) {
  answer[key] = drain.is_needed;
  if (drain.error) answer[key + "Error"] = *drain.error;
}

std::vector<std::string> ListOrEmpty(const std::optional<std::vector<std::string>>& texts) {
  return texts ? *texts : std::vector<std::string>();
}

// The next functions build the text for people.

std::string ModeText(const ignition::File& file) { return fmt::format("{:04o}", file.mode.value_or(0644)); }

std::string OwnerText(const ignition::NodeOwner& owner) {
  if (owner.name && !owner.name->empty()) return *owner.name;
  return std::to_string(owner.id.value_or(0));
}

std::string AttributesOf(const ignition::File& file) {
  return fmt::format("{} {}:{}", ModeText(file), OwnerText(file.user), OwnerText(file.group));
}

// When the text of all changes has reached this length, further files and units are only named.
constexpr std::size_t kTextLimit = 64 << 20;  // In bytes.
constexpr const char* kUnprinted = " differs (not printed: the text is too long)\n";

// The contents of a file on the node, or the reason why they cannot be decoded.
struct Contents {
  std::string bytes;
  std::string problem;
};

Contents ContentsOf(const ignition::File* file) {
  if (file == nullptr) return {};
  auto bytes = machineconfig::ContentsOf(file->contents, machineconfig::kParsedContentsLimit);
  if (!bytes) return {.bytes = "", .problem = bytes.error().message()};
  return {.bytes = *std::move(bytes), .problem = ""};
}

// Returns the first two lines of a diff.  `from` and `to` are the old and the new attributes; they are empty for a file
// or unit that does not exist.
std::string Header(std::string_view name, const std::string& from, const std::string& to) {
  const std::string shown = Printable(name);
  return fmt::format("--- {}\n+++ {}\n", from.empty() ? "/dev/null" : shown + "\t" + from,
                     to.empty() ? "/dev/null" : shown + "\t" + to);
}

std::string BodyOf(const FileChange& file, const Contents& from, const Contents& to, PrivateLines private_lines) {
  if (!from.problem.empty()) return fmt::format("the old contents cannot be printed: {}\n", MaskedLine(from.problem));
  if (!to.problem.empty()) return fmt::format("the new contents cannot be printed: {}\n", MaskedLine(to.problem));
  const auto is_private = [](const ignition::File* version) {
    return version != nullptr && change::IsPrivate(*version);
  };
  if (private_lines == PrivateLines::kLeftOut && (is_private(file.from) || is_private(file.to))) {
    return change::PrivateText(from.bytes, to.bytes);
  }
  return ContentsText(file.path, from.bytes, to.bytes);
}

std::string FileText(const FileChange& change, PrivateLines private_lines) {
  std::string text = Header(change.path, change.from == nullptr ? "" : AttributesOf(*change.from),
                            change.to == nullptr ? "" : AttributesOf(*change.to));
  const std::string body = BodyOf(change, ContentsOf(change.from), ContentsOf(change.to), private_lines);
  if (!body.empty()) return text + body;
  const bool same_attributes =
      change.from != nullptr && change.to != nullptr && AttributesOf(*change.from) == AttributesOf(*change.to);
  return text + (same_attributes ? "the contents are the same, and only encoded in another way\n" : "");
}

std::string UnitAttributes(const ignition::Unit& unit) {
  std::string text;
  if (unit.enabled) text += *unit.enabled ? "enabled" : "disabled";
  if (unit.mask.value_or(false)) text += text.empty() ? "masked" : ", masked";
  return text.empty() ? "preset" : text;
}

std::map<std::string, std::string> DropinsOf(const ignition::Unit* unit) {
  std::map<std::string, std::string> dropins;
  if (unit == nullptr) return dropins;
  for (const ignition::Dropin& dropin : unit->dropins) dropins[dropin.name] = dropin.contents.value_or("");
  return dropins;
}

std::string UnitText(const UnitChange& change) {
  std::string text = Header(change.name, change.from == nullptr ? "" : UnitAttributes(*change.from),
                            change.to == nullptr ? "" : UnitAttributes(*change.to));
  const auto contents = [](const ignition::Unit* unit) { return unit == nullptr ? "" : unit->contents.value_or(""); };
  text += TextDiff(contents(change.from), contents(change.to));
  const auto before = DropinsOf(change.from);
  const auto after = DropinsOf(change.to);
  std::set<std::string> names;
  for (const auto& [name, dropin] : before) names.insert(name);
  for (const auto& [name, dropin] : after) names.insert(name);
  for (const std::string& name : names) {
    const auto from = before.find(name);
    const auto to = after.find(name);
    const std::string diff = TextDiff(from == before.end() ? "" : from->second, to == after.end() ? "" : to->second);
    if (diff.empty() && (from == before.end()) == (to == after.end())) continue;
    text +=
        Header(change.name + ".d/" + name, from == before.end() ? "" : "drop-in", to == after.end() ? "" : "drop-in");
    text += diff;
  }
  return text;
}

void AddListChanges(std::string_view title, const std::vector<std::string>& from, const std::vector<std::string>& to,
                    std::string& text) {
  if (from == to) return;
  text += fmt::format("{}\n", title);
  const auto add_missing = [&](const auto& all, const auto& others, char mark) {
    const std::set<std::string_view> known(others.begin(), others.end());
    for (const std::string& element : all) {
      if (!known.contains(element)) text += mark + Printable(MaskedLine(element)) + "\n";
    }
  };
  add_missing(from, to, '-');
  add_missing(to, from, '+');
}

void AddValueChange(std::string_view title, std::string_view from, std::string_view to, std::string& text) {
  if (from != to) text += fmt::format("{}\n-{}\n+{}\n", title, Printable(from), Printable(to));
}

using UsersByName = std::map<std::string_view, const ignition::PasswdUser*>;

UsersByName UsersOf(const ignition::Passwd& passwd) {
  UsersByName users;
  for (const ignition::PasswdUser& user : passwd.users) users.emplace(user.name, &user);
  return users;
}

void AddUserChanges(const ignition::Passwd& from, const ignition::Passwd& to, std::string& text) {
  const UsersByName before = UsersOf(from);
  const UsersByName after = UsersOf(to);
  UsersByName all = before;
  all.insert(after.begin(), after.end());
  static const ignition::PasswdUser kEmptyUser;
  const auto find = [](const UsersByName& users, std::string_view name) -> const ignition::PasswdUser& {
    const auto user = users.find(name);
    return user == users.end() ? kEmptyUser : *user->second;
  };
  for (const auto& [name, user] : all) {
    const ignition::PasswdUser& old_user = find(before, name);
    const ignition::PasswdUser& new_user = find(after, name);
    AddListChanges("SSH keys of " + Printable(name), old_user.ssh_authorized_keys, new_user.ssh_authorized_keys, text);
    // Hashes are masked, since passwords can be guessed from them.
    if (old_user.password_hash != new_user.password_hash) {
      text += fmt::format("password hash of {}\n-{}\n+{}\n", Printable(name), old_user.password_hash ? kMasked : "none",
                          new_user.password_hash ? kMasked : "none");
    }
  }
}

// Returns whether AddUserChanges() describes all differences of users.  That function describes only keys and
// passwords, but a user may have other fields, or only a name.
bool AreAllUserChangesShown(const ignition::Passwd& from, const ignition::Passwd& to) {
  const UsersByName before = UsersOf(from);
  const UsersByName after = UsersOf(to);
  const auto is_shown = [](const UsersByName& users, const UsersByName& others) {
    return std::all_of(users.begin(), users.end(), [&](const auto& user) {
      const auto other = others.find(user.first);
      const bool has_any = !user.second->ssh_authorized_keys.empty() || user.second->password_hash;
      if (other == others.end() && !has_any) return false;
      ignition::PasswdUser expected = other == others.end() ? ignition::PasswdUser() : *other->second;
      expected.name = user.first;
      expected.ssh_authorized_keys = user.second->ssh_authorized_keys;
      expected.password_hash = user.second->password_hash;
      return json::Equal(expected, *user.second);
    });
  };
  return is_shown(before, after) && is_shown(after, before);
}

// Adds the names of the changed parts that the functions above do not describe.
void AddUndescribedChanges(const ignition::Config& from, const ignition::Config& to, std::string& text) {
  json::Compare(from, to, [&](const json::Path& path) {
    const std::string place = path.ToString();
    if (place == "$.passwd.users" && AreAllUserChangesShown(from.passwd, to.passwd)) return;
    constexpr auto kShown =
        std::to_array<std::string_view>({"$.storage.files", "$.systemd.units", "$.storage.disks",
                                         "$.storage.filesystems", "$.storage.luks", "$.storage.raid"});
    if (std::find(kShown.begin(), kShown.end(), place) == kShown.end()) text += fmt::format("{} differs\n", place);
  });
}

// Returns the diff of a change that only takes effect on new machines, with secrets masked.  Such a diff may contain
// keys, and programs that fetch keys.
std::string MaskedDiff(const plan::IrreconcilableChange& change) {
  const bool is_secret = change.field_path.find("keyFile") != std::string::npos;
  std::string text;
  for (const std::string_view line : LinesOf(change.diff)) {
    if (is_secret && line.size() > 1) {
      text += fmt::format("{} {}\n", line[0], kMasked);
    } else {
      text += MaskedLine(WithoutDataUrls(line)) + "\n";
    }
  }
  return text;
}

std::string ActionText(const plan::Action& action) {
  const std::string_view service = plan::ServiceOf(action.what);
  std::string text = fmt::format("  {}{}{}\n", action.what.type, service.empty() ? "" : " ", service);
  for (const std::string& reason : action.reasons) text += fmt::format("    {}\n", Printable(reason));
  return text;
}

std::string DrainText(const plan::Drain& drain) {
  if (drain.error) return fmt::format("The update would fail: {}\n", Printable(*drain.error));
  if (drain.is_needed) return fmt::format("The node is drained: {}\n", Printable(drain.reason));
  return "The node is not drained.\n";
}

}  // namespace

std::string UnreconcilableText(const api::MachineConfig& from, const api::MachineConfig& to, std::string_view why) {
  return fmt::format("configs {}, {} are not reconcilable: {}", from.metadata.name, to.metadata.name, why);
}

Value AnswerOf(const Plan& plan, const ParsedConfig& from, const ParsedConfig& to) {
  Value answer = {
      {"diff", FlagsOf(plan.difference)},
      {"diffFiles", PathsOf(plan.difference.changed_files)},
      {"diffUnits", UnitsOf(plan.difference.changed_units)},
      {"firstBootActions", {plan.first_boot_action}},
      {"nodeDisruptionActions", ActionsOf(plan.actions)},
      {"rpmOstreeKargs", json::Encode(plan::RpmOstreeArguments(ListOrEmpty(from.object.spec.kernel_arguments),
                                                               ListOrEmpty(to.object.spec.kernel_arguments)))},
      {"requiresRebuild", plan::NeedsRebuild(from.object.spec, to.object.spec)},
      {"irreconcilableReport", ReportOf(plan::IrreconcilableChanges(from.ignition, to.ignition))},
      {"actions", ReasonsOf(plan.actions)},
      {"obstacles", ObstaclesOf(plan.verdict)},
      {"reboot", plan.Reboots()},
  };
  AddDrain(plan.drain, "drain", answer);
  AddDrain(plan.first_boot_drain, "firstBootDrain", answer);
  if (!plan.drain.reason.empty()) answer["drainReason"] = plan.drain.reason;
  if (!plan.IsReconcilable()) {
    answer["reconcilableError"] = UnreconcilableText(from.object, to.object, plan.verdict.text);
  }
  return answer;
}

std::string ChangesText(const Plan& plan, const ParsedConfig& from, const ParsedConfig& to,
                        PrivateLines private_lines) {
  std::string text;
  for (const FileChange& change : plan.difference.changed_files) {
    text += text.size() < kTextLimit ? FileText(change, private_lines) : Printable(change.path) + kUnprinted;
  }
  for (const UnitChange& change : plan.difference.changed_units) {
    text += text.size() < kTextLimit ? UnitText(change) : Printable(change.name) + kUnprinted;
  }
  AddUserChanges(from.ignition.passwd, to.ignition.passwd, text);
  const api::MachineConfigSpec& before = from.object.spec;
  const api::MachineConfigSpec& after = to.object.spec;
  AddListChanges("kernel arguments", ListOrEmpty(before.kernel_arguments), ListOrEmpty(after.kernel_arguments), text);
  AddListChanges("extensions", ListOrEmpty(before.extensions), ListOrEmpty(after.extensions), text);
  AddValueChange("kernel type", machineconfig::CanonicalKernelType(before.kernel_type),
                 machineconfig::CanonicalKernelType(after.kernel_type), text);
  AddValueChange("OS image", before.os_image_url, after.os_image_url, text);
  AddValueChange("OS extensions image", before.base_os_extensions_container_image,
                 after.base_os_extensions_container_image, text);
  AddValueChange("FIPS", before.fips ? "on" : "off", after.fips ? "on" : "off", text);
  for (const auto& change : plan::IrreconcilableChanges(from.ignition, to.ignition)) {
    text += fmt::format("{} (only new machines follow)\n", change.field_path);
    const std::string shown = MaskedDiff(change);
    for (const std::string_view line : LinesOf(shown)) text += Printable(line) + "\n";
  }
  AddUndescribedChanges(from.ignition, to.ignition, text);
  return text;
}

std::string ConsequencesText(const Plan& plan, Drains drains) {
  std::string text;
  if (!plan.IsReconcilable()) {
    text += fmt::format("A node cannot change to this config: {}\n", Printable(plan.verdict.text));
    for (const auto& obstacle : plan.verdict.obstacles) {
      text += fmt::format("  {}\n    {}\n", Printable(obstacle.text), Printable(obstacle.advice));
    }
  }
  text += "Actions:\n";
  for (const plan::Action& action : plan.actions) text += ActionText(action);
  if (plan.actions.empty()) text += "  none\n";
  if (drains == Drains::kReported) text += DrainText(plan.drain);
  text += plan.Reboots() ? "The node reboots.\n" : "The node does not reboot.\n";
  return text;
}

Value ActionsAnswer(const Plan& plan) { return ReasonsOf(plan.actions); }

bool Differ(const ParsedConfig& from, const ParsedConfig& to) {
  const api::MachineConfigSpec& before = from.object.spec;
  const api::MachineConfigSpec& after = to.object.spec;
  return !json::Equal(from.ignition, to.ignition) || before.os_image_url != after.os_image_url ||
         before.base_os_extensions_container_image != after.base_os_extensions_container_image ||
         ListOrEmpty(before.kernel_arguments) != ListOrEmpty(after.kernel_arguments) ||
         ListOrEmpty(before.extensions) != ListOrEmpty(after.extensions) || before.fips != after.fips ||
         machineconfig::CanonicalKernelType(before.kernel_type) !=
             machineconfig::CanonicalKernelType(after.kernel_type);
}

}  // namespace pintle::ctl
