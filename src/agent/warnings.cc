// SPDX-License-Identifier: Apache-2.0
#include "agent/warnings.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "agent/events.h"
#include "base/log.h"
#include "base/printable.h"

namespace pintle::agent {
namespace {

bool Has(const std::vector<std::string>& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

}  // namespace

bool Warnings::Replace(Origin origin, std::vector<std::string> texts) {
  std::vector<std::string>& now = texts_.at(static_cast<std::size_t>(origin));
  if (now == texts) return false;
  const std::vector<std::string> before = std::exchange(now, std::move(texts));
  for (const std::string& text : now) {
    if (!Has(before, text)) log::Warning(text, kTrouble);
  }
  for (const std::string& text : before) {
    if (!Has(now, text)) log::Info(fmt::format("this warning no longer holds: {}", text));
  }
  return true;
}

std::vector<std::string> Warnings::All() const {
  std::vector<std::string> all;
  for (const auto& texts : texts_) all.insert(all.end(), texts.begin(), texts.end());
  return all;
}

std::vector<std::string> WarningsOf(const change::Ignored& ignored) {
  std::vector<std::string> texts;
  for (const change::IgnoredThing& thing : ignored) {
    texts.push_back(fmt::format("{} is ignored until {}; `pintle ignore --end {}` ends that", thing.about,
                                ToRfc3339(thing.until), ShellOperand(thing.about)));
  }
  return texts;
}

}  // namespace pintle::agent
