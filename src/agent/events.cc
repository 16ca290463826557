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

}  // namespace pintle::agent
