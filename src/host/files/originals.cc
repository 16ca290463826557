// SPDX-License-Identifier: Apache-2.0
#include "host/files/originals.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <climits>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/digest.h"

namespace pintle::host {
namespace {

using resource::EntryKind;
using FileState = resource::FileEntry::State;

// OSTree keeps the OS's defaults for /etc here.
constexpr std::string_view kDefaultsOfTheOs = "/usr/etc";

// Returns the path of a record about `path` below the directory `top`.  If the name with the ending would be too long,
// the name is replaced by its digest.  The Machine Config Operator fails to make such files, so it has no such records.
std::string RecordBelow(std::string_view top, const std::string& path, std::string_view ending) {
  const std::size_t begin = path.rfind('/') + 1;
  std::string name = path.substr(begin);
  if (name.size() + ending.size() > NAME_MAX) name = Sha256(name).hex();
  return fmt::format("{}{}{}{}", top, path.substr(0, begin), name, ending);
}

Result<bool> ExistsIn(const Root& root, const std::string& path) { return TRY(root.Status(path)).has_value(); }

class OriginalKeeper {
 public:
  OriginalKeeper(const Root& root, BlobStore& blobs) : root_(root), blobs_(blobs) {}

  Result<> Keep(const std::string& path) {
    if (TRY(HasRecord(path))) return {};
    auto state = TRY(ObserveAndKeep(root_, blobs_, path));
    if (!state) return Stamp(path);
    steps_.push_back({KeptOriginalPath(path), std::move(state)});
    return {};
  }

  Result<> StampMadeDirectory(const std::string& directory) {
    if (TRY(HasRecord(directory))) return {};
    return Stamp(directory);
  }

  // Returns the steps, preceded by steps that make missing directories for the records.  These directories are ours and
  // need no stamps.
  Result<std::vector<FilePut>> Take() && {
    std::vector<FilePut> all = TRY(MissingDirectories(root_, steps_));
    std::move(steps_.begin(), steps_.end(), std::back_inserter(all));
    return all;
  }

 private:
  // Returns whether the path has a stamp or a kept original.
  Result<bool> HasRecord(const std::string& path) const {
    return TRY(ExistsIn(root_, StampPath(path))) || TRY(ExistsIn(root_, KeptOriginalPath(path)));
  }

  Result<> Stamp(const std::string& path) {
    FileState stamp;
    stamp.sha256 = TRY(blobs_.Add(""));
    stamp.permissions = 0644;
    steps_.push_back({StampPath(path), std::move(stamp)});
    return {};
  }

  const Root& root_;
  BlobStore& blobs_;
  std::vector<FilePut> steps_;
};

class OriginalFinder {
 public:
  OriginalFinder(const Root& root, BlobStore& blobs, std::span<const std::string> wanted)
      : root_(root), blobs_(blobs), wanted_(wanted.begin(), wanted.end()) {
    for (const std::string& path : wanted) AddAbove(path, needed_);
  }

  Result<> Find(const std::string& path) {
    const std::string stamp = StampPath(path);
    if (needed_.contains(path)) return FindOriginalDirectory(path);
    if (TRY(ExistsIn(root_, stamp))) {
      Remove(stamp);
      gone_.insert(path);
      return {};
    }
    const std::string original = KeptOriginalPath(path);
    if (auto state = TRY(ObserveAndKeep(root_, blobs_, original))) {
      found_.originals.emplace(path, *std::move(state));
      Remove(original);
      return {};
    }
    if (!TRY(FindDefault(path))) gone_.insert(path);
    return {};
  }

  // Adds steps that remove the directories that we have made and that become empty, the deepest first.
  Result<> FindEmptied() {
    std::unordered_set<std::string> above;
    for (const std::string& path : gone_) AddAbove(path, above);
    std::vector<std::string> directories(above.begin(), above.end());
    std::sort(directories.begin(), directories.end(), std::greater<>());
    for (const std::string& directory : directories) {
      const std::string stamp = StampPath(directory);
      if (needed_.contains(directory) || wanted_.contains(directory) || !TRY(ExistsIn(root_, stamp))) continue;
      if (!TRY(BecomesEmpty(directory))) continue;
      gone_.insert(directory);
      found_.afterwards.push_back({directory, std::nullopt});
      Remove(stamp);
    }
    return {};
  }

  // Also adds steps that remove the directories of the originals and stamps.  Directories that are not empty stay.
  RestoredOriginals Take() && {
    std::unordered_set<std::string> above;
    for (const FilePut& put : removed_) AddAbove(put.key, above);
    std::vector<std::string> directories;
    for (const std::string& directory : above) {
      const bool is_below = directory.starts_with(kOriginalsDirectory) || directory.starts_with(kStampsDirectory);
      if (is_below && directory != kOriginalsDirectory && directory != kStampsDirectory)
        directories.push_back(directory);
    }
    std::sort(directories.begin(), directories.end(), std::greater<>());
    std::move(removed_.begin(), removed_.end(), std::back_inserter(found_.afterwards));
    for (std::string& directory : directories) found_.afterwards.push_back({std::move(directory), std::nullopt});
    return std::move(found_);
  }

 private:
  // Finds the original of a path where the new config needs a directory.  The path's stamp is left, since it now
  // records that we have made the directory.
  Result<> FindOriginalDirectory(const std::string& path) {
    if (TRY(ExistsIn(root_, StampPath(path)))) return {};
    const std::string original = KeptOriginalPath(path);
    auto state = TRY(ObserveAndKeep(root_, blobs_, original));
    if (!state) return {};
    if (state->kind != EntryKind::kDirectory) {
      return Error(
          ErrorKind::kInvalid,
          fmt::format("{} has to be a directory, but its original, which is kept as {}, is something else: remove "
                      "the original if it is not needed any more",
                      path, original));
    }
    found_.originals.emplace(path, *std::move(state));
    Remove(original);
    return {};
  }

  void Remove(std::string kept) { removed_.push_back({std::move(kept), std::nullopt}); }

  // A path of the machine's first config has neither an original nor a stamp, since that config was applied by
  // Ignition.  So the OS's default is restored there.
  Result<bool> FindDefault(const std::string& path) {
    if (!path.starts_with("/etc/")) return false;
    auto state = TRY(ObserveAndKeep(root_, blobs_, std::string(kDefaultsOfTheOs) + path.substr(4)));
    if (!state) return false;
    state->attributes.reset();  // The default's label is that of /usr/etc, and the file gets the label of its place.
    found_.originals.emplace(path, *std::move(state));
    return true;
  }

  Result<bool> BecomesEmpty(const std::string& directory) const {
    const auto status = TRY(root_.Status(directory));
    if (!status) return true;
    if (!S_ISDIR(status->st_mode)) return false;
    const auto names = TRY(root_.List(directory));
    return std::all_of(names.begin(), names.end(),
                       [&](const std::string& name) { return gone_.contains(directory + "/" + name); });
  }

  static void AddAbove(const std::string& path, std::unordered_set<std::string>& directories) {
    for (std::string above = DirectoryAbove(path); above != "/" && directories.insert(above).second;) {
      above = DirectoryAbove(above);
    }
  }

  const Root& root_;
  BlobStore& blobs_;
  std::unordered_set<std::string> wanted_;
  std::unordered_set<std::string> needed_;  // Directories above wanted paths.
  std::unordered_set<std::string> gone_;    // Paths that will not exist after the change.
  std::vector<FilePut> removed_;            // The steps that remove originals and stamps.
  RestoredOriginals found_;
};

}  // namespace

std::string KeptOriginalPath(const std::string& path) { return RecordBelow(kOriginalsDirectory, path, ".mcdorig"); }
std::string StampPath(const std::string& path) { return RecordBelow(kStampsDirectory, path, ".mcdnoorig"); }

Result<std::vector<FilePut>> StepsToKeep(const Root& root, BlobStore& blobs, std::span<const std::string> taken,
                                         std::span<const FilePut> made) {
  OriginalKeeper keeper(root, blobs);
  for (const FilePut& put : made) TRY(keeper.StampMadeDirectory(put.key));
  for (const std::string& path : taken) TRY(keeper.Keep(path));
  return std::move(keeper).Take();
}

Result<RestoredOriginals> FindOriginals(const Root& root, BlobStore& blobs, std::span<const std::string> released,
                                        std::span<const std::string> wanted) {
  OriginalFinder finder(root, blobs, wanted);
  for (const std::string& path : released) TRY(finder.Find(path));
  TRY(finder.FindEmptied());
  return std::move(finder).Take();
}

}  // namespace pintle::host
