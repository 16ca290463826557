// SPDX-License-Identifier: Apache-2.0
#pragma once

// The file with the SSH keys that configs give a user: .ssh/authorized_keys.d/ignition in the home folder.
//
// The home belongs to the user, who may put links into it.  So it is entered as the user would, without following one:
// what the user may not write is not written for the user, and a link in the place of a folder is an error that says
// what to remove.
//
// A folder that belongs to someone else, such as a .ssh that root made, is of no use to the user.  As with the Machine
// Config Operator's daemon it is made anew when there are keys to write; but it is not removed: it is set aside as
// ".ssh.before-pintle", and comes back when the change is undone.

#include <optional>
#include <string>

#include "base/result.h"
#include "base/root.h"
#include "host/selinux.h"
#include "resource/authorized_keys.h"
#include "resource/resource.h"

namespace pintle::host {

// Nothing where there is neither a file nor a folder for it, or no such user.
Result<std::optional<resource::AuthorizedKeys::State>> ObserveAuthorizedKeys(const Root& root, const std::string& user);

// Folders that are missing are made 0700.  An empty list leaves an empty file where there was one, and makes none where
// there was not.  To have no file is to have no folders for it either, if they are empty, but for those that `want`
// says were there.
//
// Keys for a user that does not exist are kNotFound: the Machine Config Operator skips them, and whoever calls this can
// do so too and say it; no keys for no user is what is there already.
Result<> PutAuthorizedKeys(const Root& root, const resource::Put<resource::AuthorizedKeys>& put,
                           const Labels& labels = Labels::OfThisMachine());

// Whether it is as it is wanted: to have no file is as good as an empty one.
bool Matches(const std::optional<resource::AuthorizedKeys::State>& want,
             const std::optional<resource::AuthorizedKeys::State>& have);

}  // namespace pintle::host
