// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes a complete new file, directory or link under a temporary name.
//
// The directory must be one in which only we can change names (workspaces.h).  Otherwise someone could replace the new
// entry before its owner is set.

#include <string>

#include "base/result.h"
#include "base/root.h"
#include "base/unique_fd.h"
#include "host/files/attributes.h"
#include "host/files/blob_store.h"
#include "host/files/directories.h"
#include "resource/file_entry.h"

namespace pintle::host {

struct WantedAttributes {
  Attributes attributes;
  OtherAttributes others = OtherAttributes::kKeep;
};

struct NewEntry {
  Identity identity;
  UniqueFd fd;  // The caller must sync this descriptor.  It is empty for a link, which is synced with its directory.
};

// Makes the entry under TemporaryNameOf(name).  Removes an entry that an earlier attempt has left under that name.
Result<NewEntry> MakeEntry(int directory, const std::string& name, const resource::FileEntry::State& want,
                           const WantedAttributes& wanted_attributes, const BlobStore& blobs);

// Sets owner, permissions and attributes of an open file or directory, and returns its identity.
Result<Identity> SetMetadata(int fd, const resource::FileEntry::State& want, const WantedAttributes& wanted_attributes);

}  // namespace pintle::host
