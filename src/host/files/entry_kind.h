// SPDX-License-Identifier: Apache-2.0
#pragma once

// Translates the file type in a mode_t.

#include <fmt/core.h>
#include <sys/stat.h>

#include <string_view>

#include "base/result.h"
#include "resource/file_entry.h"

namespace pintle::host {

// Returns the name of a file type that no config can have.
inline std::string_view NameOfUnmanagedKind(mode_t mode) {
  if (S_ISBLK(mode) || S_ISCHR(mode)) return "device node";
  if (S_ISSOCK(mode)) return "socket";
  if (S_ISFIFO(mode)) return "named pipe";
  return "entry of an unknown kind";
}

// Returns an error for anything but a file, a directory or a link.
inline Result<resource::EntryKind> KindOf(mode_t mode) {
  if (S_ISREG(mode)) return resource::EntryKind::kFile;
  if (S_ISDIR(mode)) return resource::EntryKind::kDirectory;
  if (S_ISLNK(mode)) return resource::EntryKind::kLink;
  return Error(ErrorKind::kInvalid,
               fmt::format("there is a {} in its place, which is neither a file, a directory nor a link: move it away",
                           NameOfUnmanagedKind(mode)));
}

}  // namespace pintle::host
