// SPDX-License-Identifier: Apache-2.0
#include "agent/config_directory.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/link_limit.h"
#include "change/others_access.h"

namespace pintle::agent {
namespace {

namespace fs = std::filesystem;

// Returns the path that a link leads to next, or nullopt if `path` is not a link.
std::optional<fs::path> NextOf(const fs::path& path) {
  std::error_code is_no_link;
  const fs::path target = fs::read_symlink(path, is_no_link);
  if (is_no_link) return std::nullopt;
  return (path.parent_path() / target).lexically_normal();
}

// Returns whether the file is obviously not meant as a config: a README, or a copy that an editor made.
bool IsObviouslyNoConfig(std::string_view name) {
  return name.starts_with("README") || name.starts_with('#') || name.ends_with('~');
}

}  // namespace

Result<bool> DirectoryExists(const std::string& directory) {
  // A slash at the end would make lstat() follow a link.
  const std::string path = fs::path(directory + "/").parent_path();
  struct stat status = {};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return true;
    return Error(ErrorKind::kInvalid,
                 fmt::format("{} is not a directory; replace it by a directory, or remove it", path));
  }
  if (errno != ENOENT) return Error::FromErrno("stat").While(path);
  if (::lstat(path.c_str(), &status) == 0) {
    return Error(
        ErrorKind::kUnavailable,
        fmt::format("{} is a link, and its target does not exist; bring the target back, or remove the link if "
                    "there are to be no configs",
                    path));
  }
  if (errno != ENOENT) return Error::FromErrno("lstat").While(path);
  const std::string above = fs::path(path).parent_path();
  if (::stat(above.c_str(), &status) == 0) return false;
  if (errno != ENOENT) return Error::FromErrno("stat").While(above);
  return Error(ErrorKind::kNotFound,
               fmt::format("neither {} nor its parent directory {} exists; restore the parent, or make {} as an empty "
                           "directory if there are to be no configs",
                           path, above, path));
}

Result<ConfigDirectory> ReadConfigDirectory(const std::string& directory) {
  ConfigDirectory read;
  read.is_there = TRY(DirectoryExists(directory));
  if (!read.is_there) return read;
  // A user who may write to the directory could take the config away by removing its files.
  TRY(change::CheckOnlyRootWrites(directory));
  change::WrittenConfigs written = TRY(change::ReadWrittenConfigs({&directory, 1}));
  read.configs = std::move(written.configs);
  for (const std::string& entry : written.left_out) {
    read.warnings.push_back(fmt::format("left out: {}; a config must be a regular file", entry));
  }
  for (const std::string& file : written.others) {
    if (IsObviouslyNoConfig(fs::path(file).filename().string())) continue;
    read.warnings.push_back(fmt::format("left out: {}", change::WhyNotConfig(file)));
  }
  for (const change::WrittenConfig& config : read.configs) {
    const change::OthersAccess access = TRY(change::AccessOfOthersTo(config.file));
    TRY(change::CheckOnlyRootWrites(config.file, access));
    const auto secret = access.may_read ? change::SecretIn(config.ignition) : std::nullopt;
    if (!secret) continue;
    read.warnings.push_back(
        fmt::format("every user may read {}, which has {}; `chmod go-r` on it changes that", config.file, *secret));
  }
  return read;
}

std::vector<std::string> PlacesBehindLink(const std::string& path) {
  std::vector<std::string> places;
  std::optional<fs::path> place = NextOf(path);
  for (int links = 0; place && links < kMostLinks; ++links) {
    if (place->is_absolute()) places.push_back(*place);
    place = NextOf(*place);
  }
  return places;
}

std::vector<std::string> PlacesBehindLinks(const std::string& directory) {
  std::vector<std::string> places;
  std::error_code error;  // ReadConfigDirectory() reports this error.
  fs::directory_iterator entry(directory, error);
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error)) {
    if (!change::IsConfigName(entry->path().filename().string())) continue;
    const std::vector<std::string> behind = PlacesBehindLink(entry->path());
    places.insert(places.end(), behind.begin(), behind.end());
  }
  return places;
}

}  // namespace pintle::agent
