// SPDX-License-Identifier: Apache-2.0

// Reads spec 2: removes fields that a minor version does not have, and resolves duplicates.

#include "ignition/read.h"

#include <fmt/core.h>

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ignition/v2/translate.h"
#include "ignition/v2/validate.h"

namespace pintle::ignition::v2 {
namespace {

// Removes fields that older minor versions do not have and would ignore.
void DropNewerFields(Config& config, int minor) {
  if (minor >= 2) return;
  config.ignition.security = {};
  const auto reset_overwrite = [&](auto& nodes) {
    for (auto& node : nodes) node.overwrite.reset();
  };
  reset_overwrite(config.storage.files);
  reset_overwrite(config.storage.directories);
  reset_overwrite(config.storage.links);
  for (File& file : config.storage.files) file.append = false;
  for (Raid& raid : config.storage.raid) raid.options.clear();
  for (NetworkdUnit& unit : config.networkd.units) unit.dropins.clear();
  if (minor >= 1) return;
  config.ignition.timeouts = {};
  config.storage.directories.clear();
  config.storage.links.clear();
  for (File& file : config.storage.files) {
    // In spec 2.0, owners are only numbers, and owners and modes are mandatory.
    const auto owner = [](const std::optional<NodeOwner>& given) {
      return NodeOwner{.id = given ? given->id.value_or(0) : 0, .name = ""};
    };
    file.user = owner(file.user);
    file.group = owner(file.group);
    file.mode = file.mode.value_or(0);
  }
  for (Unit& unit : config.systemd.units) unit.enabled.reset();
}

// Adds those of `more` whose names are not taken.
void AddMissing(std::vector<Dropin>& dropins, std::vector<Dropin> more) {
  std::unordered_set<std::string> names;
  for (const Dropin& dropin : dropins) names.insert(dropin.name);
  for (Dropin& dropin : more) {
    if (names.insert(dropin.name).second) dropins.push_back(std::move(dropin));
  }
}

std::vector<File> LastOfEachPath(std::vector<File> files) {
  std::vector<File> kept;
  std::unordered_set<std::string> paths;
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    if (paths.insert(file->path).second) kept.push_back(std::move(*file));
  }
  return kept;
}

std::vector<Unit> LastOfEachName(std::vector<Unit> units) {
  std::vector<Unit> kept;
  std::unordered_map<std::string, std::size_t> at;
  for (auto unit = units.rbegin(); unit != units.rend(); ++unit) {
    const auto [same, is_new] = at.emplace(unit->name, kept.size());
    if (is_new) {
      kept.push_back(std::move(*unit));
    } else {
      AddMissing(kept[same->second].dropins, std::move(unit->dropins));
    }
  }
  return kept;
}

Result<std::vector<PasswdUser>> OneCoreUser(std::vector<PasswdUser> users) {
  if (users.empty()) return users;
  for (auto user = users.rbegin(); user != users.rend(); ++user) {
    if (user->name == "core") continue;
    return Error(ErrorKind::kInvalid,
                 fmt::format("unexpected user with name: {}. Only core user is supported", user->name));
  }
  PasswdUser core = users.back();
  core.ssh_authorized_keys.clear();
  std::unordered_set<std::string> known;
  for (auto user = users.rbegin(); user != users.rend(); ++user) {
    for (std::string& key : user->ssh_authorized_keys) {
      if (known.insert(key).second) core.ssh_authorized_keys.push_back(std::move(key));
    }
  }
  return std::vector{std::move(core)};
}

}  // namespace

Config ReadAndValidate(Reading& reading) {
  Config config = Read<Config>(std::move(reading.document), reading.report);
  reading.has_wrong_types = reading.report.has_errors();
  if (reading.has_wrong_types) return config;
  DropNewerFields(config, reading.minor);
  Validate(config, reading.report);
  return config;
}

Result<Config> WithoutDuplicates(Config config) {
  config.passwd.users = TRY(OneCoreUser(std::move(config.passwd.users)));
  config.storage.files = LastOfEachPath(std::move(config.storage.files));
  config.systemd.units = LastOfEachName(std::move(config.systemd.units));
  return config;
}

}  // namespace pintle::ignition::v2
