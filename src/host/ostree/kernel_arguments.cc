// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/kernel_arguments.h"

#include <algorithm>
#include <unordered_set>

namespace pintle::host {
namespace {

bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

std::vector<std::string> SplitKernelArguments(std::string_view options) {
  std::vector<std::string> arguments;
  std::string argument;
  bool is_quoted = false;
  const auto end = [&] {
    if (!argument.empty()) arguments.push_back(std::move(argument));
    argument.clear();
  };
  for (const char c : options) {
    if (c == '"') is_quoted = !is_quoted;
    if (IsBlank(c) && !is_quoted) {
      end();
    } else {
      argument += c;
    }
  }
  end();
  return arguments;
}

std::vector<std::string> MergedKernelArguments(std::span<const std::string> current,
                                               std::span<const std::string> remove, std::span<const std::string> add) {
  const std::unordered_set<std::string> removed(remove.begin(), remove.end());
  std::unordered_set<std::string> missing(add.begin(), add.end());
  const auto is_wanted = [&, wanted = missing](const std::string& argument) { return wanted.contains(argument); };
  std::vector<std::string> merged;
  for (const std::string& argument : current) {
    const bool is_kept = is_wanted(argument) ? missing.erase(argument) > 0 : !removed.contains(argument);
    if (is_kept) merged.push_back(argument);
  }
  for (const std::string& argument : add) {
    if (missing.erase(argument) > 0) merged.push_back(argument);
  }
  return merged;
}

}  // namespace pintle::host
