// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps what was at a path before a config took it, so that it can come back when no config has the path any more.
//
// Everything is stored where the Machine Config Operator stores it: a copy in orig/, or an empty stamp in noorig/ if
// there was nothing.  These functions only read, and return the steps that keep and restore; these steps are ordinary
// entries of the file tree, and are undone and survive a crash like others.

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

inline constexpr const char* kOriginals = "/etc/machine-config-daemon/orig";
inline constexpr const char* kStamps = "/etc/machine-config-daemon/noorig";

// Return the path of a kept original, and of the stamp that stands for a missing one.
std::string OriginalOf(const std::string& path);
std::string StampOf(const std::string& path);

// Returns the steps that keep what is at the paths in `taken`, which a config is about to take; they must be put
// before the paths are.  Everything that exists is kept, unless an original or a stamp is there already.  Directories
// that the change itself makes (`made`) get a stamp, too.
Result<std::vector<FilePut>> StepsToKeep(const Root& root, BlobStore& blobs, std::span<const std::string> taken,
                                         std::span<const FilePut> made);

struct GivenBack {
  // The originals by path.  Nothing comes back to any other path.
  std::map<std::string, resource::FileEntry::State> originals;
  std::vector<FilePut> afterwards;  // Steps that remove what was kept, and our directories that get empty.
};

// Returns what comes back to the paths in `given_back`, which the new config does not have; `wanted` are all that it
// has. It is an error if a file would have to come back where a directory is wanted.
Result<GivenBack> FindOriginals(const Root& root, BlobStore& blobs, std::span<const std::string> given_back,
                                std::span<const std::string> wanted);

}  // namespace pintle::host
