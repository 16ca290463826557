// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/reconcilable.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "gotext/quote.h"
#include "json/field_list.h"
#include "machineconfig/file_below_file.h"
#include "machineconfig/ignition_part.h"
#include "machineconfig/own_files.h"
#include "machineconfig/validate.h"

namespace pintle::machineconfig {
namespace {

using json::Equal;

// The only user that a config can change.
constexpr std::string_view kCoreUser = "core";
// If this file exists, the agent overwrites edits with the next change and reboots the node, so no config may have it.
constexpr std::string_view kForceFile = "/run/machine-config-daemon-force";

constexpr std::string_view kPartitionAdvice = "disks are set up once, when a machine is installed";

using Overrides = api::IrreconcilableValidationOverrides;

bool IsOverridden(const Overrides& overrides, std::string_view section) {
  return std::find(overrides.storage.begin(), overrides.storage.end(), section) != overrides.storage.end();
}

void AddPasswdObstacle(std::vector<Obstacle>& obstacles, std::string_view reason, std::string advice) {
  obstacles.push_back({fmt::format("invalid passwd change(s): {}", reason), std::move(advice)});
}

// Returns whether a user has fields other than its name, SSH keys and password.
bool HasOtherFields(const ignition::PasswdUser& user) {
  ignition::PasswdUser with_known_fields;
  with_known_fields.name = user.name;
  with_known_fields.ssh_authorized_keys = user.ssh_authorized_keys;
  with_known_fields.password_hash = user.password_hash;
  return !Equal(user, with_known_fields);
}

void CompareUsers(const std::vector<ignition::PasswdUser>& users, std::vector<Obstacle>& obstacles) {
  for (const ignition::PasswdUser& user : users) {
    if (user.name == kCoreUser) continue;
    AddPasswdObstacle(obstacles, "ignition passwd user section contains unsupported changes: non-core user",
                      fmt::format("user \"{}\": only the user core can be changed", user.name));
  }
  if (users.empty() || users.back().name != kCoreUser) return;
  const ignition::PasswdUser& user = users.back();
  if (!user.password_hash && user.ssh_authorized_keys.empty()) {
    AddPasswdObstacle(
        obstacles,
        "ignition passwd user section contains unsupported changes: user must be core and have 1 or more sshKeys",
        "give the user core an SSH key or a password hash, or leave the user out of the config to remove its keys");
  } else if (HasOtherFields(user)) {
    AddPasswdObstacle(obstacles, "SSH keys and password hash are not reconcilable",
                      "of the user core, only sshAuthorizedKeys and passwordHash can be changed");
  }
}

void ComparePasswd(const ignition::Passwd& from, const ignition::Passwd& to, std::vector<Obstacle>& obstacles) {
  if (!Equal(from.groups, to.groups)) {
    AddPasswdObstacle(obstacles, "ignition Passwd Groups section contains changes",
                      "groups are made once, when a machine is installed");
  }
  if (!Equal(from.users, to.users)) CompareUsers(to.users, obstacles);
}

void CompareStorage(const ignition::Storage& from, const ignition::Storage& to, const Overrides& overrides,
                    std::vector<Obstacle>& obstacles) {
  const auto add_if_changed = [&](const auto& a, const auto& b, std::string_view section, std::string_view advice) {
    if (Equal(a, b)) return;
    obstacles.push_back({fmt::format("ignition {} section contains changes", section), std::string(advice)});
  };
  if (!IsOverridden(overrides, "Disks")) add_if_changed(from.disks, to.disks, "disks", kPartitionAdvice);
  if (!IsOverridden(overrides, "FileSystems")) {
    add_if_changed(from.filesystems, to.filesystems, "filesystems", kPartitionAdvice);
  }
  if (!IsOverridden(overrides, "Raid")) add_if_changed(from.raid, to.raid, "raid", kPartitionAdvice);
  add_if_changed(from.directories, to.directories, "directories",
                 "Pintle creates the directories of files by itself; create other directories with systemd-tmpfiles");
  // Links are never changed on a node, so removing all links from a config does no harm.
  if (!to.links.empty()) add_if_changed(from.links, to.links, "links", "make links with a unit or systemd-tmpfiles");
}

void CheckFiles(const std::vector<ignition::File>& files, std::vector<Obstacle>& obstacles) {
  for (const FileBelowFile& pair : FilesBelowFiles(files)) {
    obstacles.push_back({pair.Text(), std::string(kFileBelowFileAdvice)});
  }
  for (const ignition::File& file : files) {
    if (!file.append.empty()) {
      obstacles.push_back({fmt::format("ignition file {} includes append", file.path),
                           "appending can be done only once; give the whole contents"});
    }
    if (IsOwnFile(file.path)) obstacles.push_back({OwnFileText(file.path), std::string(kOwnFileAdvice)});
    if (file.path == kForceFile) {
      obstacles.push_back({fmt::format("cannot create {} via Ignition", file.path),
                           "this file makes the agent overwrite edits and reboot the node; create it by hand"});
    }
  }
}

std::vector<Obstacle> ObstaclesBetween(const ParsedConfig& from, const ParsedConfig& to, const Overrides& overrides) {
  std::vector<Obstacle> obstacles;
  ComparePasswd(from.ignition.passwd, to.ignition.passwd, obstacles);
  if (!Equal(from.ignition.kernel_arguments, to.ignition.kernel_arguments)) {
    obstacles.push_back(
        {"ignition kargs section contains changes", "use spec.kernelArguments of the MachineConfig instead"});
  }
  CompareStorage(from.ignition.storage, to.ignition.storage, overrides, obstacles);
  CheckFiles(to.ignition.storage.files, obstacles);
  if (from.object.spec.fips != to.object.spec.fips) {
    obstacles.push_back({"detected change to FIPS flag; refusing to modify FIPS on a running cluster",
                         "FIPS mode is chosen when a cluster is installed"});
  }
  return obstacles;
}

}  // namespace

Verdict Judge(const ParsedConfig& from, const ParsedConfig& to, const Overrides& overrides) {
  const std::string name = gotext::Quoted(to.object.metadata.name);
  Verdict verdict{.text = "", .obstacles = ObstaclesBetween(from, to, overrides)};
  if (const auto valid = CheckIgnition(to.ignition); !valid) {
    verdict.is_valid = false;
    verdict.text =
        fmt::format("validating new Ignition config from machineconfig {} failed: {}", name, valid.error().message());
  } else if (!verdict.obstacles.empty()) {
    // As in the Machine Config Operator, this text calls the old config the new one.
    verdict.text = fmt::format("new machineconfig {} is not reconcilable against {}: {}",
                               gotext::Quoted(from.object.metadata.name), name, verdict.obstacles.front().text);
  }
  return verdict;
}

std::string UnparsableText(std::string_view which, const api::MachineConfig& config, const Error& error) {
  return fmt::format("parsing {} Ignition config from machineconfig {} failed: {}", which,
                     gotext::Quoted(config.metadata.name), ParseErrorText(error));
}

}  // namespace pintle::machineconfig
