// SPDX-License-Identifier: Apache-2.0
#include "plan/drain.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "ignition/data_url.h"
#include "plan/registries.h"

namespace pintle::plan {
namespace {

// Returns the contents of registries.conf in a config, or "" if the config does not have the file.  As in the Machine
// Config Operator, compressed contents are not decompressed.
Result<std::string> RegistriesOf(const ignition::Config& config) {
  for (const ignition::File& file : config.storage.files) {
    if (file.path != kRegistriesPath || !file.contents.source) continue;
    std::string problem = ignition::DataUrlProblem(*file.contents.source);
    if (!problem.empty()) return Error(ErrorKind::kInvalid, std::move(problem));
    return ignition::DecodeDataUrl(*file.contents.source);
  }
  return std::string();
}

Result<std::string> HarmBetween(const ParsedConfig& from, const ParsedConfig& to) {
  constexpr const char* kDoing = "failed decoding Data URL scheme string";
  const std::string before = TRY(RegistriesOf(from.ignition), kDoing);
  const auto after = RegistriesOf(to.ignition);
  // The operator's text has no colon here.
  if (!after) return Error(ErrorKind::kInvalid, fmt::format("{} {}", kDoing, after.error().message()));
  return HarmInRegistries(before, *after);
}

Drain DrainUnlessHarmless(const ParsedConfig& from, const ParsedConfig& to) {
  auto harm = HarmBetween(from, to);
  if (!harm) return {.is_needed = false, .reason = "", .error = harm.error().message()};
  if ((*harm).empty()) return {};
  return {.is_needed = true, .reason = fmt::format("{}: {}", kRegistriesPath, *harm), .error = {}};
}

}  // namespace

Drain DrainFor(std::span<const Action> actions, const ParsedConfig& from, const ParsedConfig& to) {
  const auto has = [&](std::string_view type) {
    return std::any_of(actions.begin(), actions.end(), [&](const Action& action) { return action.what.type == type; });
  };
  if (has(action_type::kReboot)) return {.is_needed = true, .reason = "the node reboots", .error = {}};
  if (has(action_type::kDrain))
    return {.is_needed = true, .reason = "a node disruption policy has the action Drain", .error = {}};
  if (has(action_type::kSpecial)) return DrainUnlessHarmless(from, to);
  return {};
}

Drain FirstBootDrainFor(std::string_view action, const Difference& difference, const ParsedConfig& from,
                        const ParsedConfig& to) {
  if (action == "reboot") return {.is_needed = true, .reason = "the node reboots", .error = {}};
  if (action == "none") return {};
  const auto& files = difference.changed_files;
  const bool has_registries =
      std::any_of(files.begin(), files.end(), [](const FileChange& change) { return change.path == kRegistriesPath; });
  return has_registries ? DrainUnlessHarmless(from, to) : Drain();
}

}  // namespace pintle::plan
