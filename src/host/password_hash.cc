// SPDX-License-Identifier: Apache-2.0
#include "host/password_hash.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <string_view>

#include "base/unique_fd.h"
#include "host/accounts.h"
#include "host/files/small_file.h"

namespace pintle::host {
namespace {

using HashState = resource::PasswordHash::State;
using resource::PasswordHash;

constexpr const char* kShadow = "shadow";
constexpr const char* kGroupShadow = "gshadow";
// The minimum age, the maximum age and the warning period are useradd(8)'s defaults, in days.  The other fields are
// empty.
constexpr std::string_view kRestOfNewLine = "0:99999:7:::";

// The position of a line in the text.  `end` is after the line break, if the line has one.
struct Line {
  std::size_t begin;
  std::size_t end;
};

// Returns the first line of the user, or nullopt if there is none.
std::optional<Line> FindLine(std::string_view text, std::string_view user) {
  const std::string start = fmt::format("{}:", user);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t break_at = text.find('\n', begin);
    const std::size_t end = break_at == std::string_view::npos ? text.size() : break_at + 1;
    if (text.substr(begin).starts_with(start)) return Line{begin, end};
    begin = end;
  }
  return std::nullopt;
}

// The fields of a line: name, hash, day of the last change, and the unparsed rest.
struct ShadowEntry {
  std::string_view name;
  std::string_view hash;
  std::string_view last_change;
  std::string_view rest;  // Begins with a colon.
  std::string_view line_break;
};

std::string_view TakeField(std::string_view& line) {
  const std::size_t end = std::min(line.find(':'), line.size());
  const std::string_view field = line.substr(0, end);
  line.remove_prefix(end);
  return field;
}

ShadowEntry EntryOf(std::string_view line) {
  ShadowEntry entry;
  if (line.ends_with('\n')) {
    entry.line_break = line.substr(line.size() - 1);
    line.remove_suffix(1);
  }
  entry.name = TakeField(line);
  line.remove_prefix(1);  // FindLine() has checked this colon.
  entry.hash = TakeField(line);
  if (line.starts_with(':')) {
    line.remove_prefix(1);
    entry.last_change = TakeField(line);
  }
  entry.rest = line;
  return entry;
}

Result<std::string> Today(const Clock& clock) {
  const auto days = std::chrono::floor<std::chrono::days>(clock.Wall()).time_since_epoch();
  return std::to_string(days.count());
}

Result<UniqueFd> OpenEtc(const Root& root) { return root.OpenFile("/etc", O_RDONLY | O_DIRECTORY); }

// Takes the lock that every program holds while it changes the users of the machine.
Result<UniqueFd> Lock(int etc, const Clock& clock, std::chrono::milliseconds patience) {
  constexpr int kPauseMs = 10;
  UniqueFd file(::openat(etc, ".pwd.lock", O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return Error::FromErrno("opening /etc/.pwd.lock");
  const MonotonicTime deadline = clock.Monotonic() + patience;
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  // This polls, since no system call waits for a lock with a deadline.
  while (::fcntl(file.get(), F_OFD_SETLK, &whole) != 0) {
    if (errno != EAGAIN && errno != EACCES && errno != EINTR) return Error::FromErrno("locking /etc/.pwd.lock");
    if (clock.Monotonic() >= deadline) {
      return Error(ErrorKind::kUnavailable, "someone else is changing the users of this machine (/etc/.pwd.lock)");
    }
    static_cast<void>(::poll(nullptr, 0, kPauseMs));  // Waking early only makes the next attempt earlier.
  }
  return file;
}

Result<> CheckCharacters(const std::string& user, const std::optional<HashState>& want) {
  const auto fits = [](const std::string& text) {
    return std::none_of(text.begin(), text.end(), [](char c) { return c == ':' || c == '\n' || c == '\0'; });
  };
  if (user.empty() || !fits(user)) return Error(ErrorKind::kInvalid, "it is not a valid user name");
  if (want && (!fits(want->hash) || !fits(want->last_change.value_or("")))) {
    return Error(ErrorKind::kInvalid, "the password hash has a character that is not allowed in a hash");
  }
  return {};
}

// Returns the text of the file after the change of the user's line.
Result<std::string> ChangedText(const std::string& text, const Root& root, const resource::Put<PasswordHash>& put,
                                const Clock& clock) {
  const std::optional<Line> line = FindLine(text, put.key);
  const auto replaced = [&](const std::string& with) {
    return text.substr(0, line->begin) + with + text.substr(line->end);
  };
  if (!put.want) return line ? replaced("") : text;
  if (line) {
    const ShadowEntry entry = EntryOf(std::string_view(text).substr(line->begin, line->end - line->begin));
    std::string last_change = put.want->last_change.value_or(std::string(entry.last_change));
    if (!put.want->last_change && entry.hash != put.want->hash) last_change = TRY(Today(clock));
    const bool has_day_field = !entry.rest.empty() || !last_change.empty();
    if (entry.hash == put.want->hash && entry.last_change == last_change) return text;
    return replaced(fmt::format("{}:{}{}{}{}{}", entry.name, put.want->hash, has_day_field ? ":" : "", last_change,
                                entry.rest, entry.line_break));
  }
  if (put.want->hash == PasswordHash::kLocked) return text;
  if (!TRY(FindUser(root, put.key))) return Error(ErrorKind::kNotFound, "there is no such user");
  const std::string line_break = text.empty() || text.ends_with('\n') ? "" : "\n";
  return fmt::format("{}{}{}:{}:{}:{}\n", text, line_break, put.key, put.want->hash,
                     put.want->last_change.value_or(TRY(Today(clock))), kRestOfNewLine);
}

// Returns an empty /etc/shadow for a machine that has none.  Its owner, mode and label depend on the distribution,
// which gives the same ones to /etc/gshadow: RHEL has the mode 0000, and Debian lets the group shadow read both files.
// Without /etc/gshadow, the file is as systemd-sysusers makes it: with the mode 0000.
Result<SmallFile> NewShadow(int etc) {
  std::optional<SmallFile> file = TRY(ReadSmallFile(etc, kGroupShadow), "reading /etc/gshadow");
  if (!file) return SmallFile{.contents = {}, .permissions = 0, .owner = {}, .attributes = {}};
  file->contents.clear();
  return *std::move(file);
}

Result<> PutUnderLock(int etc, const Root& root, const resource::Put<PasswordHash>& put, const Clock& clock) {
  TRY(ClearTemporaryName(etc, kShadow), "writing /etc/shadow");
  std::optional<SmallFile> file = TRY(ReadSmallFile(etc, kShadow), "reading /etc/shadow");
  if (!file) file = TRY(NewShadow(etc));
  std::string text = TRY(ChangedText(file->contents, root, put, clock));
  if (text == file->contents) return {};
  file->contents = std::move(text);
  TRY(ReplaceSmallFile(etc, kShadow, *file), "writing /etc/shadow");
  return {};
}

}  // namespace

Result<std::optional<HashState>> ObservePasswordHash(const Root& root, const std::string& user) {
  const auto doing = [&] { return fmt::format("looking at the password of {}", user); };
  TRY(CheckCharacters(user, std::nullopt), doing());
  const auto etc = TRY(OpenEtc(root), doing());
  const std::optional<SmallFile> file = TRY(ReadSmallFile(etc.get(), kShadow), doing());
  const std::optional<Line> line = file ? FindLine(file->contents, user) : std::nullopt;
  if (!line) return std::nullopt;
  const ShadowEntry entry = EntryOf(std::string_view(file->contents).substr(line->begin, line->end - line->begin));
  return HashState{std::string(entry.hash), std::string(entry.last_change)};
}

Result<> PutPasswordHash(const Root& root, const resource::Put<PasswordHash>& put, const Clock& clock,
                         std::chrono::milliseconds patience) {
  const auto doing = [&] { return fmt::format("setting the password of {}", put.key); };
  TRY(CheckCharacters(put.key, put.want), doing());
  const UniqueFd etc = TRY(OpenEtc(root), doing());
  const UniqueFd lock = TRY(Lock(etc.get(), clock, patience), doing());
  TRY(PutUnderLock(etc.get(), root, put, clock), doing());
  return {};
}

bool Matches(const std::optional<HashState>& want, const std::optional<HashState>& have) {
  if (!have) return !want || want->hash == PasswordHash::kLocked;
  return want && want->hash == have->hash && (!want->last_change || want->last_change == have->last_change);
}

}  // namespace pintle::host
