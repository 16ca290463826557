// SPDX-License-Identifier: Apache-2.0
#pragma once

// Paths in configs, which must be absolute and in their shortest form.

#include <string>
#include <string_view>

namespace pintle::ignition {

// Returns the shortest form of a path, without "." and ".." and superfluous slashes, and without looking at a disk.
std::string CleanPath(std::string_view path);

// Joins two paths and cleans the result.
std::string JoinPath(std::string_view above, std::string_view below);

inline bool IsAbsolute(std::string_view path) { return path.starts_with('/'); }

// Returns the extension of the last part with its dot, such as ".service", or "".
std::string_view ExtensionOf(std::string_view path);

// Returns in Ignition's words why this cannot be the path of a file, directory or link, or "" if it can.
std::string_view PathProblem(std::string_view path);

}  // namespace pintle::ignition
