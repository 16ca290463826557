// SPDX-License-Identifier: Apache-2.0
#pragma once

// Splits a path into the folder of an entry and the entry's name.

#include <string_view>

namespace pintle::host {

constexpr std::string_view FolderOf(std::string_view path) { return path.substr(0, path.rfind('/')); }
constexpr std::string_view NameIn(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace pintle::host
