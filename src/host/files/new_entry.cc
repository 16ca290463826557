// SPDX-License-Identifier: Apache-2.0
#include "host/files/new_entry.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace pintle::host {
namespace {

using resource::EntryKind;
using FileState = resource::FileEntry::State;

// A new file must never be readable by users who may not read the finished file.  So only the user who creates the file
// may read it until the wanted owner is set.
mode_t FirstPermissions(const FileState& want) {
  const bool has_our_owner = want.user.id == ::geteuid() && want.group.id == ::getegid();
  return has_our_owner ? static_cast<mode_t>(want.permissions) & 0777 : 0600;
}

// An entry's directory, its name, and the temporary name under which it is made.
struct Spot {
  int directory;
  const std::string& name;
  const std::string temporary_name = TemporaryNameOf(name);
};

// Makes the system call that creates an entry.  If the temporary name exists, removes what an interrupted attempt has
// left there, and tries again.
template <typename Call>
Result<int> MakeNew(const char* doing, const Spot& spot, Call&& call) {
  int made = call();
  if (made < 0 && errno == EEXIST) {
    TRY(ClearTemporaryName(spot.directory, spot.name));
    made = call();
  }
  if (made < 0) return Error::FromErrno(doing);
  return made;
}

Result<NewEntry> MakeFile(const Spot& spot, const FileState& want, const WantedAttributes& wanted_attributes,
                          const BlobStore& blobs) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const mode_t mode = FirstPermissions(want);
  UniqueFd file(TRY(MakeNew("creating a temporary file", spot,
                            [&] { return ::openat(spot.directory, spot.temporary_name.c_str(), kFlags, mode); })));
  TRY(blobs.CopyTo(want.sha256, file.get()));
  const Identity identity = TRY(SetMetadata(file.get(), want, wanted_attributes));
  return NewEntry{identity, std::move(file)};
}

Result<NewEntry> MakeDirectory(const Spot& spot, const FileState& want, const WantedAttributes& wanted_attributes) {
  TRY(MakeNew("mkdir", spot, [&] { return ::mkdirat(spot.directory, spot.temporary_name.c_str(), 0700); }));
  UniqueFd made(::openat(spot.directory, spot.temporary_name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!made) return Error::FromErrno("opening the new directory");
  const Identity identity = TRY(SetMetadata(made.get(), want, wanted_attributes));
  return NewEntry{identity, std::move(made)};
}

Result<NewEntry> MakeLink(const Spot& spot, const FileState& want, const WantedAttributes& wanted_attributes) {
  TRY(MakeNew("symlink", spot,
              [&] { return ::symlinkat(want.target.c_str(), spot.directory, spot.temporary_name.c_str()); }));
  const UniqueFd link(::openat(spot.directory, spot.temporary_name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!link) return Error::FromErrno("opening the new link");
  if (::fchownat(link.get(), "", static_cast<uid_t>(want.user.id), static_cast<gid_t>(want.group.id), AT_EMPTY_PATH) !=
      0) {
    return Error::FromErrno("chown");
  }
  TRY(SetAttributes(link.get(), OpenedAs::kPath, wanted_attributes.attributes, wanted_attributes.others));
  struct stat status;
  if (::fstat(link.get(), &status) != 0) return Error::FromErrno("fstat");
  return NewEntry{{status.st_dev, status.st_ino}, UniqueFd()};
}

}  // namespace

Result<NewEntry> MakeEntry(int directory, const std::string& name, const FileState& want,
                           const WantedAttributes& wanted_attributes, const BlobStore& blobs) {
  const Spot spot = {.directory = directory, .name = name};
  if (want.kind == EntryKind::kFile) return MakeFile(spot, want, wanted_attributes, blobs);
  if (want.kind == EntryKind::kDirectory) return MakeDirectory(spot, want, wanted_attributes);
  return MakeLink(spot, want, wanted_attributes);
}

// The owner is set first, since chown(2) clears set-user-id and capabilities.  The permissions are set last, since an
// access list changes them.  Properties that are right already are not set again, since each call costs a transaction
// of the file system.
Result<Identity> SetMetadata(int fd, const FileState& want, const WantedAttributes& wanted_attributes) {
  const auto user = static_cast<uid_t>(want.user.id);
  const auto group = static_cast<gid_t>(want.group.id);
  const auto permissions = static_cast<mode_t>(want.permissions);
  struct stat status;
  if (::fstat(fd, &status) != 0) return Error::FromErrno("fstat");
  const Identity identity = {status.st_dev, status.st_ino};
  const bool is_owned = status.st_uid == user && status.st_gid == group;
  if (!is_owned && ::fchown(fd, user, group) != 0) return Error::FromErrno("chown");
  const bool attributes_differed =
      TRY(SetAttributes(fd, OpenedAs::kItself, wanted_attributes.attributes, wanted_attributes.others));
  if (is_owned && !attributes_differed && (status.st_mode & 07777) == permissions) return identity;
  if (::fchmod(fd, permissions) != 0) return Error::FromErrno("chmod");
  return identity;
}

}  // namespace pintle::host
