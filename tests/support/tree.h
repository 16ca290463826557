// SPDX-License-Identifier: Apache-2.0
#pragma once

// Describes everything in a file tree that a change could spoil, as a text, so that two trees can be compared.

#include <filesystem>
#include <string>

namespace pintle {

std::string DescribeTree(const std::filesystem::path& root);

// Makes temporary directories in memory if files there can have attributes, since thousands of trees are made.
void UseMemory();

}  // namespace pintle
