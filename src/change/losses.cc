// SPDX-License-Identifier: Apache-2.0
#include "change/losses.h"

#include <map>
#include <type_traits>
#include <variant>

#include "json/parse.h"

namespace pintle::change {
namespace {

// All that a config says of each of the things that are ignored.
Result<std::map<std::string, json::Value>> SaidOf(const Ignored& ignored, const plan::ParsedConfig& config) {
  std::map<std::string, json::Value> said;
  for (const plan::Step& step : TRY(plan::StepsFor(config, config, {}))) {
    const std::string name = NameOf(step);
    if (IgnoredUntil(ignored, name)) said[name].push_back(json::Encode(step));
  }
  return said;
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
  Things left_alone;
  if (ignored.empty()) return left_alone;
  const auto before = TRY(SaidOf(ignored, from));
  for (const auto& [name, said] : TRY(SaidOf(ignored, to))) {
    const auto same = before.find(name);
    if (same != before.end() && same->second == said) left_alone.insert(name);
  }
  return left_alone;
}

Result<std::vector<Finding>> FindingsThatWouldBeLost(const host::Host& host, std::vector<Finding> findings,
                                                     const plan::ParsedConfig& to, const Things& left_alone) {
  std::erase_if(findings, [&](const Finding& finding) { return left_alone.contains(finding.about); });
  if (findings.empty()) return findings;
  Things wanted;
  Things lost;
  for (const plan::Step& step : TRY(plan::StepsFor(to, to, {}))) {
    wanted.insert(NameOf(step));
    if (!TRY(FindingsIn(host, {&step, 1})).empty()) lost.insert(NameOf(step));
  }
  std::erase_if(findings, [&](const Finding& finding) {
    return wanted.contains(finding.about) && !lost.contains(finding.about);
  });
  return findings;
}

}  // namespace pintle::change
