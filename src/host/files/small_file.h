// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads and replaces a small file as a whole, with owner, permissions and attributes, in an open directory.
//
// The caller has checked the open directory, which stays the same directory, whatever others do to its path.

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/result.h"
#include "base/root.h"
#include "host/files/attributes.h"

namespace pintle::host {

struct SmallFile {
  std::string contents;
  mode_t permissions = 0600;
  Owner owner;
  Attributes attributes;
};

// Returns nullopt if there is no such file.  A link, anything else but a regular file, or a file longer than
// limits::kKeys is an error.
Result<std::optional<SmallFile>> ReadSmallFile(int directory, const std::string& name);

// Replace or remove the file.  The change is durable when the function returns.  A crash leaves the old or the new
// state.
Result<> ReplaceSmallFile(int directory, const std::string& name, const SmallFile& file);
Result<> RemoveSmallFile(int directory, const std::string& name);

}  // namespace pintle::host
