// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records the states of files when they were last read, so that unchanged files are not read again.
//
// A file counts as unchanged if it has the same fingerprint (fingerprint.h).  It is recorded only if it had not changed
// for a while when it was read.  The record does not depend on the config, so it stays valid when another config is
// wanted.
//
// Writes through a memory mapping, or to the disk below the file system, may leave the ctime unchanged for a while.
// Only callers that use no record notice such writes at once.

#include <sys/stat.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"
#include "base/result.h"
#include "base/root.h"
#include "host/files/fingerprint.h"
#include "resource/file_entry.h"

namespace pintle::host {

// The file with the record, which is valid during this boot.
inline constexpr const char* kSeenFilesPath = "/run/pintle/seen-files";

// A file is recorded only if it has not changed for this time, which is longer than a tick of any file system's clock.
inline constexpr std::chrono::seconds kTimeAtRest(3);

class SeenFiles {
 public:
  using State = resource::FileEntry::State;

  // `clock` must outlive this object.
  explicit SeenFiles(const Clock& clock) : clock_(&clock) {}

  // Returns the recorded state of a file if the file still has this status.  Otherwise the caller reads the file and
  // calls Remember().  Recall() keeps the time for Remember(), which needs to know when the reading began.
  std::optional<State> Recall(const std::string& path, const struct stat& status);

  // Records a file, unless it has changed too recently or has attributes other than an SELinux label.  `status` must be
  // from before the file was read.
  void Remember(const std::string& path, const struct stat& status, const State& state);

  // Loads a saved record.  If the saved record is damaged, or other users may write or read it, the result is empty.
  static SeenFiles Load(const Root& root, const std::string& path, const Clock& clock);

  // Saves the files for which Recall() or Remember() was called since the record was loaded.  The saved record must not
  // outlive the boot: another operating system may change the disk and set any times.
  Result<> Save(const Root& root, const std::string& path) const;

  // Returns the fingerprint of a file that was recorded, after Recall() has returned its state or Remember() was called
  // for it.
  std::optional<Fingerprint> FingerprintOf(const std::string& path) const;

  std::size_t size() const { return files_.size(); }

 private:
  struct Seen {
    Fingerprint fingerprint;
    std::string sha256;
    std::string label;          // Encoded as in State; empty if there is none.
    bool is_asked_for = false;  // Recall() or Remember() was called for it, so Save() keeps it.
  };

  bool Add(std::string_view line);

  const Clock* clock_;
  WallTime began_{};         // The time at which the caller began to read the current file.
  bool is_changed_ = false;  // True if a file was recorded or forgotten since the record was loaded.
  std::unordered_map<std::string, Seen> files_;
};

}  // namespace pintle::host
