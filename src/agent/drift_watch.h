// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tells that something may have happened to a managed path, so that it is time to look for drift.
//
// A change of a file, its mode, owner or attributes, and that it comes, goes or gets another name, is seen in the
// directory that holds it; so these are watched, and not the files.  The directories on the way there, and those in
// which a symlink on the way is, are watched as well for what is made, removed and renamed in them: then all paths are
// followed anew, as far as they exist.  What a path itself leads to as a symlink is not looked at.
//
// Not seen is what inotify(7) does not tell: a change by way of a hard link in another directory, a file system mounted
// over a directory, and what happens on the other side of a network.  That is left to the full check.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/root.h"
#include "event/watches.h"

namespace pintle::agent {

// From the first change of a burst until it is told of.
inline constexpr auto kDriftDelay = std::chrono::milliseconds(100);
// How often it is tried to watch what could not be watched.
inline constexpr auto kWatchRetry = std::chrono::minutes(1);

class DriftWatch {
 public:
  // Watches paths below the root, all of them absolute.  `changed` is called on the loop, once for a burst of changes;
  // it may destroy the watch.  What happened before a call is seen by whoever looks after it, and what happens later
  // leads to another call.
  static Result<std::unique_ptr<DriftWatch>> Create(event::Loop& loop, const Root& root, std::vector<std::string> paths,
                                                    std::function<void()> changed);
  DriftWatch(const DriftWatch&) = delete;
  DriftWatch& operator=(const DriftWatch&) = delete;

  // Why not everything is watched, such as too few inotify watches, when a second attempt did not help either; nothing
  // when it is.  Until then `changed` is called every kWatchRetry, after another attempt.
  const std::optional<Error>& problem() const { return problem_; }
  // Whether the last attempt is over and everything is watched.
  bool is_armed() const { return !arming_ && failures_ == 0; }

 private:
  struct Name {
    std::string text;
    bool is_managed = false;
    bool leads_on = false;  // A directory or symlink on the way of a path, or one that would be if it existed.
  };
  struct Directory {
    std::vector<Name> names;  // Sorted.
    std::uint32_t mask = 0;
    std::optional<event::InotifyWatch> watch;
  };
  // By their real paths, without a slash at the end.
  using Directories = std::map<std::string, Directory>;
  // Following all paths, which may take several turns of the loop.
  struct Arming {
    std::size_t next = 0;  // Among the paths.
    Directories directories;
    std::size_t made = 0;  // Watches in this turn.
    std::string parent;    // Of the path before, as it is written, and what that led to.
    Directory* parent_directory = nullptr;
    std::optional<Error> problem;
  };

  DriftWatch(event::Loop& loop, const Root& root, std::vector<std::string> paths, std::function<void()> changed);

  void OnHappening(const Directory& directory, const event::FileHappening& happening);
  void TellSoon();
  void Tell();
  void Retry();

  bool Arm();
  Result<> Follow(const std::string& path);
  Result<Directory*> Reach(const std::string& path);
  Result<Directory*> Watched(const std::string& place, std::uint32_t mask);
  static Name& NameIn(Directory& directory, std::string_view text);

  event::Loop& loop_;
  const Root& root_;
  const std::vector<std::string> paths_;
  const std::function<void()> changed_;
  Directories directories_;
  std::optional<Arming> arming_;
  bool is_stale_ = false;  // Something on the way of a path has changed since it was followed.
  int failures_ = 0;       // Of following the paths, in a row.
  std::optional<Error> problem_;
  event::Timer tell_;
  event::Timer retry_;
};

// What a person should know of it.
std::vector<std::string> WarningsOf(const DriftWatch& watch);

}  // namespace pintle::agent
