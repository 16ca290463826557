// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the files of units are, as systemd looks for them below a root.

#include <array>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/root.h"
#include "host/install_section.h"
#include "host/unit_name.h"

namespace pintle::host {

// Where the links of enabled units are.
inline constexpr std::string_view kUnitDirectory = "/etc/systemd/system";

// What is found in an earlier directory hides what has its name in a later one.
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
  kLinked,  // A link to a file outside of it.
  kMasked,
};

struct UnitFile {
  explicit UnitFile(UnitName unit_name) : name(std::move(unit_name)) {}

  UnitName name;
  UnitFileKind kind = UnitFileKind::kNotLookedFor;
  std::string path;
  std::string target;  // Of a link: where it leads.
  InstallSection install;
};

enum class ReadInstall { kNo, kYes };

// Looks for the file of a name, of an instance also for its template's, and reads its [Install] section together with
// those of drop-ins.  What was looked for already is left alone.
Result<> Find(const Root& root, UnitFile& unit, ReadInstall read);

// Goes on to where a link leads.  It counts as the unit's own file, whatever its name.
Result<> Follow(const Root& root, UnitFile& unit, ReadInstall read);

bool IsBelowUnitSearchPath(std::string_view path);

// A path without symlinks, "." and "..".  What is missing on the way is taken by its name.
enum class LastPart { kKeep, kFollow };
Result<std::string> Resolve(const Root& root, std::string_view path, LastPart last);

}  // namespace pintle::host
