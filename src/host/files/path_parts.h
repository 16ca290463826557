// SPDX-License-Identifier: Apache-2.0
#pragma once

// Split a path into the directory of an entry and the entry's name: "/etc/motd" into "/etc" and "motd".

#include <string_view>

namespace pintle::host {

constexpr std::string_view FolderOf(std::string_view path) { return path.substr(0, path.rfind('/')); }
constexpr std::string_view NameIn(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace pintle::host
