// SPDX-License-Identifier: Apache-2.0
#include "host/accounts.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

namespace pintle::host {
namespace {

// A line of passwd is NAME:PASSWORD:UID:GID:COMMENT:HOME:SHELL, and a line of group is NAME:PASSWORD:GID:MEMBERS.
constexpr std::size_t kIdsAt = 2;  // The index of the first id in both.

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::optional<std::uint32_t> ParseId(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  // In system calls, the largest number means "no id".
  if (error != std::errc() || end != text.data() + text.size() || number == UINT32_MAX) return std::nullopt;
  return number;
}

// Returns the fields of the first line for `name` that has at least `min_fields` fields, and `id_count` valid ids.
Result<std::optional<std::vector<std::string>>> FindFields(const Root& root, std::string_view file,
                                                           std::string_view name, std::size_t min_fields,
                                                           std::size_t id_count) {
  for (const std::string_view folder : {"/etc/", "/usr/lib/"}) {
    const std::string path = std::string(folder) + std::string(file);
    if (!TRY(root.Status(path))) continue;
    const std::string text = TRY(root.ReadFile(path));
    for (const std::string_view line : Split(text, '\n')) {
      const std::vector<std::string_view> parts = Split(line, ':');
      if (parts.size() < min_fields || parts.front() != name) continue;
      const auto first = parts.begin() + static_cast<std::ptrdiff_t>(kIdsAt);
      const bool has_ids = std::all_of(first, first + static_cast<std::ptrdiff_t>(id_count),
                                       [](std::string_view part) { return ParseId(part).has_value(); });
      if (has_ids) return std::vector<std::string>(parts.begin(), parts.end());
    }
  }
  return std::nullopt;
}

}  // namespace

Result<std::optional<Account>> FindUser(const Root& root, const std::string& name) {
  if (name.empty()) return std::nullopt;
  const auto line = TRY(FindFields(root, "passwd", name, 6, 2), "looking for the user " + name);
  if (!line) return std::nullopt;
  return Account{*ParseId((*line)[2]), *ParseId((*line)[3]), (*line)[5]};
}

Result<std::optional<gid_t>> FindGroup(const Root& root, const std::string& name) {
  if (name.empty()) return std::nullopt;
  const auto line = TRY(FindFields(root, "group", name, 3, 1), "looking for the group " + name);
  if (!line) return std::nullopt;
  return *ParseId((*line)[2]);
}

}  // namespace pintle::host
