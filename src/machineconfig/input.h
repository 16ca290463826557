// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads files that people write and name on a command line or put into a directory.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "json/parse.h"

namespace pintle::machineconfig {

// The kinds of files that an input may be.  A pipe is accepted if a person names it, as in `pintle validate <(...)`.
// Files in a directory, and files that are read again when they change, must be regular files, since opening anything
// else could block us.
enum class Accepts { kAnything, kFilesOnly };

// Returns the contents of a file, or those of standard input for "-" if anything is accepted.  A relative path begins
// in the working directory.  More than `limit` bytes are an error.
Result<std::string> ReadInput(const std::string& path, Accepts accepts = Accepts::kAnything,
                              std::size_t limit = json::ParseLimits().bytes);

// An input that is read in pieces.  Its contents as a whole are still available afterwards, for a reader for which the
// pieces turn out not to be enough: a regular file is read again, and the pieces of any other input are kept.
class PiecewiseInput {
 public:
  // Opens an input that ReadInput() accepts.
  static Result<PiecewiseInput> Open(const std::string& path, std::size_t limit = json::ParseLimits().bytes);

  // Reads the next bytes.  Returns their number; it is 0 at the end.
  Result<std::size_t> ReadPiece(std::span<char> to);

  // Returns the contents as ReadInput() does, whatever pieces have been read.  Call it once.
  Result<std::string> ReadWhole();

 private:
  PiecewiseInput(std::string path, std::size_t limit) : path_(std::move(path)), limit_(limit) {}

  Result<std::string> ReadFromBegin();

  std::string path_;
  std::size_t limit_;
  UniqueFd file_;
  int fd_ = -1;                        // file_, or standard input.
  std::optional<std::int64_t> begin_;  // Where a regular file begins; nullopt for any other input.
  std::string kept_;                   // The pieces of an input that is not a regular file.
};

// With kRefused, a directory that has no file with one of the endings is a fault.
enum class EmptyDirectory { kAllowed, kRefused };

// Hidden files in a directory are usually locks and copies of editors.
enum class HiddenFiles { kIgnored, kRead };

struct InputFile {
  std::string path;
  Accepts accepts = Accepts::kAnything;
};

struct NamedFiles {
  std::vector<InputFile> files;
  // Entries in directories that have one of the endings but are not regular files, each with its kind:
  // "/etc/pintle/config.d/a.yaml is a pipe".
  std::vector<std::string> left_out;
  // The entries in directories that have none of the endings, without hidden files.
  std::vector<std::string> others;
  // Directories that cannot be read, and entries whose kind is unknown, such as links that lead nowhere.  The other
  // inputs are listed nevertheless.
  std::vector<Error> faults;
};

// Replaces each directory by its files that have one of these endings, or by all its files if `endings` is empty,
// sorted by name.  Other inputs are kept.  A link counts as its target.
NamedFiles FilesNamedBy(std::span<const std::string> inputs, std::span<const std::string_view> endings,
                        EmptyDirectory empty, HiddenFiles hidden = HiddenFiles::kIgnored);

// Returns whether a name in a directory is not hidden and has one of the endings, if there are any.
bool IsWantedName(std::string_view name, std::span<const std::string_view> endings);

// Returns all documents of a JSON or YAML file.  `report`, unless it is null, gets a warning for each key that occurs
// twice, of which the last one wins.
Result<std::vector<json::Value>> ReadDocuments(const std::string& path, Accepts accepts = Accepts::kAnything,
                                               json::Report* report = nullptr);

// Returns all documents of a text that was read from `path`.
Result<std::vector<json::Value>> DocumentsIn(const std::string& text, const std::string& path,
                                             json::Report* report = nullptr);

}  // namespace pintle::machineconfig
