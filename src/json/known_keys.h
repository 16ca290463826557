// SPDX-License-Identifier: Apache-2.0
#pragma once

// The words that are keys in the documents that people and clusters give us: Ignition, Butane, the objects of
// Kubernetes, kubeconfigs.
//
// What stands in the place of a key may be anything, a password too, so that messages show these words only.  Case and
// the signs between words do not count: Butane writes ssh_authorized_keys what is sshAuthorizedKeys in Ignition.

#include <string>
#include <string_view>

namespace pintle::json {

// Whether it can be the kind of an object: a few letters, and nothing else.
bool IsPlainName(std::string_view name);

bool IsKnownKey(std::string_view key);

// The path of a problem for people, "$.storage.files.0.?": what is neither a known key nor a number is not shown.
std::string ShownPlace(std::string_view path);

// What is wrong at a path, without the key that it leads to if that is not known: "Unused key" instead of "Unused key
// hunter2".  The word that was meant is said when only one letter of it is wrong, or two are swapped.
std::string WithoutUnknownKey(std::string_view path, std::string what);

}  // namespace pintle::json
