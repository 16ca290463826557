// SPDX-License-Identifier: Apache-2.0
#include "change/names.h"

#include <fmt/core.h>

#include <string>
#include <string_view>

#include "host/systemd/unit_name.h"
#include "machineconfig/own_files.h"

namespace pintle::change {
namespace {

Error BadName(const std::string& message) { return Error(ErrorKind::kInvalid, message); }

bool HasNul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

Result<> CheckPath(const std::string& path) {
  // The kernel would end the path at the NUL.
  if (HasNul(path))
    return BadName(fmt::format("the path of a file has a NUL byte after \"{}\"; remove the NUL byte", path.c_str()));
  if (path == "/") return BadName("\"/\" is not the path of a file; name a file below it");
  return {};
}

Result<> CheckDropin(const std::string& unit, const std::string& name) {
  const bool is_plain = !name.empty() && name.find('/') == std::string::npos && !HasNul(name);
  return is_plain
             ? Result<>()
             : BadName(fmt::format("\"{}\" is not a name for a drop-in of {}; write one without slashes", name, unit));
}

Result<> CheckUnit(const std::string& name) {
  return host::UnitName::IsValid(name)
             ? Result<>()
             : BadName(fmt::format("\"{}\" is not a name for a unit; write it with letters, digits and :-_.\\@ only",
                                   name));
}

}  // namespace

Result<> CheckNames(const ignition::Config& config) {
  for (const ignition::File& file : config.storage.files) TRY(CheckPath(file.path));
  TRY(machineconfig::CheckOwnFiles(config));
  for (const ignition::Unit& unit : config.systemd.units) {
    TRY(CheckUnit(unit.name));
    for (const ignition::Dropin& dropin : unit.dropins) TRY(CheckDropin(unit.name, dropin.name));
  }
  return {};
}

}  // namespace pintle::change
