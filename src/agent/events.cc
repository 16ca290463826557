// SPDX-License-Identifier: Apache-2.0
#include "agent/events.h"

#include <fmt/core.h>

#include <string_view>

namespace pintle::agent {

std::pair<const char*, std::string> EventFor(const plan::Action& action) {
  const std::string_view type = action.what.type;
  const std::string_view service =
      type == plan::action_type::kSpecial ? std::string_view("crio.service") : plan::ServiceOf(action.what);
  const auto text = [&](const char* was) {
    return fmt::format("Config changes do not require reboot. Service {} was {}.", service, was);
  };
  if (type == plan::action_type::kNone) return {"SkipReboot", "Config changes do not require reboot."};
  if (type == plan::action_type::kRestart) return {"ServiceRestart", text("restarted")};
  if (type == plan::action_type::kReload || type == plan::action_type::kSpecial) {
    return {"ServiceReload", text("reloaded")};
  }
  return {nullptr, ""};
}

std::string PatienceText(std::chrono::nanoseconds patience) {
  const auto text = [](long long count, const char* unit) {
    return fmt::format("{} {}{}", count, unit, count == 1 ? "" : "s");
  };
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience).count();
  if (seconds >= 3600 && seconds % 3600 == 0) return text(seconds / 3600, "hour");
  if (seconds >= 60 && seconds % 60 == 0) return text(seconds / 60, "minute");
  return text(seconds, "second");
}

}  // namespace pintle::agent
