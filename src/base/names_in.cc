// SPDX-License-Identifier: Apache-2.0
#include "base/names_in.h"

#include <dirent.h>

#include <cerrno>
#include <string_view>

#include "base/c_ptr.h"

namespace pintle {

Result<std::vector<std::string>> NamesIn(UniqueFd directory) {
  const CPtr<DIR, ::closedir> stream(::fdopendir(directory.get()));
  if (stream == nullptr) return Error::FromErrno("fdopendir");
  static_cast<void>(directory.Release());  // The stream closes the descriptor.
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr && errno != 0) return Error::FromErrno("readdir");
    if (entry == nullptr) return names;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
}

}  // namespace pintle
