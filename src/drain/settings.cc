// SPDX-License-Identifier: Apache-2.0
#include "drain/settings.h"

#include <fmt/core.h>

#include <array>
#include <string_view>
#include <utility>

#include "base/time_span.h"

namespace pintle::drain {
namespace {

constexpr std::array<std::pair<std::string_view, Settings::Time Settings::*>, 6> kAnnotations = {{
    {"pintle.io/drain-timeout", &Settings::timeout},
    {"pintle.io/drain-attempt", &Settings::attempt},
    {"pintle.io/drain-pause", &Settings::pause},
    {"pintle.io/drain-slow-after", &Settings::slow_after},
    {"pintle.io/drain-slow-pause", &Settings::slow_pause},
    {"pintle.io/drain-eviction-retry", &Settings::eviction_retry},
}};

Result<Settings::Time> Read(const std::string& text) {
  const Settings::Time time = TRY(ParseTimeSpan(text));
  if (time < std::chrono::seconds(1)) return Error(ErrorKind::kInvalid, "must be a second or longer");
  return time;
}

}  // namespace

PoolSettings SettingsOf(const api::MachineConfigPool& pool) {
  PoolSettings read;
  for (const auto& [annotation, member] : kAnnotations) {
    const std::string* text = api::Find(pool.metadata.annotations, annotation);
    if (text == nullptr) continue;
    auto time = Read(*text);
    if (time) {
      read.settings.*member = *time;
    } else {
      read.problems.push_back(std::move(time).error().While(
          fmt::format("annotation {}={} of pool {}", annotation, *text, pool.metadata.name)));
    }
  }
  return read;
}

}  // namespace pintle::drain
