// SPDX-License-Identifier: Apache-2.0
#include "ctl/adopt.h"

#include <fmt/core.h>

#include <string>
#include <utility>

#include "base/ascii.h"
#include "base/base64.h"
#include "base/output.h"
#include "change/current_config.h"
#include "change/local_configs.h"
#include "ctl/config_output.h"
#include "ctl/verbs.h"
#include "host/files/directories.h"
#include "host/files/files.h"
#include "host/systemd/unit_files.h"
#include "host/systemd/unit_name.h"
#include "ignition/config.h"

namespace pintle::ctl {
namespace {

using resource::EntryKind;
using FileState = resource::FileEntry::State;

// Returns the name of the config for a path, such as "99-adopted-etc-chrony.conf" for "/etc/chrony.conf".  A name has
// lower-case letters, digits, dots and hyphens only.
std::string NameFrom(std::string_view path) {
  std::string name = "99-adopted";
  bool is_part_open = false;
  for (const char c : path) {
    const bool is_kept = IsLower(c) || IsDigit(c) || (c == '.' && is_part_open);
    const bool is_letter = IsUpper(c);
    if (is_kept || is_letter) {
      if (!is_part_open) name += '-';
      name += is_letter ? static_cast<char>(c - 'A' + 'a') : c;
    }
    is_part_open = is_kept || is_letter;
  }
  return name;
}

// Returns the pool of a rendered config, such as "worker" for "rendered-worker-<digest>".  Other configs count as
// configs of the local pool.
std::string PoolOf(std::string_view config_name) {
  constexpr std::string_view kPrefix = "rendered-";
  const std::size_t end = config_name.rfind('-');
  if (!config_name.starts_with(kPrefix) || end <= kPrefix.size()) return change::kLocalPool;
  return std::string(config_name.substr(kPrefix.size(), end - kPrefix.size()));
}

ignition::NodeOwner OwnerOf(const resource::UserOrGroup& owner) {
  ignition::NodeOwner node;
  node.id = static_cast<int>(owner.id);
  return node;
}

ignition::File FileFrom(const std::string& path, const FileState& state, const std::string& contents) {
  ignition::File file;
  file.path = path;
  file.overwrite = true;
  file.mode = static_cast<int>(state.permissions);
  file.user = OwnerOf(state.user);
  file.group = OwnerOf(state.group);
  file.contents.source = "data:;base64," + EncodeBase64(contents);
  return file;
}

// A file of a unit below /etc/systemd/system: the unit's own file, or one of its drop-ins.
struct UnitPart {
  std::string unit;
  std::string dropin;  // Empty for the unit's own file.
};

// Returns nullopt if the path belongs to no unit.
std::optional<UnitPart> UnitPartAt(std::string_view path) {
  const std::string folder = std::string(host::kUnitDirectory) + "/";
  if (!path.starts_with(folder)) return std::nullopt;
  path.remove_prefix(folder.size());
  const std::size_t slash = path.find('/');
  std::string_view unit = path.substr(0, slash);
  if (slash == std::string_view::npos) {
    return host::UnitName::IsValid(unit) ? std::optional(UnitPart{std::string(unit), ""}) : std::nullopt;
  }
  const std::string_view dropin = path.substr(slash + 1);
  if (!unit.ends_with(".d") || !dropin.ends_with(".conf") || dropin.find('/') != std::string_view::npos) {
    return std::nullopt;
  }
  unit.remove_suffix(2);
  // Drop-ins for all units of a type, as in service.d, belong to no unit.
  if (!host::UnitName::IsValid(unit)) return std::nullopt;
  return UnitPart{std::string(unit), std::string(dropin)};
}

ignition::Unit UnitFrom(const UnitPart& part, const std::string& contents) {
  ignition::Unit unit;
  unit.name = part.unit;
  if (part.dropin.empty()) {
    unit.contents = contents;
  } else {
    ignition::Dropin& dropin = unit.dropins.emplace_back();
    dropin.name = part.dropin;
    dropin.contents = contents;
  }
  return unit;
}

Error NotAdoptable(const std::string& path, std::string_view kind) {
  return Error(ErrorKind::kInvalid,
               fmt::format("{} is {}; a MachineConfig can only have the contents of files", path, kind));
}

Result<ignition::Config> ConfigFor(const Root& root, const std::string& path) {
  const auto state = TRY(host::Observe(root, path));
  if (!state) return Error(ErrorKind::kNotFound, fmt::format("there is no {} to adopt", path));
  ignition::Config config;
  config.ignition.version = ignition::kNewestVersion;
  const auto unit = UnitPartAt(path);
  if (state->kind == EntryKind::kDirectory) return NotAdoptable(path, "a directory");
  if (state->kind == EntryKind::kLink) {
    if (!unit || !unit->dropin.empty() || state->target != "/dev/null") return NotAdoptable(path, "a link");
    ignition::Unit& masked = config.systemd.units.emplace_back();
    masked.name = unit->unit;
    masked.mask = true;
    return config;
  }
  const std::string contents = TRY(host::ReadWhole(root, path));
  if (unit) {
    config.systemd.units.push_back(UnitFrom(*unit, contents));
  } else {
    config.storage.files.push_back(FileFrom(path, *state, contents));
  }
  return config;
}

}  // namespace

Result<api::MachineConfig> Adopt(const Root& root, const std::string& path, std::string_view config_name) {
  api::MachineConfig adopted;
  adopted.metadata.name = NameFrom(path);
  adopted.metadata.labels.emplace(api::kRoleLabel, PoolOf(config_name));
  adopted.spec.config = ignition::Encode(TRY(ConfigFor(root, path)));
  return adopted;
}

Result<ExitStatus> Adopt(const CommandLine& line) {
  if (line.operands().size() != 1 || !line.operands().front().starts_with('/')) {
    return Error(ErrorKind::kInvalid, "name one absolute path");
  }
  const Machine machine = TRY(Machine::Of(line));
  const change::CurrentConfig config = TRY(change::ReadCurrentConfig(machine.root()));
  api::MachineConfig adopted = TRY(Adopt(machine.root(), line.operands().front(), config.object.metadata.name));
  const Form form = FormOf(line, Form::kYaml);
  if (form == Form::kName) {
    PrintName(adopted.metadata.name);
  } else if (form == Form::kJson) {
    PrintJson(std::move(adopted));
  } else {
    TRY(PrintYaml(std::move(adopted)));
  }
  return ExitStatus::kSuccess;
}

}  // namespace pintle::ctl
