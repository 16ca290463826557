// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is in a place of an open directory, as far as can be seen without opening it, and whether it still is.

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "host/attributes.h"
#include "host/blob_store.h"
#include "host/directories.h"
#include "resource/file_entry.h"

namespace pintle::host {

struct Existing {
  resource::EntryKind kind = resource::EntryKind::kFile;
  std::int64_t permissions = 0;
  std::int64_t user = 0;
  std::int64_t group = 0;
  std::uint64_t size = 0;
  std::uint64_t attributes = 0;  // STATX_ATTR_...
  Identity identity;
  std::int64_t modified = 0;  // In nanoseconds.
  std::int64_t changed = 0;
};

// Nothing where nothing is; an error for what is no file, directory or link.
Result<std::optional<Existing>> FindExisting(int directory, const std::string& name);

// What someone has made of the place, and of nothing else, is a conflict.
Result<> CheckNotImmutable(std::uint64_t attributes, std::string_view what);
Result<> CheckNotMounted(const Existing& existing);

// Whether nobody has touched a file or link.  What is written within one tick of the file system's clock leaves the
// same times: of what was touched shortly before it was seen, only the contents tell.
bool IsUntouched(const Existing& was, const Existing& is);
// The same for what has got another name meanwhile, which is a touch that leaves the time of its contents.
bool IsUntouchedButRenamed(const Existing& was, const Existing& is);
// Whether it has rested since a moment, so that whoever looked at it then has seen what it is.
bool HasRestedSince(const Existing& existing, WallTime moment);

// What was found, opened so that its contents and attributes can be read.  If it is another by now, that is an error.
Result<UniqueFd> OpenExisting(const Directory& directory, const std::string& name, const Existing& existing);
OpenedAs HowOpened(resource::EntryKind kind);

// Whether what is open is in this state; of attributes, if the state has any.  `blobs` has the state's contents.
Result<bool> IsAs(const resource::FileEntry::State& state, const Existing& existing, int opened, const Attributes& have,
                  const BlobStore& blobs);

}  // namespace pintle::host
