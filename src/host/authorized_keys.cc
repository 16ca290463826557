// SPDX-License-Identifier: Apache-2.0
#include "host/authorized_keys.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "host/accounts.h"
#include "host/files/acting_as.h"
#include "host/files/small_file.h"
#include "host/files/sync_directory.h"

namespace pintle::host {
namespace {

using KeysState = resource::AuthorizedKeys::State;

constexpr const char* kFile = "ignition";
constexpr const char* kFolders[] = {".ssh", "authorized_keys.d"};
constexpr std::string_view kAsideEnding = ".before-pintle";

std::string TextOf(const std::vector<std::string>& keys) {
  std::string text;
  for (const std::string& key : keys) text += key + "\n";
  return text;
}

KeysState StateOf(const std::string& text) {
  KeysState state;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    state.keys.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (TextOf(state.keys) != text) state.text = text;
  return state;
}

std::string TextOf(const KeysState& state) { return state.text ? *state.text : TextOf(state.keys); }

// KeyFolder::Open() makes missing folders, or leaves them missing.
enum class Missing { kMake, kLeave };

// The folders in the user's home that lead to the file.
class KeyFolder {
 public:
  KeyFolder(const Root& root, const std::string& user, const Account& account)
      : root_(root), user_(user), account_(account) {}

  // Opens the folders that exist.  With kMake, also makes the missing folders, and replaces folders that belong to
  // someone else.  Returns whether all folders are open now.
  Result<bool> Open(Missing missing, const Labels& labels) {
    if (!account_.home.starts_with('/') || account_.home == "/") {
      return Error(ErrorKind::kInvalid, fmt::format("the user {} has no home folder", user_));
    }
    auto home = root_.OpenFile(account_.home, O_RDONLY | O_DIRECTORY);
    if (!home && home.error().kind() == ErrorKind::kNotFound && missing == Missing::kLeave) return false;
    if (!home) return std::move(home).error().While(fmt::format("the home folder of the user {}", user_));
    open_.push_back(*std::move(home));
    std::string path = account_.home;
    for (const char* name : kFolders) {
      path = fmt::format("{}/{}", path, name);
      if (!TRY(OpenNext(name, path, missing, labels), path)) return false;
    }
    return true;
  }

  int fd() const { return open_.back().get(); }
  std::string path() const { return fmt::format("{}/{}/{}/{}", account_.home, kFolders[0], kFolders[1], kFile); }

  // Returns how many of the folders are open.
  std::size_t count() const { return open_.empty() ? 0 : open_.size() - 1; }
  // Returns whether the first folder that is not open exists but belongs to someone else.
  bool is_next_of_another() const { return is_next_of_another_; }

  // Renames back someone else's folder that SetAside() has renamed, unless its name is in use.
  Result<> PutBackNext() {
    if (open_.empty() || count() == std::size(kFolders)) return {};
    const char* name = kFolders[count()];
    if (::renameat2(fd(), NameAside(name).c_str(), fd(), name, RENAME_NOREPLACE) != 0) {
      if (errno == ENOENT || errno == EEXIST) return {};
      return Error::FromErrno("renaming back the folder of another user");
    }
    return SyncDirectory(fd());
  }

  // Removes folders that are empty, the innermost first, but keeps the first `kept` of them.
  Result<> RemoveFolders(std::size_t kept) {
    while (count() > kept) {
      open_.pop_back();
      const char* name = kFolders[open_.size() - 1];
      if (::unlinkat(fd(), name, AT_REMOVEDIR) != 0) {
        if (errno == ENOTEMPTY || errno == EEXIST) return {};
        return Error::FromErrno("rmdir");
      }
      TRY(SyncDirectory(fd()));
    }
    return {};
  }

 private:
  Result<bool> OpenNext(const char* name, const std::string& path, Missing missing, const Labels& labels) {
    if (BelongsToAnother(name)) {
      is_next_of_another_ = missing == Missing::kLeave;
      if (is_next_of_another_) return false;
      TRY(SetAside(name));
    }
    UniqueFd next(OpenAt(name));
    if (!next && errno == ENOENT) {
      if (missing == Missing::kLeave) return false;
      next = TRY(Make(name, path, labels));
    }
    if (!next && (errno == ELOOP || errno == ENOTDIR)) {
      return Error(ErrorKind::kConflict, "a link or a file is in the place of this folder; remove it");
    }
    if (!next) return Error::FromErrno("open");
    struct stat status;
    if (::fstat(next.get(), &status) != 0) return Error::FromErrno("fstat");
    if (status.st_uid != account_.uid) {
      return Error(ErrorKind::kConflict, fmt::format("it belongs to user {} and not to {}", status.st_uid, user_));
    }
    open_.push_back(std::move(next));
    return true;
  }

  // Reads the status without opening the folder, since perhaps the user is not allowed to open it.
  bool BelongsToAnother(const char* name) const {
    struct stat status;
    const bool is_there = ::fstatat(fd(), name, &status, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0;
    return is_there && S_ISDIR(status.st_mode) && status.st_uid != account_.uid;
  }

  static std::string NameAside(const char* name) { return std::string(name) + std::string(kAsideEnding); }

  // Renames a folder that belongs to someone else.  The user's rights suffice: users may rename everything in their own
  // folders.
  Result<> SetAside(const char* name) const {
    const std::string aside = NameAside(name);
    if (::renameat2(fd(), name, fd(), aside.c_str(), RENAME_NOREPLACE) == 0) return {};
    if (errno != EEXIST) return Error::FromErrno("renaming the folder of another user");
    return Error(ErrorKind::kConflict,
                 fmt::format("it belongs to another user and not to {}, and {} is there already, so that it cannot be "
                             "set aside; remove one of the two",
                             user_, aside));
  }

  int OpenAt(const char* name) const { return ::openat(fd(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }

  Result<UniqueFd> Make(const char* name, const std::string& path, const Labels& labels) {
    if (::mkdirat(fd(), name, 0700) != 0) return Error::FromErrno("mkdir");
    UniqueFd made(OpenAt(name));
    if (!made) return Error::FromErrno("opening the new folder");
    if (const auto label = labels.AttributeFor(path, resource::EntryKind::kDirectory)) {
      TRY(SetAttributes(made.get(), OpenedAs::kItself, {{kSelinuxLabel, *label}}, OtherAttributes::kKeep));
    }
    TRY(SyncDirectory(made.get()));
    TRY(SyncDirectory(fd()));
    return made;
  }

  const Root& root_;
  const std::string& user_;
  const Account& account_;
  std::vector<UniqueFd> open_;  // The home folder, and the folders below it.
  bool is_next_of_another_ = false;
};

Result<> Write(KeyFolder& folder, const Account& account, const std::string& text, const Labels& labels) {
  const std::optional<SmallFile> old_file = TRY(ReadSmallFile(folder.fd(), kFile));
  SmallFile wanted = {text, 0600, {account.uid, account.gid}, old_file ? old_file->attributes : Attributes()};
  if (const auto label = labels.AttributeFor(folder.path(), resource::EntryKind::kFile)) {
    wanted.attributes[kSelinuxLabel] = *label;
  }
  const bool is_as_wanted = old_file && old_file->contents == text && old_file->permissions == wanted.permissions &&
                            old_file->owner == wanted.owner && old_file->attributes == wanted.attributes;
  return is_as_wanted ? Result<>() : ReplaceSmallFile(folder.fd(), kFile, wanted);
}

Result<> PutInFolder(KeyFolder& folder, const Account& account, const std::optional<KeysState>& want,
                     const Labels& labels) {
  const bool has_keys = want && !TextOf(*want).empty();
  const bool is_there = TRY(folder.Open(has_keys ? Missing::kMake : Missing::kLeave, labels));
  if (is_there) TRY(ClearTemporaryName(folder.fd(), kFile));
  if (!want || want->folders) {
    if (is_there) TRY(RemoveSmallFile(folder.fd(), kFile));
    TRY(folder.RemoveFolders(want ? static_cast<std::size_t>(*want->folders) : 0));
    return want && want->belongs_to_other_user ? folder.PutBackNext() : Result<>();
  }
  const bool has_file = is_there && TRY(ReadSmallFile(folder.fd(), kFile)).has_value();
  return has_keys || has_file ? Write(folder, account, TextOf(*want), labels) : Result<>();
}

}  // namespace

Result<std::optional<KeysState>> ObserveAuthorizedKeys(const Root& root, const std::string& user) {
  const auto doing = [&] { return fmt::format("looking at the SSH keys of {}", user); };
  const std::optional<Account> account = TRY(FindUser(root, user), doing());
  if (!account) return std::nullopt;
  const auto acting = TRY(ActingAs::Begin({account->uid, account->gid}), doing());
  KeyFolder folder(root, user, *account);
  const bool is_there = TRY(folder.Open(Missing::kLeave, Labels()), doing());
  if (folder.count() == 0 && !folder.is_next_of_another()) return std::nullopt;
  const std::optional<SmallFile> file = is_there ? TRY(ReadSmallFile(folder.fd(), kFile), doing()) : std::nullopt;
  if (file) return StateOf(file->contents);
  KeysState state;
  state.folders = static_cast<std::int64_t>(folder.count());
  state.belongs_to_other_user = folder.is_next_of_another();
  return state;
}

Result<> PutAuthorizedKeys(const Root& root, const resource::Put<resource::AuthorizedKeys>& put, const Labels& labels) {
  const auto doing = [&] { return fmt::format("writing the SSH keys of {}", put.key); };
  const std::optional<Account> account = TRY(FindUser(root, put.key), doing());
  if (!account && (!put.want || TextOf(*put.want).empty())) return {};
  if (!account) return Error(ErrorKind::kNotFound, "there is no such user").While(doing());
  const auto acting = TRY(ActingAs::Begin({account->uid, account->gid}), doing());
  KeyFolder folder(root, put.key, *account);
  TRY(PutInFolder(folder, *account, put.want, labels), doing());
  return {};
}

bool Matches(const std::optional<KeysState>& want, const std::optional<KeysState>& have) {
  if (!have || have->folders) return !want || TextOf(*want).empty();
  return want && !want->folders && TextOf(*want) == TextOf(*have);
}

}  // namespace pintle::host
