// SPDX-License-Identifier: Apache-2.0
#include "ctl/input.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cstddef>
#include <utility>

#include "base/unique_fd.h"
#include "machineconfig/yaml.h"

namespace pintle::ctl {
namespace {

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

// Whether a text can only be JSON, or the part of YAML that is written like it.
bool LooksLikeJson(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && (text[first] == '{' || text[first] == '[');
}

}  // namespace

Result<std::string> ReadInput(const std::string& path, std::size_t limit) {
  return TRY(ReadPath(path, limit), "reading " + path);
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
  return TRY(machineconfig::ParseYaml(text), "reading " + path);
}

}  // namespace pintle::ctl
