// SPDX-License-Identifier: Apache-2.0
#pragma once

// A path as the folder that something is in, and its name there.

#include <string_view>

namespace pintle::host {

constexpr std::string_view FolderOf(std::string_view path) { return path.substr(0, path.rfind('/')); }
constexpr std::string_view NameIn(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace pintle::host
