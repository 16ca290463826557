// SPDX-License-Identifier: Apache-2.0
#include "generated/node_sizing.h"

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace pintle::generated {
namespace {

constexpr const char* kPath = "/etc/node-sizing-enabled.env";

struct Amount {
  std::string_view resource;
  std::string_view variable;
  std::string_view by_default;
};

constexpr Amount kAmounts[] = {
    {"memory", "SYSTEM_RESERVED_MEMORY", "1Gi"},
    {"cpu", "SYSTEM_RESERVED_CPU", "500m"},
    {"ephemeral-storage", "SYSTEM_RESERVED_ES", "1Gi"},
};

}  // namespace

std::optional<NewFile> TakeNodeSizing(std::optional<bool> auto_sizing, TextsByName& reserved) {
  std::string lines;
  bool has_amounts = false;
  for (const Amount& amount : kAmounts) {
    const auto given = reserved.extract(std::string(amount.resource));
    has_amounts = has_amounts || given;
    const std::string_view value =
        given && !given.mapped().empty() ? std::string_view(given.mapped()) : amount.by_default;
    lines += fmt::format("{}={}\n", amount.variable, value);
  }
  if (!has_amounts && !auto_sizing) return {};
  const bool is_enabled = !has_amounts && *auto_sizing;
  return NewFile{.path = kPath, .contents = fmt::format("NODE_SIZING_ENABLED={}\n", is_enabled) + lines};
}

}  // namespace pintle::generated
