// SPDX-License-Identifier: Apache-2.0
#include "host/systemd/unit_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "host/files/path_parts.h"

namespace pintle::host {
namespace {

constexpr int kMostUnitLinks = 32;  // systemd follows at most this many links to find a file.

std::vector<std::string> PartsOf(std::string_view path) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (end > begin && path.substr(begin, end - begin) != ".") parts.emplace_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// systemd treats an empty file and /dev/null as a mask.
bool IsMask(const struct stat& status) {
  return S_ISCHR(status.st_mode) || (S_ISREG(status.st_mode) && status.st_size == 0);
}

// Returns whether a link with this target masks its name, even if further links lead from the target to the mask.
Result<bool> LeadsToMask(const Root& root, const std::string& target) {
  const std::string end = TRY(Resolve(root, target, LastPart::kFollow));
  if (end == "/dev/null") return true;  // Below the root of a machine that is not running, /dev/null may be missing.
  const std::optional<struct stat> status = TRY(root.Status(end));
  return status && IsMask(*status);
}

// An alias must have its target's type, kind and instance, except that an instance may be an alias of a template.
Result<> CheckAlias(const UnitName& alias, std::string_view target) {
  const std::optional<UnitName> aliased = UnitName::Parse(NameIn(target));
  const bool same_kind = aliased && (aliased->kind() == alias.kind() || (alias.kind() == UnitNameKind::kInstance &&
                                                                         aliased->kind() == UnitNameKind::kTemplate));
  const bool same_instance =
      aliased && (aliased->kind() != UnitNameKind::kInstance || aliased->instance() == alias.instance());
  const bool may_be = alias.MayBeAlias() && (alias.kind() == UnitNameKind::kPlain || alias.MayBeTemplate());
  if (same_kind && same_instance && may_be && aliased->type() == alias.type()) return {};
  return Error(ErrorKind::kInvalid, fmt::format("{} cannot be an alias of \"{}\"", alias.text(), target));
}

Result<> ReadUnitLink(const Root& root, UnitFile& unit, const std::string& path) {
  std::string target = TRY(root.ReadLink(path));
  if (!target.starts_with('/')) target = fmt::format("{}/{}", FolderOf(path), target);
  unit.target = TRY(Resolve(root, target, LastPart::kKeep));
  const bool is_alias = IsBelowUnitSearchPath(unit.target);
  if (is_alias) {
    const std::optional<UnitName> link_name = UnitName::Parse(NameIn(path));
    if (link_name) TRY(CheckAlias(*link_name, unit.target));
  }
  unit.kind = is_alias ? UnitFileKind::kAlias : UnitFileKind::kLinked;
  if (TRY(LeadsToMask(root, unit.target))) unit.kind = UnitFileKind::kMasked;
  return {};
}

// Expands the specifiers in DefaultInstance= and Also=, and checks the results, even if they are not used later.
Result<> ExpandNames(const Root& root, UnitFile& unit) {
  InstallSection& install = unit.install;
  install.default_instance = TRY(ExpandSpecifiers(install.default_instance, unit.name, "", root));
  if (!install.default_instance.empty() && !IsValidInstance(install.default_instance)) {
    return Error(ErrorKind::kInvalid, fmt::format("\"{}\" is not an instance", install.default_instance));
  }
  for (std::string& also : install.also) {
    also = TRY(ExpandSpecifiers(also, unit.name, install.default_instance, root));
    if (!UnitName::IsValid(also)) return Error(ErrorKind::kInvalid, fmt::format("\"{}\" is not a unit", also));
  }
  return {};
}

// Reads the file or link at a path, if there is one.
Result<> ReadUnitPath(const Root& root, UnitFile& unit, const std::string& path, ReadInstall read) {
  const std::optional<struct stat> status = TRY(root.Status(path));
  if (!status) return {};
  if (S_ISLNK(status->st_mode)) {
    TRY(ReadUnitLink(root, unit, path), fmt::format("looking at {}", path));
  } else if (IsMask(*status)) {
    unit.kind = UnitFileKind::kMasked;
  } else if (S_ISREG(status->st_mode)) {
    if (read == ReadInstall::kYes) TRY(unit.install.Add(TRY(root.ReadFile(path)), unit.name), "reading " + path);
    unit.kind = UnitFileKind::kFile;
  } else {
    return Error(ErrorKind::kInvalid, path + " is not a regular file");
  }
  unit.path = path;
  return {};
}

// Reads the first file or link of this name in the search path, if there is one.
Result<> LookFor(const Root& root, UnitFile& unit, const std::string& name, ReadInstall read) {
  for (const std::string_view directory : kUnitSearchPath) {
    TRY(ReadUnitPath(root, unit, fmt::format("{}/{}", directory, name), read));
    if (unit.kind != UnitFileKind::kNotLookedFor) return {};
  }
  return {};
}

// Maps the names of drop-ins to their paths.  Drop-ins are read in the order of their names.  A file in an earlier
// directory hides a file of the same name in a later directory.
Result<> AddDropins(const Root& root, const std::string& unit, std::map<std::string, std::string>& dropins) {
  for (const std::string_view directory : kUnitSearchPath) {
    const std::string path = fmt::format("{}/{}.d", directory, unit);
    const auto names = root.List(path);
    if (!names) continue;  // The directory does not exist or is something else; systemd also ignores both cases.
    for (const std::string& name : *names) {
      if (name.ends_with(".conf") && !name.starts_with('.')) dropins.emplace(name, path + "/" + name);
    }
  }
  return {};
}

Result<> ReadDropins(const Root& root, UnitFile& unit) {
  std::map<std::string, std::string> dropins;
  TRY(AddDropins(root, unit.name.text(), dropins));
  if (const auto unit_template = unit.name.Template()) TRY(AddDropins(root, unit_template->text(), dropins));
  for (const auto& [name, path] : dropins) {
    if (TRY(LeadsToMask(root, path))) continue;
    TRY(unit.install.Add(TRY(root.ReadFile(path)), unit.name), "reading " + path);
  }
  return {};
}

}  // namespace

bool IsBelowUnitSearchPath(std::string_view path) {
  return std::any_of(kUnitSearchPath.begin(), kUnitSearchPath.end(), [&](std::string_view directory) {
    return path.size() > directory.size() && path.starts_with(directory) && path[directory.size()] == '/';
  });
}

Result<std::string> Resolve(const Root& root, std::string_view path, LastPart last) {
  std::deque<std::string> left;
  for (std::string& part : PartsOf(path)) left.push_back(std::move(part));
  std::string resolved;
  for (int links = 0; !left.empty();) {
    const std::string part = std::move(left.front());
    left.pop_front();
    if (part == "..") {
      resolved.resize(FolderOf(resolved).size());
      continue;
    }
    const std::string next = resolved + "/" + part;
    const bool follows = !left.empty() || last == LastPart::kFollow;
    const std::optional<struct stat> status = follows ? TRY(root.Status(next)) : std::nullopt;
    if (!status || !S_ISLNK(status->st_mode)) {
      resolved = next;
      continue;
    }
    if (++links > kMostUnitLinks) return Error::FromErrno("following links", ELOOP).While(std::string(path));
    const std::string target = TRY(root.ReadLink(next));
    if (target.starts_with('/')) resolved.clear();
    const std::vector<std::string> parts = PartsOf(target);
    left.insert(left.begin(), parts.begin(), parts.end());
  }
  return resolved.empty() ? "/" : resolved;
}

namespace {

Result<> FindAnew(const Root& root, UnitFile& unit, ReadInstall read) {
  unit.kind = UnitFileKind::kNotLookedFor;
  if (unit.name.kind() != UnitNameKind::kPlain && !unit.name.MayBeTemplate()) {
    return Error(ErrorKind::kInvalid, fmt::format("{}: a unit of this type has no instances", unit.name.text()));
  }
  TRY(LookFor(root, unit, unit.name.text(), read));
  const std::optional<UnitName> unit_template = unit.name.Template();
  if (unit.kind == UnitFileKind::kNotLookedFor && unit_template) TRY(LookFor(root, unit, unit_template->text(), read));
  if (unit.kind == UnitFileKind::kNotLookedFor) {
    unit.kind = UnitFileKind::kMissing;
    return {};
  }
  if (read == ReadInstall::kNo || unit.kind == UnitFileKind::kMasked) return {};
  TRY(ReadDropins(root, unit));
  return ExpandNames(root, unit);
}

Result<> FollowLink(const Root& root, UnitFile& unit, ReadInstall read) {
  const std::string target = unit.target;
  unit.kind = UnitFileKind::kMissing;
  TRY(ReadUnitPath(root, unit, target, read));
  if (unit.kind != UnitFileKind::kFile || read == ReadInstall::kNo) return {};
  return ExpandNames(root, unit);
}

// After an error, `unit` must not have names that were not checked, and the next call must return the error again.
Result<> ForgetAfterError(UnitFile& unit, Result<> result) {
  if (!result) unit = UnitFile(unit.name);
  return result;
}

}  // namespace

Result<> FindUnitFile(const Root& root, UnitFile& unit, ReadInstall read) {
  if (unit.kind != UnitFileKind::kNotLookedFor && unit.kind != UnitFileKind::kMissing) return {};
  return ForgetAfterError(unit, FindAnew(root, unit, read));
}

Result<> FollowUnitLink(const Root& root, UnitFile& unit, ReadInstall read) {
  return ForgetAfterError(unit, FollowLink(root, unit, read));
}

}  // namespace pintle::host
