// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reports that a managed path may have changed, so that the agent looks for drift.
//
// The directory that holds a path is watched, and not the path itself.  This watch reports when the path is made,
// removed or renamed, and when its contents, mode, owner or attributes change.  The directories on the way to a path
// are watched as well, and so are those that hold a symlink on the way, but only for entries that are made, removed or
// renamed.  After such an event, all paths are followed anew, as far as they exist.  If a path itself is a symlink, its
// target is not watched.
//
// The inotify(7) interface does not report a change through a hard link in another directory, a file system that is
// mounted over a directory, or a change by another host on a network file system.  The full check finds these.

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

// A burst of changes is reported this long after its first one.
inline constexpr auto kDriftDelay = std::chrono::milliseconds(100);
// Directories that could not be watched are tried again after this time.
inline constexpr auto kWatchRetry = std::chrono::minutes(1);

class DriftWatch {
 public:
  // Watches paths below the root, all of them absolute.  `changed` is called on the loop's thread, once for a burst of
  // changes; the call may destroy the watch.  A look that begins in that call sees all changes so far, and a later
  // change leads to another call.
  static Result<std::unique_ptr<DriftWatch>> Create(event::Loop& loop, const Root& root, std::vector<std::string> paths,
                                                    std::function<void()> changed);
  DriftWatch(const DriftWatch&) = delete;
  DriftWatch& operator=(const DriftWatch&) = delete;

  // Returns the reason why not all paths are watched, for example that there are no inotify watches left.  Returns
  // nullopt if all paths are watched, or if only one attempt has failed so far.  As long as there is a problem,
  // `changed` is called every kWatchRetry, after another attempt.
  const std::optional<Error>& problem() const { return problem_; }
  // Returns whether all paths are watched and no attempt is under way.
  bool is_armed() const { return !attempt_ && failures_ == 0; }

 private:
  struct Name {
    std::string text;
    bool is_managed = false;
    bool is_on_the_way = false;  // The directory or symlink is on the way to a path, or would be if it existed.
  };
  struct Directory {
    std::vector<Name> names;  // The names are sorted.
    std::uint32_t mask = 0;
    std::optional<event::InotifyWatch> watch;
  };
  // The keys are real paths, without a slash at the end.
  using Directories = std::map<std::string, Directory>;
  // An attempt to follow all paths, which may take several turns of the loop.
  struct Attempt {
    std::size_t next = 0;  // The index of the next path.
    Directories directories;
    std::size_t made = 0;  // The number of watches made in this turn.
    // The directory part of the previous path; parent_directory is the result of following it.
    std::string parent;
    Directory* parent_directory = nullptr;
    std::optional<Error> problem;
  };

  DriftWatch(event::Loop& loop, const Root& root, std::vector<std::string> paths, std::function<void()> changed);

  void OnEvent(const Directory& directory, const event::FileEvent& happening);
  void ReportSoon();
  void Report();
  void Retry();

  bool Arm();
  Result<> Follow(const std::string& path);
  Result<Directory*> Reach(const std::string& path);
  Result<Directory*> WatchDirectory(const std::string& place, std::uint32_t mask);
  static Name& NameIn(Directory& directory, std::string_view text);

  event::Loop& loop_;
  const Root& root_;
  const std::vector<std::string> paths_;
  const std::function<void()> changed_;
  Directories directories_;
  std::optional<Attempt> attempt_;
  bool is_stale_ = false;  // A directory or link on the way to a path has changed since the path was followed.
  int failures_ = 0;       // The number of failures in a row.
  std::optional<Error> problem_;
  event::Timer report_;
  event::Timer retry_;
};

// Returns the watch's problem as a warning for a person, or no warning if there is no problem.
std::vector<std::string> WarningsOf(const DriftWatch& watch);

}  // namespace pintle::agent
