// SPDX-License-Identifier: Apache-2.0
#include "host/files/files.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <cstddef>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/base64.h"
#include "host/files/attributes.h"
#include "host/files/observer.h"

namespace pintle::host {
namespace {

using resource::EntryKind;
using FileState = resource::FileEntry::State;

// Returns the type in a label, to which the policy's rules apply: the third part of "system_u:object_r:etc_t:s0".
std::string_view TypeOf(std::string_view label) {
  for (int i = 0; i < 2; ++i) {
    const std::size_t colon = label.find(':');
    label = colon == std::string_view::npos ? "" : label.substr(colon + 1);
  }
  return label.substr(0, label.find(':'));
}

// Returns the label in the form that people write, or "" if there is none.
std::string LabelOf(const FileState& state) {
  if (!state.attributes) return "";
  const auto found = state.attributes->find(kSelinuxLabel);
  auto label = found == state.attributes->end() ? std::nullopt : DecodeBase64(found->second);
  while (label && label->ends_with('\0')) label->pop_back();
  return label.value_or("");
}

// Collects the missing directories above paths, and checks each directory once.
class Ancestors {
 public:
  Ancestors(const Root& root, std::span<const FilePut> puts) : root_(root) {
    for (const FilePut& put : puts) {
      if (put.want && put.want->kind == EntryKind::kDirectory) made_.insert(put.key);
      if (!put.want) removed_.insert(put.key);
    }
  }

  // Adds the directories that are missing above a path.
  Result<> AddAbove(const std::string& path) {
    const std::string directory = DirectoryAbove(path);
    if (directory == path || existing_.contains(directory)) return {};
    const bool is_made = made_.contains(directory);
    if (!is_made && TRY(IsThere(directory))) {
      existing_.insert(directory);
      return {};
    }
    TRY(AddAbove(directory));
    existing_.insert(directory);
    if (is_made) return {};
    FileState state;
    state.kind = EntryKind::kDirectory;
    state.permissions = 0755;
    missing_.push_back({directory, std::move(state)});
    return {};
  }

  std::vector<FilePut> Take() && { return std::move(missing_); }

 private:
  Result<bool> IsThere(const std::string& directory) const {
    const auto found = root_.OpenFile(directory, O_PATH | O_DIRECTORY);
    if (found) return true;
    const int reason = found.error().errno_value();
    if (reason != ENOENT && reason != ENOTDIR) return found.error();
    const auto status = TRY(root_.Status(directory));
    if (!status || removed_.contains(directory)) return false;
    if (S_ISLNK(status->st_mode) && reason == ENOENT) {
      return Error(ErrorKind::kInvalid, fmt::format("{} is a link that leads nowhere: create its target", directory));
    }
    return Error(ErrorKind::kInvalid,
                 fmt::format("{} must be a directory, but is something else: move it away", directory));
  }

  const Root& root_;
  std::unordered_set<std::string> made_;
  std::unordered_set<std::string> removed_;  // Directories may be made in the place of these entries.
  std::unordered_set<std::string> existing_;
  std::vector<FilePut> missing_;
};

}  // namespace

Result<std::optional<FileState>> Observe(const Root& root, const std::string& path) {
  return Observer(root).Observe(path);
}

Result<std::optional<FileState>> ObserveAndKeep(const Root& root, BlobStore& blobs, const std::string& path) {
  return Observer(root).ObserveAndKeep(path, blobs);
}

bool Matches(const FileState& want, const FileState& have) {
  if (want.kind != have.kind || want.user.id != have.user.id || want.group.id != have.group.id) return false;
  if (want.kind == EntryKind::kFile && want.sha256 != have.sha256) return false;
  if (want.kind == EntryKind::kLink && want.target != have.target) return false;
  if (want.kind != EntryKind::kLink && want.permissions != have.permissions) return false;
  return !want.attributes ||
         AreAsWanted(*want.attributes, have.attributes.value_or(std::map<std::string, std::string>()));
}

std::optional<WrongLabel> FindWrongLabel(const Labels& labels, const std::string& path, const FileState& want,
                                         const FileState& have) {
  if (want.kind != have.kind || want.attributes) return std::nullopt;
  auto expected = labels.LabelFor(path, want.kind);
  std::string actual = LabelOf(have);
  if (!expected || TypeOf(*expected) == TypeOf(actual)) return std::nullopt;
  return WrongLabel{*std::move(expected), std::move(actual)};
}

Result<std::vector<FilePut>> MissingDirectories(const Root& root, std::span<const FilePut> puts) {
  Ancestors ancestors(root, puts);
  for (const FilePut& put : puts) {
    if (put.want) TRY(ancestors.AddAbove(put.key), fmt::format("looking for the directory of {}", put.key));
  }
  return std::move(ancestors).Take();
}

std::string DirectoryAbove(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

}  // namespace pintle::host
