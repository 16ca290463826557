// SPDX-License-Identifier: Apache-2.0
#pragma once

// Entries of the file tree as they are: looking at them, and comparing them with what is wanted.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/root.h"
#include "host/blob_store.h"
#include "host/selinux.h"
#include "resource/file_entry.h"
#include "resource/resource.h"

namespace pintle::host {

using FilePut = resource::Put<resource::FileEntry>;

// All that a Put can set, as it is now; owners by number.  A device node, socket or named pipe is an error: such are
// not ours.  Who looks at many takes an Observer.
Result<std::optional<resource::FileEntry::State>> Observe(const Root& root, const std::string& path);

// The same, with the contents added to the store.
Result<std::optional<resource::FileEntry::State>> ObserveAndKeep(const Root& root, BlobStore& blobs,
                                                                 const std::string& path);

// Whether something is as it is wanted.  Of owners the numbers count; permissions of links do not; attributes count if
// some are wanted.
bool Matches(const resource::FileEntry::State& want, const resource::FileEntry::State& have);

// What the policy has for an entry that is labelled as something else.
struct WrongLabel {
  std::string expected;
  std::string is;  // Empty: it has none.
};

// Only the type of a label counts, as for restorecon(8): an admin's own hands leave other users in it.  Nothing where
// the attributes themselves are wanted, or the policy has no label.
std::optional<WrongLabel> FindWrongLabel(const Labels& labels, const std::string& path,
                                         const resource::FileEntry::State& want,
                                         const resource::FileEntry::State& have);

// The directories that must be made before these can be put: each once, those above first, 0755 and root's.  What is
// among `puts` as a directory is not told again.  Something else in the place of a directory is an error, unless it is
// removed by one of them.
Result<std::vector<FilePut>> MissingDirectories(const Root& root, std::span<const FilePut> puts);

// "/etc" of "/etc/motd", "/" of "/etc".
std::string DirectoryAbove(const std::string& path);

}  // namespace pintle::host
