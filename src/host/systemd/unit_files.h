// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the files of units below a root as systemd does.

#include <array>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/root.h"
#include "host/systemd/install_section.h"
#include "host/systemd/unit_name.h"

namespace pintle::host {

// The directory with the links of enabled units.
inline constexpr std::string_view kUnitDirectory = "/etc/systemd/system";

// A file in an earlier directory hides one of the same name in a later directory.
inline constexpr std::array<std::string_view, 13> kUnitSearchPath = {
    "/etc/systemd/system.control",
    "/run/systemd/system.control",
    "/run/systemd/transient",
    "/run/systemd/generator.early",
    kUnitDirectory,
    "/etc/systemd/system.attached",
    "/run/systemd/system",
    "/run/systemd/system.attached",
    "/run/systemd/generator",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
    "/run/systemd/generator.late",
};

enum class UnitFileKind {
  kNotLookedFor,
  kMissing,
  kFile,
  kAlias,   // A link to another name in the search path.
  kLinked,  // A link to a file outside of the search path.
  kMasked,
};

struct UnitFile {
  explicit UnitFile(UnitName unit_name) : name(std::move(unit_name)) {}

  UnitName name;
  UnitFileKind kind = UnitFileKind::kNotLookedFor;
  std::string path;
  std::string target;  // The target of a link.
  InstallSection install;
};

enum class ReadInstall { kNo, kYes };

// Finds the file for a name, or for the template of an instance.  If `read` is kYes, also reads the [Install] sections
// of the file and its drop-ins.  Does nothing if the file has been found already.
Result<> FindUnitFile(const Root& root, UnitFile& unit, ReadInstall read);

// Reads the file to which a link leads.  That file counts as the unit's own, whatever its name is.
Result<> FollowUnitLink(const Root& root, UnitFile& unit, ReadInstall read);

bool IsBelowUnitSearchPath(std::string_view path);

enum class LastPart { kKeep, kFollow };  // If the last part of a path is a symlink, Resolve() keeps or follows it.

// Returns a path without symlinks, "." and "..".  Parts that do not exist are kept.
Result<std::string> Resolve(const Root& root, std::string_view path, LastPart last);

}  // namespace pintle::host
