// SPDX-License-Identifier: Apache-2.0
#include "change/set_aside.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <utility>

#include "base/unique_fd.h"
#include "change/current_config.h"
#include "change/format.h"
#include "change/ignored.h"
#include "change/image_mode.h"
#include "change/journal.h"
#include "change/kept_policy.h"
#include "change/rejected.h"
#include "change/staged_image.h"
#include "change/state_directory.h"
#include "host/files/files.h"
#include "host/files/remedy.h"

namespace pintle::change {
namespace {

constexpr const char* kSetAside = "/var/lib/pintle/set-aside";

// A file or directory of Pintle, and a check whether it can be used.
struct KeptFile {
  const char* path;
  std::function<Result<>()> expect_usable;
};

// Returns the error of a read, if any, without the value.
template <typename T>
Result<> WithoutValue(const Result<T>& read) {
  return read ? Result<>() : Result<>(read.error());
}

std::string FileNameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

Result<> SyncDirectory(const Root& root, const std::string& path) {
  const UniqueFd directory = TRY(root.OpenFile(path, O_RDONLY | O_DIRECTORY));
  if (::fsync(directory.get()) != 0) return Error::FromErrno("fsync of the directory").While(path);
  return {};
}

// Moves an entry of any kind, and never replaces another one.
Result<> Move(const Root& root, const std::string& from, const std::string& to) {
  const std::string from_above = host::DirectoryAbove(from), to_above = host::DirectoryAbove(to);
  const UniqueFd source = TRY(root.OpenFile(from_above, O_PATH | O_DIRECTORY));
  const UniqueFd target = TRY(root.OpenFile(to_above, O_PATH | O_DIRECTORY));
  if (::renameat2(source.get(), FileNameOf(from).c_str(), target.get(), FileNameOf(to).c_str(), RENAME_NOREPLACE) !=
      0) {
    return Error::FromErrno("rename").While(fmt::format("moving {} to {}", from, to));
  }
  TRY(SyncDirectory(root, to_above));
  return SyncDirectory(root, from_above);
}

// Makes a directory that did not exist before.
Result<std::string> NewDirectory(const Root& root, WallTime now) {
  std::string time = ToRfc3339(now);
  std::erase(time, ':');
  std::string directory = fmt::format("{}/{}", kSetAside, time);
  for (int number = 2; TRY(root.Status(directory)); ++number)
    directory = fmt::format("{}/{}-{}", kSetAside, time, number);
  TRY(host::WithRemedy(root.MakeDirectories(directory, kPrivateDirectory)));
  return directory;
}

class Mover {
 public:
  Mover(const Root& root, WallTime now) : root_(root), now_(now) {}

  Result<> MoveIfUnusable(const KeptFile& kept) {
    const auto usable = kept.expect_usable();
    if (usable) return {};
    if (directory_.empty()) directory_ = TRY(NewDirectory(root_, now_));
    const std::string name = FileNameOf(kept.path);
    std::string to = fmt::format("{}/{}", directory_, name);
    auto moved = Move(root_, kept.path, to);
    if (!moved && moved.error().errno_value() == EXDEV) {
      // A file on another file system cannot be renamed into the directory, and it may be unreadable, so it cannot be
      // copied either.  It gets another name in its own directory.
      to = fmt::format("{}.{}", kept.path, FileNameOf(directory_));
      moved = Move(root_, kept.path, to);
    }
    TRY(host::WithRemedy(std::move(moved)));
    moved_.push_back({kept.path, usable.error().message(), std::move(to)});
    return {};
  }

  std::vector<SetAside> Take() && { return std::move(moved_); }

 private:
  const Root& root_;
  WallTime now_;
  std::string directory_;
  std::vector<SetAside> moved_;
};

}  // namespace

Result<std::vector<SetAside>> SetAsideUnusable(const Root& root, WallTime now) {
  Mover mover(root, now);
  const KeptFile all[] = {
      {kChangeDirectory, [&] { return Journal(root).ExpectUsable(); }},
      {kCurrentImage, [&] { return WithoutValue(ReadCurrentImage(root)); }},
      {kCurrentConfig, [&] { return WithoutValue(ReadCurrentConfig(root)); }},
      {kRejected, [&] { return WithoutValue(ReadRejected(root)); }},
      {kStagedImage, [&] { return WithoutValue(ReadStagedImage(root)); }},
      {kIgnored, [&] { return WithoutValue(ReadIgnored(root, now)); }},
      {kKeptPolicy, [&] { return WithoutValue(ReadKeptPolicy(root)); }},
      // Of the last three files, only the versions are checked.  Only the agent reads the contents of the first two of
      // them, and a damaged list of writers counts as missing.
      {format::kRegistries.path, [&] { return ExpectKnownVersion(root, format::kRegistries); }},
      {format::kHandedOver.path, [&] { return ExpectKnownVersion(root, format::kHandedOver); }},
      {format::kWriters.path, [&] { return ExpectKnownVersion(root, format::kWriters); }},
  };
  for (const KeptFile& kept : all) TRY(mover.MoveIfUnusable(kept));
  return std::move(mover).Take();
}

}  // namespace pintle::change
