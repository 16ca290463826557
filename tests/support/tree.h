// SPDX-License-Identifier: Apache-2.0
#pragma once

// Describes a file tree as a text, so that two trees can be compared: paths, modes, owners, attributes and contents.

#include <filesystem>
#include <string>

namespace pintle {

std::string DescribeTree(const std::filesystem::path& root);

// Makes temporary directories in /dev/shm if files there can have extended attributes, because some tests make
// thousands of trees.
void UseMemoryFileSystem();

}  // namespace pintle
