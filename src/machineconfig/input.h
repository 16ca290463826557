// SPDX-License-Identifier: Apache-2.0
#pragma once

// Files that people write, by the names that they give them on a command line or in a directory.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/parse.h"

namespace pintle::machineconfig {

// What an input may be.  A person who names a pipe, as in `pintle validate <(...)`, has someone write into it; what is
// found in a directory must hold nobody up, and so must be a regular file.
enum class Accepts { kAnything, kFilesOnly };

// The whole of a file, or with "-" of standard input.  One that is longer than `limit` is an error.
Result<std::string> ReadInput(const std::string& path, Accepts accepts = Accepts::kAnything,
                              std::size_t limit = json::ParseLimits().bytes);

// Whether a directory may be named that has none of the files that are wanted.
enum class EmptyDirectory { kAllowed, kRefused };

struct InputFile {
  std::string path;
  Accepts accepts = Accepts::kAnything;
};

struct NamedFiles {
  std::vector<InputFile> files;
  // What has the name of a file that is wanted and is none, with what it is: "/etc/pintle/config.d/a.yaml is a pipe".
  std::vector<std::string> left_out;
  // What is in a directory under another name, hidden files aside.
  std::vector<std::string> others;
};

// In the place of each directory those files in it, in the order of their names, that have one of these endings; what
// is no directory stays as it is.  A link counts as what it leads to; one that leads nowhere is an error, and so is a
// directory that cannot be read.
Result<NamedFiles> FilesNamedBy(std::span<const std::string> inputs, std::span<const std::string_view> endings,
                                EmptyDirectory empty);

// Whether what has this name in a directory is wanted.  Hidden files are not: an editor's locks and copies.
bool IsWantedName(std::string_view name, std::span<const std::string_view> endings);

// All documents of a file of JSON or YAML.
Result<std::vector<json::Value>> ReadDocuments(const std::string& path, Accepts accepts = Accepts::kAnything);

}  // namespace pintle::machineconfig
