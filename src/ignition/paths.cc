// SPDX-License-Identifier: Apache-2.0
#include "ignition/paths.h"

#include <vector>

namespace pintle::ignition {

std::string CleanPath(std::string_view path) {
  if (path.empty()) return ".";
  const bool absolute = IsAbsolute(path);
  std::vector<std::string_view> parts;
  for (std::size_t start = 0; start <= path.size();) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    const std::string_view part = path.substr(start, end - start);
    start = end + 1;
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (!parts.empty() && parts.back() != "..") {
      parts.pop_back();
    } else if (!absolute) {
      parts.push_back(part);
    }
  }
  std::string clean;
  for (const std::string_view part : parts) {
    if (absolute || !clean.empty()) clean += '/';
    clean += part;
  }
  if (clean.empty()) return absolute ? "/" : ".";
  return clean;
}

std::string JoinPath(std::string_view above, std::string_view below) {
  if (above.empty() && below.empty()) return "";
  if (above.empty()) return CleanPath(below);
  if (below.empty()) return CleanPath(above);
  return CleanPath(std::string(above) + "/" + std::string(below));
}

std::string_view ExtensionOf(std::string_view path) {
  const std::size_t at = path.find_last_of("./");
  return at == std::string_view::npos || path[at] == '/' ? std::string_view() : path.substr(at);
}

namespace {

bool IsClean(std::string_view path) {
  if (path == "/") return true;
  for (std::size_t start = 1; start <= path.size();) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    const std::string_view part = path.substr(start, end - start);
    if (part.empty() || part == "." || part == "..") return false;
    start = end + 1;
  }
  return true;
}

}  // namespace

std::string_view PathProblem(std::string_view path) {
  if (path.empty()) return "path not specified";
  if (!IsAbsolute(path)) return "path not absolute";
  if (!IsClean(path)) return "path is not fully simplified";
  return "";
}

}  // namespace pintle::ignition
