// SPDX-License-Identifier: Apache-2.0
#pragma once

// What was at a path before a config took it, so that it can come back when no config has the path any more.
//
// Everything is where the Machine Config Operator has it: a copy of what was there in orig/, or an empty stamp in
// noorig/ that says that nothing was.  These functions look, and say which steps keep and which bring back; the steps
// are entries of the file tree like all others, and are undone and survive a crash like them.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/root.h"
#include "host/blob_store.h"
#include "host/files.h"
#include "resource/file_entry.h"

namespace pintle::host {

inline constexpr const char* kOriginals = "/etc/machine-config-daemon/orig";
inline constexpr const char* kStamps = "/etc/machine-config-daemon/noorig";

// Where the original of a path is kept, and the stamp that says that there is none.
std::string OriginalOf(const std::string& path);
std::string StampOf(const std::string& path);

// The steps that keep what is at these paths, which a config is about to take; to be put before the paths are. Whatever
// exists is kept, except where an original or a stamp is kept already.  Directories that are `made` for the change get
// a stamp too.
Result<std::vector<FilePut>> StepsToKeep(const Root& root, BlobStore& blobs, std::span<const std::string> taken,
                                         std::span<const FilePut> made);

struct GivenBack {
  std::map<std::string, resource::FileEntry::State> originals;  // By path; where there is none, nothing comes back.
  std::vector<FilePut> afterwards;  // Removes what was kept, and directories of ours that get empty.
};

// What comes back to these paths, which a config has no more, while `wanted` are all that the new one has.  To a path
// that becomes a directory nothing can come back.
Result<GivenBack> FindOriginals(const Root& root, BlobStore& blobs, std::span<const std::string> given_back,
                                std::span<const std::string> wanted);

}  // namespace pintle::host
