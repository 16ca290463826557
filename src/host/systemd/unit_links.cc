// SPDX-License-Identifier: Apache-2.0
#include "host/systemd/unit_links.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host/files/path_parts.h"
#include "host/systemd/unit_files.h"

namespace pintle::host {
namespace {

using Links = resource::UnitLinks::State;

constexpr std::array<std::string_view, 3> kFolderEndings = {".wants", ".requires", ".upholds"};

bool IsLinkFolder(std::string_view name) {
  return std::any_of(kFolderEndings.begin(), kFolderEndings.end(), [&](auto ending) { return name.ends_with(ending); });
}

// Returns whether the path can be that of an alias, or of a link in a .wants, .requires or .upholds folder.
bool IsUnitLink(std::string_view path) {
  const std::string_view folder = FolderOf(path);
  const bool in_right_folder = folder == kUnitDirectory || (FolderOf(folder) == kUnitDirectory && IsLinkFolder(folder));
  return in_right_folder && UnitName::IsValid(NameIn(path));
}

// Returns the names in a folder, or none if the folder does not exist.
Result<std::vector<std::string>> NamesIfAny(const Root& root, const std::string& folder) {
  if (!TRY(root.Status(folder))) return std::vector<std::string>();
  return root.List(folder);
}

// Returns the folders that may contain links of units, kUnitDirectory first.
Result<std::vector<std::string>> LinkFolders(const Root& root) {
  std::vector<std::string> folders = {std::string(kUnitDirectory)};
  for (const std::string& name : TRY(NamesIfAny(root, folders.front()))) {
    if (!IsLinkFolder(name)) continue;
    const std::string path = fmt::format("{}/{}", kUnitDirectory, name);
    const std::optional<struct stat> status = TRY(root.Status(path));
    if (status && S_ISDIR(status->st_mode)) folders.push_back(path);
  }
  return folders;
}

Result<bool> IsMaskLink(const Root& root, const std::string& path, const std::string& target) {
  if (FolderOf(path) != kUnitDirectory) return false;
  const std::string from_root = target.starts_with('/') ? target : fmt::format("{}/{}", kUnitDirectory, target);
  return TRY(Resolve(root, from_root, LastPart::kKeep)) == "/dev/null";
}

Result<> AddLinksIn(const Root& root, const std::string& folder, Links& links) {
  for (const std::string& name : TRY(NamesIfAny(root, folder))) {
    const std::string path = folder + "/" + name;
    if (!IsUnitLink(path)) continue;
    const std::optional<struct stat> status = TRY(root.Status(path));
    if (!status || !S_ISLNK(status->st_mode)) continue;
    std::string target = TRY(root.ReadLink(path));
    if (!TRY(IsMaskLink(root, path, target))) links.targets.emplace(path, std::move(target));
  }
  return {};
}

Result<> RemoveLink(const Root& root, const std::string& path) {
  TRY(root.Remove(path));
  const std::string folder(FolderOf(path));
  if (folder != kUnitDirectory && TRY(NamesIfAny(root, folder)).empty()) TRY(root.Remove(folder));
  return {};
}

// Removes the temporary names that unfinished writes have left, and then the empty folders that are not in `kept`.
Result<> RemoveEmptyFolders(const Root& root, const std::vector<std::string>& kept) {
  for (const std::string& folder : TRY(LinkFolders(root))) {
    if (folder == kUnitDirectory) continue;
    std::vector<std::string> names = TRY(root.List(folder));
    for (const std::string& name : names) {
      if (IsTemporaryName(name)) TRY(root.Remove(folder + "/" + name));
    }
    const bool is_empty =
        std::all_of(names.begin(), names.end(), [](const auto& name) { return IsTemporaryName(name); });
    if (is_empty && std::find(kept.begin(), kept.end(), folder) == kept.end()) TRY(root.Remove(folder));
  }
  return {};
}

Result<> CheckPaths(const Links& links) {
  for (const auto& [path, target] : links.targets) {
    if (!IsUnitLink(path) || target.empty()) {
      return Error(ErrorKind::kInvalid, fmt::format("{} -> {} is not a link of a unit", path, target));
    }
  }
  for (const std::string& folder : links.empty_folders) {
    if (FolderOf(folder) != kUnitDirectory || !IsLinkFolder(folder)) {
      return Error(ErrorKind::kInvalid, folder + " is no folder for links of units");
    }
  }
  return {};
}

// Returns whether the link makes another unit start this unit, or is an alias of this unit.
bool IsLinkOf(const UnitName& unit, const std::string& path, const std::string& target) {
  const bool has_its_name = NameIn(path) == unit.text();
  if (FolderOf(path) == kUnitDirectory) return !has_its_name && NameIn(target) == unit.text();
  return has_its_name;
}

Result<> SyncLinksIn(const Root& root, const std::string& folder) {
  const UniqueFd directory = TRY(root.OpenFile(folder, O_RDONLY | O_DIRECTORY));
  if (::fsync(directory.get()) != 0)
    return Error::FromErrno("fsync").While("making the links in " + folder + " durable");
  return {};
}

}  // namespace

Result<Links> ObserveUnitLinks(const Root& root) {
  Links links;
  for (const std::string& folder : TRY(LinkFolders(root))) {
    TRY(AddLinksIn(root, folder, links), "looking at the links of units");
    if (folder != kUnitDirectory && TRY(root.List(folder)).empty()) links.empty_folders.push_back(folder);
  }
  return links;
}

Result<> PutUnitLinks(const Root& root, const Links& links) {
  TRY(CheckPaths(links), "putting the links of units");
  const Links before = TRY(ObserveUnitLinks(root));
  for (const auto& [path, target] : links.targets) {
    const auto old = before.targets.find(path);
    if (old != before.targets.end() && old->second == target) continue;
    TRY(root.MakeDirectories(FolderOf(path)));
    TRY(root.WriteLink(path, target));
  }
  for (const auto& [path, target] : before.targets) {
    if (!links.targets.contains(path)) TRY(RemoveLink(root, path));
  }
  for (const std::string& folder : links.empty_folders) TRY(root.MakeDirectories(folder));
  return RemoveEmptyFolders(root, links.empty_folders);
}

Result<> RemoveUnitLinks(const Root& root, const UnitName& unit) {
  const Links links = TRY(ObserveUnitLinks(root));
  std::set<std::string, std::less<>> other_names;
  for (const auto& [path, target] : links.targets) {
    if (!IsLinkOf(unit, path, target)) continue;
    if (FolderOf(path) == kUnitDirectory) other_names.emplace(NameIn(path));
    TRY(RemoveLink(root, path), "disabling " + unit.text());
  }
  // Links in .wants and similar folders may also have the name of an alias of the unit.
  for (const auto& [path, target] : links.targets) {
    if (FolderOf(path) != kUnitDirectory && other_names.contains(NameIn(path))) TRY(RemoveLink(root, path));
  }
  return {};
}

Result<> SyncUnitLinks(const Root& root) {
  for (const std::string& folder : TRY(LinkFolders(root))) {
    if (TRY(root.Status(folder))) TRY(SyncLinksIn(root, folder));
  }
  return {};
}

}  // namespace pintle::host
