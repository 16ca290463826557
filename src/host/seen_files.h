// SPDX-License-Identifier: Apache-2.0
#pragma once

// What files were when they were last read, so that those that nobody has touched since are not read again.
//
// A file is the same as long as its inode, its size and its times are, of which nobody can set ctime.  But what is
// written within one tick of the file system's clock leaves the same ctime, so that a file counts as seen only if it
// had rested for a while when it was read.  What is remembered is what the file is, and not that it was as wanted: a
// config that wants something else is answered right.
//
// What is written through a mapping of the file's memory, or to the disk below the file system, may leave no new ctime
// for a while: whoever wants to be sure begins with none seen, once in a while.

#include <sys/stat.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"
#include "base/result.h"
#include "base/root.h"
#include "resource/file_entry.h"

namespace pintle::host {

// Where a machine keeps those of this boot.
inline constexpr const char* kSeenFiles = "/run/pintle/seen-files";

// Coarser than any file system's clock.
inline constexpr std::chrono::seconds kRest(3);

class SeenFiles {
 public:
  using State = resource::FileEntry::State;

  // `clock` must outlive it.
  explicit SeenFiles(const Clock& clock) : clock_(&clock) {}

  // What a file is that has this status now, if it is the one that was read.  Otherwise it is going to be read, and
  // that begins now.
  std::optional<State> Recall(const std::string& path, const struct stat& status);

  // `status` is from before it was read.
  void Remember(const std::string& path, const struct stat& status, const State& state);

  // What was saved.  A file that is broken, or is not its reader's alone, is as good as none.
  static SeenFiles Load(const Root& root, const std::string& path, const Clock& clock);

  // Keeps those that were asked for since it was loaded.  It must not outlive the boot: what is done to a disk while
  // another system runs may leave any times.
  Result<> Save(const Root& root, const std::string& path) const;

  std::size_t size() const { return files_.size(); }

 private:
  struct Stamp {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t size = 0;
    std::int64_t modified = 0;  // In nanoseconds.
    std::int64_t changed = 0;

    static Stamp Of(const struct stat& status);
    bool operator==(const Stamp&) const = default;
  };
  struct Seen {
    Stamp stamp;
    std::string sha256;
    std::string label;  // As State has it; empty: it has none.
    bool is_asked_for = false;
  };

  bool Add(std::string_view line);

  const Clock* clock_;
  WallTime began_{};
  bool is_changed_ = false;
  std::unordered_map<std::string, Seen> files_;
};

}  // namespace pintle::host
