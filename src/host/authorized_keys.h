// SPDX-License-Identifier: Apache-2.0
#pragma once

// The file with the SSH keys that configs give a user: .ssh/authorized_keys.d/ignition in the home folder.
//
// The home folder belongs to the user, who may put links into it.  So we enter it with the user's rights and follow
// no links.  We write nothing that the user could not write.  A link in the place of a folder is an error that names
// the link to remove.
//
// A folder that belongs to someone else, such as a .ssh that root made, is of no use to the user.  Like the Machine
// Config Operator's daemon, we replace it when there are keys to write.  But we do not remove it: we rename it to
// ".ssh.before-pintle", and rename it back when the change is undone.

#include <optional>
#include <string>

#include "base/result.h"
#include "base/root.h"
#include "host/files/selinux.h"
#include "resource/authorized_keys.h"
#include "resource/resource.h"

namespace pintle::host {

// Returns nullopt if neither the file nor any of its folders exists, or if there is no such user.
Result<std::optional<resource::AuthorizedKeys::State>> ObserveAuthorizedKeys(const Root& root, const std::string& user);

// Missing folders are made with mode 0700.  An empty list of keys empties an existing file, but creates no file.
// If `put.want` is nullopt or has `folders`, the file is removed.  Then its folders are removed if they are empty,
// except for the outermost `folders` of them.
//
// Keys for a user that does not exist are an error of the kind kNotFound.  The Machine Config Operator skips such keys;
// a caller can skip them, too, and report that they were skipped.  If a user does not exist and gets no keys, nothing
// is done.
Result<> PutAuthorizedKeys(const Root& root, const resource::Put<resource::AuthorizedKeys>& put,
                           const Labels& labels = Labels::OfThisMachine());

// Returns whether `have` is as `want` demands.  A missing file equals an empty one.
bool Matches(const std::optional<resource::AuthorizedKeys::State>& want,
             const std::optional<resource::AuthorizedKeys::State>& have);

}  // namespace pintle::host
