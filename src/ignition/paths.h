// SPDX-License-Identifier: Apache-2.0
#pragma once

// Paths as they stand in configs: absolute, with nothing in them that could be left out.

#include <string>
#include <string_view>

namespace pintle::ignition {

// The shortest way to write a path, by its letters alone: no "." and "..", no "/" too many.
std::string CleanPath(std::string_view path);

// One path behind another, cleaned.
std::string JoinPath(std::string_view above, std::string_view below);

inline bool IsAbsolute(std::string_view path) { return path.starts_with('/'); }

// What is behind the last dot of the last part, with the dot: ".service".
std::string_view ExtensionOf(std::string_view path);

// Why this cannot be the path of a node, in Ignition's words; empty when it can.
std::string_view PathProblem(std::string_view path);

}  // namespace pintle::ignition
