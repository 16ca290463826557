// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the files of units below a root, in the same directories and by the same rules as systemd.

#include <array>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/root.h"
#include "host/systemd/install_section.h"
#include "host/systemd/unit_name.h"

namespace pintle::host {

// The directory with the unit files of configs and administrators, and with the links of enabled units.
inline constexpr std::string_view kUnitDirectory = "/etc/systemd/system";

// The directories in which systemd looks for unit files.  A file in an earlier directory hides a file of the same
// name in a later directory.
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
  kNotLookedFor,  // FindUnitFile() has not been called.
  kMissing,       // No file was found; the next FindUnitFile() looks again.
  kFile,
  kAlias,   // A link to another name in the search path.
  kLinked,  // A link to a file outside of the search path.
  kMasked,  // An empty file, /dev/null, or a link that leads to one of them.
};

struct UnitFile {
  explicit UnitFile(UnitName unit_name) : name(std::move(unit_name)) {}

  UnitName name;
  UnitFileKind kind = UnitFileKind::kNotLookedFor;
  std::string path;        // The path of the file or link that was found.
  std::string target;      // The target of a link, as an absolute path.
  InstallSection install;  // Empty unless the file was read with ReadInstall::kYes.
};

enum class ReadInstall { kNo, kYes };

// Finds the file with the unit's name.  If there is none and the unit is an instance, finds the file of its template.
// If `read` is kYes, also reads the [Install] sections of the file and its drop-ins.  If an earlier call has found the
// file, does nothing, and reads no [Install] sections.  After an error, `unit` is as new.
Result<> FindUnitFile(const Root& root, UnitFile& unit, ReadInstall read);

// Follows the link that FindUnitFile() has found.  Afterwards `unit` has the file or link at the target.  That file
// counts as the unit's own, whatever its name is.
Result<> FollowUnitLink(const Root& root, UnitFile& unit, ReadInstall read);

// Returns whether a path is below one of the directories in kUnitSearchPath.
bool IsBelowUnitSearchPath(std::string_view path);

// If the last part of a path is a symlink, Resolve() keeps or follows this symlink.
enum class LastPart { kKeep, kFollow };

// Returns the same path without symlinks, "." and "..".  Parts that do not exist are kept.  Links are followed inside
// of the root.
Result<std::string> Resolve(const Root& root, std::string_view path, LastPart last);

}  // namespace pintle::host
