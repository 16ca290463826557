// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/input.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "base/huge_pages.h"
#include "base/names_in.h"
#include "base/unique_fd.h"
#include "ignition/butane.h"
#include "machineconfig/yaml.h"

namespace pintle::machineconfig {
namespace {

namespace fs = std::filesystem;

Error TooLong(std::size_t limit) { return Error(ErrorKind::kInvalid, fmt::format("longer than {} bytes", limit)); }

// Returns the number of bytes that were read; it is 0 at the end.
Result<std::size_t> ReadSome(int fd, std::span<char> to) {
  while (true) {
    const ssize_t count = ::read(fd, to.data(), to.size());
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno == EISDIR) return Error(ErrorKind::kInvalid, "it is a directory; name a file in it");
    if (errno != EINTR) return Error::FromErrno("read");
  }
}

// Appends the rest of a file to `contents`.
Result<std::string> ReadAll(int fd, std::size_t limit, std::string contents = {}) {
  struct stat status = {};
  // A regular file that is too long is refused before it is read.
  const bool is_sized = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  if (is_sized && static_cast<std::uint64_t>(status.st_size) > limit) return TooLong(limit);
  constexpr std::size_t kChunk = 1 << 16;
  // The string gets no larger buffer than it needs, since some callers keep it.  The last byte is for the end of the
  // file.
  const std::size_t expected = is_sized ? static_cast<std::size_t>(status.st_size) + 1 : 0;
  contents.reserve(expected);
  PreferHugePages(contents.data(), contents.capacity());
  while (true) {
    const std::size_t before = contents.size();
    const std::size_t chunk = before < expected ? std::min(kChunk, expected - before) : kChunk;
    if (before > limit) return TooLong(limit);
    contents.resize(before + chunk);
    const std::size_t count = TRY(ReadSome(fd, {contents.data() + before, chunk}));
    contents.resize(before + count);
    if (count == 0) return contents;
  }
}

// Returns the kind of a file that is not a regular file.
std::string_view FileKindOf(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

Result<UniqueFd> OpenRegular(const std::string& path) {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return Error::FromErrno("open");
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) return Error::FromErrno("fstat");
  if (S_ISREG(status.st_mode)) return file;
  return Error(ErrorKind::kInvalid, fmt::format("the input is {}; use a regular file", FileKindOf(status.st_mode)));
}

Result<std::string> ReadPath(const std::string& path, Accepts accepts, std::size_t limit) {
  if (accepts == Accepts::kFilesOnly) return ReadAll(TRY(OpenRegular(path)).get(), limit);
  if (path == "-") return ReadAll(STDIN_FILENO, limit);
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return Error::FromErrno("open");
  return ReadAll(file.get(), limit);
}

Result<std::vector<std::string>> SortedNamesIn(const std::string& directory) {
  const auto doing = [&] { return "listing " + directory; };
  UniqueFd opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return Error::FromErrno(doing());
  std::vector<std::string> names = TRY(NamesIn(std::move(opened)), doing());
  std::sort(names.begin(), names.end());
  return names;
}

bool HasEnding(std::string_view name, std::span<const std::string_view> endings) {
  if (endings.empty()) return true;
  const std::string ending = fs::path(name).extension();
  return std::find(endings.begin(), endings.end(), ending) != endings.end();
}

void AddFilesIn(const std::string& directory, std::span<const std::string_view> endings, HiddenFiles hidden,
                NamedFiles& named) {
  auto names = SortedNamesIn(directory);
  if (!names) return named.faults.push_back(std::move(names).error());
  for (const std::string& name : *names) {
    std::string path = fs::path(directory) / name;
    if (!HasEnding(name, endings) || (hidden == HiddenFiles::kIgnored && name.starts_with('.'))) {
      if (!name.starts_with('.')) named.others.push_back(std::move(path));
      continue;
    }
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0) {
      const int stat_error = errno;
      // The file may have been removed since the directory was read.
      if (stat_error == ENOENT && ::lstat(path.c_str(), &status) != 0 && errno == ENOENT) continue;
      const bool is_link = stat_error == ENOENT;
      const std::string_view doing =
          is_link ? "the file is a link, and its target does not exist; remove the link, or restore the target"
                  : "stat";
      named.faults.push_back(Error::FromErrno(std::string(doing), stat_error).While("reading " + path));
      continue;
    }
    if (S_ISREG(status.st_mode)) {
      named.files.push_back({std::move(path), Accepts::kFilesOnly});
    } else {
      named.left_out.push_back(fmt::format("{} is {}", path, FileKindOf(status.st_mode)));
    }
  }
}

Error NoFileIn(const std::string& directory, std::span<const std::string_view> endings) {
  if (endings.empty()) return Error(ErrorKind::kNotFound, "no file in " + directory);
  const auto first = endings.first(endings.size() - 1);
  return Error(ErrorKind::kNotFound,
               fmt::format("no *{} or *{} in {}", fmt::join(first, ", *"), endings.back(), directory));
}

// Returns whether a text begins as a JSON object or list does.  YAML may begin in the same way.
bool LooksLikeJson(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && (text[first] == '{' || text[first] == '[');
}

}  // namespace

Result<std::string> ReadInput(const std::string& path, Accepts accepts, std::size_t limit) {
  if (path.empty()) return Error(ErrorKind::kInvalid, "the name of a file is empty");
  return TRY(ReadPath(path, accepts, limit), "reading " + path);
}

Result<PiecewiseInput> PiecewiseInput::Open(const std::string& path, std::size_t limit) {
  if (path.empty()) return Error(ErrorKind::kInvalid, "the name of a file is empty");
  PiecewiseInput input(path, limit);
  input.fd_ = STDIN_FILENO;
  if (path != "-") {
    input.file_.Reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!input.file_) return Error::FromErrno("open").While("reading " + path);
    input.fd_ = input.file_.get();
  }
  struct stat status = {};
  const bool is_regular = ::fstat(input.fd_, &status) == 0 && S_ISREG(status.st_mode);
  if (is_regular && static_cast<std::uint64_t>(status.st_size) > limit) return TooLong(limit).While("reading " + path);
  // Standard input may be a file of which a part has been read already.
  const off_t begin = is_regular ? ::lseek(input.fd_, 0, SEEK_CUR) : -1;
  if (begin >= 0) input.begin_ = begin;
  return input;
}

Result<std::size_t> PiecewiseInput::ReadPiece(std::span<char> to) {
  const std::size_t count = TRY(ReadSome(fd_, to), "reading " + path_);
  if (!begin_) kept_.append(to.data(), count);
  return count;
}

Result<std::string> PiecewiseInput::ReadWhole() { return TRY(ReadFromBegin(), "reading " + path_); }

Result<std::string> PiecewiseInput::ReadFromBegin() {
  if (begin_ && ::lseek(fd_, *begin_, SEEK_SET) < 0) return Error::FromErrno("lseek");
  return ReadAll(fd_, limit_, std::move(kept_));
}

bool IsWantedName(std::string_view name, std::span<const std::string_view> endings) {
  return !name.starts_with('.') && HasEnding(name, endings);
}

NamedFiles FilesNamedBy(std::span<const std::string> inputs, std::span<const std::string_view> endings,
                        EmptyDirectory empty, HiddenFiles hidden) {
  NamedFiles named;
  for (const std::string& input : inputs) {
    struct stat status = {};
    // If the input cannot be read, an error is reported when it is opened.
    if (::stat(input.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
      named.files.push_back({input, Accepts::kAnything});
      continue;
    }
    const std::size_t before = named.files.size() + named.faults.size();
    AddFilesIn(input, endings, hidden, named);
    const bool is_empty = named.files.size() + named.faults.size() == before;
    if (is_empty && empty == EmptyDirectory::kRefused) named.faults.push_back(NoFileIn(input, endings));
  }
  return named;
}

Result<std::vector<json::Value>> ReadDocuments(const std::string& path, Accepts accepts, json::Report* report) {
  return DocumentsIn(TRY(ReadInput(path, accepts)), path, report);
}

Result<std::vector<json::Value>> DocumentsIn(const std::string& text, const std::string& path, json::Report* report) {
  if (LooksLikeJson(text)) {
    json::Report of_json;
    auto value = json::Parse(text, &of_json);
    if (value && !ignition::IsButane(*value)) {
      if (report != nullptr) *report = std::move(of_json);
      std::vector<json::Value> documents;
      documents.push_back(*std::move(value));
      return documents;
    }
  }
  return TRY(ParseYaml(text, report), "reading " + path);
}

}  // namespace pintle::machineconfig
