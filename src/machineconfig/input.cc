// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/input.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/unique_fd.h"
#include "machineconfig/yaml.h"

namespace pintle::machineconfig {
namespace {

namespace fs = std::filesystem;

Result<std::string> ReadAll(int fd, std::size_t limit) {
  std::string contents;
  constexpr std::size_t kChunk = 1 << 16;
  while (true) {
    const std::size_t before = contents.size();
    contents.resize(before + kChunk);
    const ssize_t count = ::read(fd, contents.data() + before, kChunk);
    if (count < 0 && errno == EINTR) {
      contents.resize(before);
      continue;
    }
    if (count < 0) return Error::FromErrno("read");
    contents.resize(before + static_cast<std::size_t>(count));
    if (count == 0) return contents;
    if (contents.size() > limit) return Error(ErrorKind::kInvalid, fmt::format("longer than {} bytes", limit));
  }
}

Result<std::string> ReadPath(const std::string& path, std::size_t limit) {
  if (path == "-") return ReadAll(STDIN_FILENO, limit);
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return Error::FromErrno("open");
  return ReadAll(file.get(), limit);
}

Result<std::vector<std::string>> FilesIn(const std::string& directory, std::span<const std::string_view> endings) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    const std::string ending = entry->path().extension();
    if (std::find(endings.begin(), endings.end(), ending) != endings.end()) files.push_back(entry->path());
  }
  if (error) return Error::FromErrno("listing " + directory, error.value());
  std::sort(files.begin(), files.end());
  return files;
}

// Whether a text can only be JSON, or the part of YAML that is written like it.
bool LooksLikeJson(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && (text[first] == '{' || text[first] == '[');
}

}  // namespace

Result<std::string> ReadInput(const std::string& path, std::size_t limit) {
  return TRY(ReadPath(path, limit), "reading " + path);
}

Result<std::vector<std::string>> FilesNamedBy(std::span<const std::string> inputs,
                                              std::span<const std::string_view> endings, EmptyDirectory empty) {
  std::vector<std::string> files;
  for (const std::string& input : inputs) {
    std::error_code error;
    if (!fs::is_directory(input, error)) {
      files.push_back(input);
      continue;
    }
    std::vector<std::string> inside = TRY(FilesIn(input, endings));
    if (inside.empty() && empty == EmptyDirectory::kRefused) {
      const auto first = endings.first(endings.size() - 1);
      return Error(ErrorKind::kNotFound,
                   fmt::format("no *{} or *{} in {}", fmt::join(first, ", *"), endings.back(), input));
    }
    std::move(inside.begin(), inside.end(), std::back_inserter(files));
  }
  return files;
}

Result<std::vector<json::Value>> ReadDocuments(const std::string& path) {
  const std::string text = TRY(ReadInput(path));
  if (LooksLikeJson(text)) {
    auto value = json::Parse(text);
    if (value) {
      std::vector<json::Value> documents;
      documents.push_back(*std::move(value));
      return documents;
    }
  }
  return TRY(ParseYaml(text), "reading " + path);
}

}  // namespace pintle::machineconfig
