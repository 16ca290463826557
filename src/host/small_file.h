// SPDX-License-Identifier: Apache-2.0
#pragma once

// A small file in a directory that is open: read and replaced as a whole, with all that belongs to it.
//
// An open directory stays the one that was looked at, whatever is done to the path that led there.

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/result.h"
#include "base/root.h"
#include "host/attributes.h"

namespace pintle::host {

struct SmallFile {
  std::string contents;
  mode_t permissions = 0600;
  Owner owner;
  Attributes attributes;
};

// Nothing if nothing is there; a link or anything but a regular file is an error.
Result<std::optional<SmallFile>> ReadSmallFile(int directory, const std::string& name);

// Durable when it returns; a crash leaves the old one or the new one.
Result<> ReplaceSmallFile(int directory, const std::string& name, const SmallFile& file);
Result<> RemoveSmallFile(int directory, const std::string& name);

}  // namespace pintle::host
