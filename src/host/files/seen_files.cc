// SPDX-License-Identifier: Apache-2.0
#include "host/files/seen_files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/digest.h"
#include "base/unique_fd.h"
#include "host/files/attributes.h"
#include "host/files/pieces.h"

namespace pintle::host {
namespace {

constexpr std::string_view kFirstLine = "files that pintle has seen, 1\n";
constexpr std::size_t kSeenFilesLimit = 64 << 20;  // In bytes.
constexpr std::string_view kNoLabel = "-";

std::int64_t NanosecondsOf(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

std::string_view TakeUntilBlank(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

template <typename Number>
bool TakeNumber(std::string_view& line, Number& number) {
  const std::string_view word = TakeUntilBlank(line);
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
  return problem == std::errc() && end == word.data() + word.size() && !word.empty();
}

// Returns nullopt if anyone else could have written the file.
std::optional<std::string> ReadOwn(const Root& root, const std::string& path) {
  const auto file = root.OpenFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  struct stat status;
  if (!file || ::fstat(file->get(), &status) != 0) return std::nullopt;
  const bool is_own = status.st_uid == ::geteuid() && (status.st_mode & 077) == 0;
  if (!S_ISREG(status.st_mode) || !is_own || status.st_size > static_cast<off_t>(kSeenFilesLimit)) return std::nullopt;
  std::string text;
  Pieces pieces(file->get(), static_cast<std::size_t>(status.st_size));
  for (;;) {
    const auto piece = pieces.Next();
    if (!piece || text.size() > kSeenFilesLimit) return std::nullopt;
    if (piece->empty()) return text;
    text += *piece;
  }
}

// Returns the lines between the first line and the last one.  The last line is the digest of all lines before it.
std::optional<std::string_view> LinesIn(std::string_view text) {
  if (!text.starts_with(kFirstLine) || text.size() < kFirstLine.size() + kSha256Digits + 1) return std::nullopt;
  const std::string_view body = text.substr(0, text.size() - kSha256Digits - 1);
  const std::string_view digest = text.substr(body.size(), kSha256Digits);
  if (text.back() != '\n' || Sha256(body).hex() != digest) return std::nullopt;
  return body.substr(kFirstLine.size());
}

}  // namespace

Fingerprint Fingerprint::Of(const struct stat& status) {
  return {status.st_dev, status.st_ino, status.st_size, NanosecondsOf(status.st_mtim), NanosecondsOf(status.st_ctim)};
}

std::optional<SeenFiles::State> SeenFiles::Recall(const std::string& path, const struct stat& status) {
  const auto found = files_.find(path);
  if (found == files_.end() || found->second.fingerprint != Fingerprint::Of(status)) {
    began_ = clock_->Wall();
    return std::nullopt;
  }
  Seen& seen = found->second;
  seen.is_asked_for = true;
  State state;
  state.sha256 = seen.sha256;
  state.permissions = status.st_mode & 07777;
  state.user.id = status.st_uid;
  state.group.id = status.st_gid;
  state.attributes.emplace();
  if (!seen.label.empty()) state.attributes->emplace(kSelinuxLabel, seen.label);
  return state;
}

void SeenFiles::Remember(const std::string& path, const struct stat& status, const State& state) {
  is_changed_ = files_.erase(path) > 0 || is_changed_;
  const Fingerprint fingerprint = Fingerprint::Of(status);
  const auto rested_since =
      std::chrono::duration_cast<std::chrono::nanoseconds>((began_ - kTimeAtRest).time_since_epoch());
  if (fingerprint.changed > rested_since.count() || !state.attributes) return;
  Seen seen = {.fingerprint = fingerprint, .sha256 = state.sha256, .label = "", .is_asked_for = true};
  // Files with other attributes are rare and are not recorded.
  for (const auto& [name, value] : *state.attributes) {
    if (name != kSelinuxLabel) return;
    seen.label = value;
  }
  files_.emplace(path, std::move(seen));
  is_changed_ = true;
}

std::optional<Fingerprint> SeenFiles::FingerprintOf(const std::string& path) const {
  const auto found = files_.find(path);
  return found == files_.end() ? std::nullopt : std::optional(found->second.fingerprint);
}

SeenFiles SeenFiles::Load(const Root& root, const std::string& path, const Clock& clock) {
  SeenFiles seen(clock);
  const auto text = ReadOwn(root, path);
  auto lines = text ? LinesIn(*text) : std::nullopt;
  while (lines && !lines->empty()) {
    const std::size_t end = lines->find('\n');
    if (end == std::string_view::npos || !seen.Add(lines->substr(0, end))) return SeenFiles(clock);
    lines->remove_prefix(end + 1);
  }
  return seen;
}

bool SeenFiles::Add(std::string_view line) {
  Seen seen;
  seen.sha256 = TakeUntilBlank(line);
  seen.label = TakeUntilBlank(line);
  if (seen.label == kNoLabel) seen.label.clear();
  Fingerprint& fingerprint = seen.fingerprint;
  const bool is_whole = seen.sha256.size() == kSha256Digits && TakeNumber(line, fingerprint.device) &&
                        TakeNumber(line, fingerprint.inode) && TakeNumber(line, fingerprint.size) &&
                        TakeNumber(line, fingerprint.modified) && TakeNumber(line, fingerprint.changed) &&
                        line.starts_with('/');
  if (is_whole) files_.emplace(line, std::move(seen));
  return is_whole;
}

Result<> SeenFiles::Save(const Root& root, const std::string& path) const {
  const bool keeps_all =
      std::all_of(files_.begin(), files_.end(), [](const auto& file) { return file.second.is_asked_for; });
  if (keeps_all && !is_changed_) return {};
  std::string text(kFirstLine);
  for (const auto& [file, seen] : files_) {
    if (!seen.is_asked_for || file.find('\n') != std::string::npos) continue;
    const Fingerprint& fingerprint = seen.fingerprint;
    text += fmt::format("{} {} {} {} {} {} {} {}\n", seen.sha256, seen.label.empty() ? kNoLabel : seen.label,
                        fingerprint.device, fingerprint.inode, fingerprint.size, fingerprint.modified,
                        fingerprint.changed, file);
  }
  const std::string digest = Sha256(text).hex();
  text += digest;
  text += '\n';
  return root.WriteFile(path, text, {.permissions = 0600, .owner = {}});
}

}  // namespace pintle::host
