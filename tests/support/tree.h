// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything about a file tree that a change could spoil, as text that two trees can be compared by.

#include <filesystem>
#include <string>

namespace pintle {

std::string DescribeTree(const std::filesystem::path& root);

// Has temporary directories made in memory, when attributes can be kept there: thousands of trees are made.
void UseMemory();

}  // namespace pintle
