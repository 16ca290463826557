// SPDX-License-Identifier: Apache-2.0
#pragma once

// The keys of the documents that people and clusters write: Ignition, Butane, Kubernetes objects, kubeconfigs.
//
// A key in a document may be anything, even a password, so messages contain only keys from this list.  Comparisons
// ignore case, "_" and "-": Butane's ssh_authorized_keys is Ignition's sshAuthorizedKeys.

#include <string>
#include <string_view>

namespace pintle::json {

// Returns whether a name has 1 to 63 letters of ASCII and nothing else, as the kinds of objects do.
bool IsPlainName(std::string_view name);

// Returns whether the list has this key.
bool IsKnownKey(std::string_view key);

// Returns the path of a problem for a message, such as "$.storage.files.0.?": parts that are neither a known key nor
// a number become "?".
std::string PlaceForMessage(std::string_view path);

// Removes an unknown key from the end of a problem's description: "Unused key" instead of "Unused key hunter2".  If
// only one letter of the key is wrong or two are swapped, suggests the known key that was probably meant.
std::string WithoutUnknownKey(std::string_view path, std::string description);

}  // namespace pintle::json
