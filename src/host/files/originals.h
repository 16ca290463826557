// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps the original of each path that a config takes, so that it can be restored when no config has the path any more.
//
// The original is the entry that was at the path before a config took it.  It is stored where the Machine Config
// Operator stores it: a copy in orig/, or an empty stamp in noorig/ if there was no entry.  These functions only read,
// and return the steps that keep and restore originals.  The steps put ordinary entries of the file tree, so they can
// be undone and survive a crash.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/root.h"
#include "host/files/blob_store.h"
#include "host/files/files.h"
#include "resource/file_entry.h"

namespace pintle::host {

inline constexpr const char* kOriginalsDirectory = "/etc/machine-config-daemon/orig";
inline constexpr const char* kStampsDirectory = "/etc/machine-config-daemon/noorig";

// Return the path of the kept original, and the path of the stamp that records that there was no original.
std::string KeptOriginalPath(const std::string& path);
std::string StampPath(const std::string& path);

// Returns the steps that keep the originals of the paths in `taken`, which a config is about to take.  The steps must
// be put before anything is put at these paths.  A path that has a kept original or a stamp already gets no step.  The
// directories in `made`, which the change itself makes, also get stamps.
Result<std::vector<FilePut>> StepsToKeep(const Root& root, BlobStore& blobs, std::span<const std::string> taken,
                                         std::span<const FilePut> made);

struct RestoredOriginals {
  // The originals by path.  For a path that has neither a kept original nor a stamp, this is the OS's default, if there
  // is one.  Paths that are not in this map are only removed.
  std::map<std::string, resource::FileEntry::State> originals;
  // The steps that remove the kept originals and stamps, and the directories of ours that become empty.  These
  // steps must be put last.
  std::vector<FilePut> afterwards;
};

// Returns the originals of the paths in `released`, which the new config does not have any more.  `wanted` are all
// paths of the new config.  It is an error if `wanted` has paths below a path whose original is no directory.
Result<RestoredOriginals> FindOriginals(const Root& root, BlobStore& blobs, std::span<const std::string> released,
                                        std::span<const std::string> wanted);

}  // namespace pintle::host
