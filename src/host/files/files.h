// SPDX-License-Identifier: Apache-2.0
#pragma once

// Observes entries of the file tree and compares them with wanted states.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/root.h"
#include "host/files/blob_store.h"
#include "host/files/selinux.h"
#include "resource/file_entry.h"
#include "resource/resource.h"

namespace pintle::host {

using FilePut = resource::Put<resource::FileEntry>;

// Returns the current state of everything that a Put can set, with owners as numbers.  Returns nullopt if the path does
// not exist.  A device node, socket or named pipe is an error, since configs cannot have them.  To observe many paths,
// use an Observer.
Result<std::optional<resource::FileEntry::State>> Observe(const Root& root, const std::string& path);

// Like Observe(), but also adds the contents to the store.
Result<std::optional<resource::FileEntry::State>> ObserveAndKeep(const Root& root, BlobStore& blobs,
                                                                 const std::string& path);

// Returns whether `have` is as `want` demands.  Owners are compared by number, permissions of links are ignored, and
// attributes are compared only if `want.attributes` is set.
bool Matches(const resource::FileEntry::State& want, const resource::FileEntry::State& have);

// The SELinux label that the policy has for an entry, and the entry's different label.
struct WrongLabel {
  std::string expected;
  std::string actual;  // The entry's own label, or "".
};

// Compares only the type in the label, as restorecon(8) does, since an edit by an admin leaves another SELinux user in
// the label.  Returns nullopt if the types are equal, if the policy has no label for the path, if `want` has
// attributes, or if the entry has another kind than `want`.
std::optional<WrongLabel> FindWrongLabel(const Labels& labels, const std::string& path,
                                         const resource::FileEntry::State& want,
                                         const resource::FileEntry::State& have);

// Returns the directories that must be made before `puts` can be put: each once, parents first, owned by root and with
// mode 0755.  Directories that `puts` themselves make are left out.  If something else is in the place of a directory,
// that is an error, unless one of `puts` removes it.
Result<std::vector<FilePut>> MissingDirectories(const Root& root, std::span<const FilePut> puts);

// Returns "/etc" for "/etc/motd", and "/" for "/etc".
std::string DirectoryAbove(const std::string& path);

}  // namespace pintle::host
