// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records what files were when they were last read, so that files that nobody has touched since are not read again.
//
// A file counts as unchanged if its inode, its size and its times are unchanged; nobody can set one of these times,
// ctime.  But writes within one tick of the file system's clock leave the same ctime, so a file is recorded only if it
// had not changed for a while when it was read.  The record has the file's state, and not whether that was as wanted,
// so it stays valid when a config wants another state.
//
// Writes through a memory mapping, or to the disk below the file system, may leave ctime unchanged for a while:
// callers that want to be sure start with an empty record from time to time.

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

// The file in which a machine keeps the record of this boot.
inline constexpr const char* kSeenFiles = "/run/pintle/seen-files";

// This is coarser than any file system's clock.
inline constexpr std::chrono::seconds kRest(3);

class SeenFiles {
 public:
  using State = resource::FileEntry::State;

  // `clock` must outlive it.
  explicit SeenFiles(const Clock& clock) : clock_(&clock) {}

  // Returns the recorded state of a file if it still has this status.  Otherwise the caller reads the file, and the
  // time of that is noted here.
  std::optional<State> Recall(const std::string& path, const struct stat& status);

  // `status` must be from before the file was read.
  void Remember(const std::string& path, const struct stat& status, const State& state);

  // Loads a saved record.  One that is damaged, or that others may write or read, is ignored.
  static SeenFiles Load(const Root& root, const std::string& path, const Clock& clock);

  // Saves the files that were asked for since the record was loaded.  The saved record must not outlive the boot:
  // another system may change the disk and leave any times.
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
    std::string label;  // Encoded as in State; empty if there is none.
    bool is_asked_for = false;
  };

  bool Add(std::string_view line);

  const Clock* clock_;
  WallTime began_{};
  bool is_changed_ = false;
  std::unordered_map<std::string, Seen> files_;
};

}  // namespace pintle::host
