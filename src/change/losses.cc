// SPDX-License-Identifier: Apache-2.0
#include "change/losses.h"

#include <algorithm>
#include <map>
#include <type_traits>
#include <variant>

#include "host/authorized_keys.h"
#include "json/fields.h"
#include "json/parse.h"

namespace pintle::change {
namespace {

using IsSelected = std::function<bool(const std::string& name)>;

// Returns the steps that a config has for each of the selected things, by the name of the thing.
Result<std::map<std::string, json::Value>> StepsByName(const IsSelected& is_selected,
                                                       const plan::ParsedConfig& config) {
  std::map<std::string, json::Value> steps;
  for (const plan::Step& step : TRY(plan::StepsFor(config, config, {}))) {
    const std::string name = NameOf(step);
    if (is_selected(name)) steps[name].push_back(json::Encode(step));
  }
  return steps;
}

// Returns the selected things on which both configs agree.
Result<Things> ConfiguredAlike(const IsSelected& is_selected, const plan::ParsedConfig& from,
                               const plan::ParsedConfig& to) {
  Things alike;
  const auto before = TRY(StepsByName(is_selected, from));
  for (const auto& [name, steps] : TRY(StepsByName(is_selected, to))) {
    const auto same = before.find(name);
    if (same != before.end() && same->second == steps) alike.insert(name);
  }
  return alike;
}

// Returns whether the step overwrites no keys, because it moves aside the folder of the keys, which belongs to another
// user.
Result<bool> MovesKeysAside(const Root& root, const plan::Step& step) {
  const auto* put = std::get_if<resource::Put<resource::AuthorizedKeys>>(&step);
  if (put == nullptr) return false;
  const auto have = host::ObserveAuthorizedKeys(root, put->key);
  return have && *have && (*have)->belongs_to_other_user;
}

}  // namespace

std::string NameOf(const plan::Step& step) {
  const auto name = [](const auto& put) -> std::string {
    using Key = std::remove_cvref_t<decltype(put.key)>;
    if constexpr (std::is_same_v<Key, std::string>) return put.key;
    if constexpr (std::is_same_v<Key, resource::Deployment::Key>) return std::string(kOs);
    return "";
  };
  return std::visit(name, step);
}

Result<Things> LeftAlone(const Ignored& ignored, const plan::ParsedConfig& from, const plan::ParsedConfig& to) {
  if (ignored.empty()) return Things();
  return ConfiguredAlike([&](const std::string& name) { return IgnoredUntil(ignored, name).has_value(); }, from, to);
}

Result<Things> ConfiguredDifferently(std::span<const Finding> findings, const plan::ParsedConfig& from,
                                     const plan::ParsedConfig& to) {
  Things things;
  for (const Finding& finding : findings) things.insert(finding.about);
  if (things.empty()) return things;
  for (const std::string& alike :
       TRY(ConfiguredAlike([&](const std::string& name) { return things.contains(name); }, from, to)))
    things.erase(alike);
  return things;
}

Things UnreadableKeys(const Root& root, const plan::ParsedConfig& from, const plan::ParsedConfig& to) {
  Things unreadable;
  const auto& before = from.ignition.passwd.users;
  for (const ignition::PasswdUser& user : to.ignition.passwd.users) {
    const bool is_same = std::any_of(before.begin(), before.end(),
                                     [&](const ignition::PasswdUser& each) { return json::Equal(each, user); });
    if (is_same && !host::ObserveAuthorizedKeys(root, user.name)) unreadable.insert(user.name);
  }
  return unreadable;
}

Result<std::vector<Finding>> FindingsThatWouldBeLost(const host::Host& host, std::vector<Finding> findings,
                                                     const plan::ParsedConfig& to, const Things& left_alone) {
  std::erase_if(findings, [&](const Finding& finding) { return left_alone.contains(finding.about); });
  if (findings.empty()) return findings;
  Things wanted;
  Things lost;
  for (const plan::Step& step : TRY(plan::StepsFor(to, to, {}))) {
    wanted.insert(NameOf(step));
    if (TRY(FindingsIn(host, {&step, 1})).empty() || TRY(MovesKeysAside(host.root, step))) continue;
    lost.insert(NameOf(step));
  }
  std::erase_if(findings, [&](const Finding& finding) {
    return wanted.contains(finding.about) && !lost.contains(finding.about);
  });
  return findings;
}

}  // namespace pintle::change
