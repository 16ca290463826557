// SPDX-License-Identifier: Apache-2.0
#pragma once

// A file, directory or link made new, with all that belongs to it, under a name that nobody looks at yet.
//
// The directory that it is made in must be one in which nobody else can change names: what is made there is what its
// name means when it gets its owner.

#include <string>

#include "base/result.h"
#include "base/root.h"
#include "base/unique_fd.h"
#include "host/attributes.h"
#include "host/blob_store.h"
#include "host/directories.h"
#include "resource/file_entry.h"

namespace pintle::host {

struct AttributeGoal {
  Attributes attributes;
  OtherAttributes others = OtherAttributes::kKeep;
};

struct NewEntry {
  Identity identity;
  UniqueFd fd;  // Still to be synced; none for a link, which is synced with its directory.
};

// Under the NameBeside() of a name.  What an earlier attempt left there is removed.
Result<NewEntry> MakeEntry(int directory, const std::string& name, const resource::FileEntry::State& want,
                           const AttributeGoal& goal, const BlobStore& blobs);

// Owner, permissions and attributes of what is open.
Result<Identity> SetAll(int fd, const resource::FileEntry::State& want, const AttributeGoal& goal);

}  // namespace pintle::host
