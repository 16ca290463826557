// SPDX-License-Identifier: Apache-2.0
#pragma once

// The file with the SSH keys that configs give a user: .ssh/authorized_keys.d/ignition in the home folder.
//
// The home folder belongs to the user, who may put links into it.  So we enter it with the user's rights and follow
// no links: we write nothing that the user could not write, and a link in the place of a folder is an error that
// names what to remove.
//
// A folder that belongs to someone else, such as a .ssh that root made, is of no use to the user.  Like the Machine
// Config Operator's daemon, we replace it when there are keys to write; but instead of removing it we rename it to
// ".ssh.before-pintle", and put it back when the change is undone.

#include <optional>
#include <string>

#include "base/result.h"
#include "base/root.h"
#include "host/files/selinux.h"
#include "resource/authorized_keys.h"
#include "resource/resource.h"

namespace pintle::host {

// Returns nullopt if there is neither the file nor a folder for it, or no such user.
Result<std::optional<resource::AuthorizedKeys::State>> ObserveAuthorizedKeys(const Root& root, const std::string& user);

// Missing folders are made with mode 0700.  An empty list empties an existing file, but does not create one.  If
// `want` says that there is no file, the file is removed, and so are empty folders for it, except for the first
// `want.folders` of them.
//
// Keys for a user that does not exist are an error of the kind kNotFound: the Machine Config Operator skips them, and
// a caller can do the same and report it.  If such a user is to have no keys, there is nothing to do.
Result<> PutAuthorizedKeys(const Root& root, const resource::Put<resource::AuthorizedKeys>& put,
                           const Labels& labels = Labels::OfThisMachine());

// Returns whether the state is the wanted one, where a missing file equals an empty one.
bool Matches(const std::optional<resource::AuthorizedKeys::State>& want,
             const std::optional<resource::AuthorizedKeys::State>& have);

}  // namespace pintle::host
