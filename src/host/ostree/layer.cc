// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/layer.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "base/root.h"
#include "base/unique_fd.h"
#include "host/ostree/disk_space.h"

namespace pintle::host {
namespace {

constexpr std::size_t kBlock = 1 << 20;  // The number of bytes to read at once.
constexpr std::string_view kPackedRepository = "sysroot/ostree/repo/";
constexpr std::string_view kPackedObjects = "sysroot/ostree/repo/objects/";

Error ArchiveError(archive* opened) {
  const char* text = ::archive_error_string(opened);
  return Error(ErrorKind::kInvalid, text == nullptr ? "it is not an archive" : text);
}

Error Cancelled() { return Error(ErrorKind::kCancelled, "it was cancelled"); }

Result<> CheckBytes(const std::string& path, const OciDescriptor& layer, const std::stop_token& stop) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return Error::FromErrno("open");
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return Error::FromErrno("fstat");
  if (!S_ISREG(status.st_mode)) return Error(ErrorKind::kInvalid, "it is not a regular file");
  if (static_cast<std::uint64_t>(status.st_size) != layer.size) {
    return Error(ErrorKind::kInvalid, fmt::format("it has {} bytes and not {}", status.st_size, layer.size));
  }
  Hasher hasher(DigestAlgorithm::kSha256);
  std::string buffer(kBlock, '\0');
  for (;;) {
    if (stop.stop_requested()) return Cancelled();
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::FromErrno("read");
    if (count == 0) break;
    hasher.Update(std::string_view(buffer.data(), static_cast<std::size_t>(count)));
  }
  const std::string digest = "sha256:" + std::move(hasher).Finish().hex();
  if (digest == layer.digest) return {};
  return Error(ErrorKind::kInvalid, fmt::format("its contents have the digest {}", digest));
}

// Returns "./usr//bin/x/" as "usr/bin/x", and the root as "".
Result<std::string> NormalPath(std::string_view path) {
  std::string normal;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == "..") return Error(ErrorKind::kInvalid, fmt::format("\"{}\" leads out of the tree", path));
    if (!normal.empty()) normal += '/';
    normal += part;
  }
  return normal;
}

std::uint64_t SizeOf(archive_entry* entry) {
  return static_cast<std::uint64_t>(std::max<la_int64_t>(::archive_entry_size(entry), 0));
}

// Checks the entries of a layer one after the other.
class LayerChecker {
 public:
  Result<> Add(archive_entry* entry) {
    const char* name = ::archive_entry_pathname(entry);
    if (name == nullptr) return Error(ErrorKind::kInvalid, "an entry has no name that can be read");
    const std::string path = TRY(NormalPath(name));
    if (path.starts_with(kPackedRepository)) {
      return Error(ErrorKind::kInvalid,
                   "it has an OSTree repository in it, but no label of the image names a packed commit");
    }
    AddParents(path);
    if (::archive_entry_hardlink(entry) != nullptr) return AddHardLink(path, ::archive_entry_hardlink(entry));
    switch (::archive_entry_filetype(entry)) {
      case AE_IFDIR:
        if (links_.contains(path) || files_.contains(path)) return TwoKindsError(path);
        directories_.insert(path);
        return {};
      case AE_IFREG:
        if (directories_.contains(path)) return TwoKindsError(path);
        TRY(AddSize(bytes_, SizeOf(entry)), fmt::format("\"{}\"", path));
        files_.insert(path);
        return {};
      case AE_IFLNK:
        if (directories_.contains(path)) return TwoKindsError(path);
        links_.insert(path);
        return {};
      default:
        return Error(ErrorKind::kInvalid, fmt::format("\"{}\" is neither a file nor a directory nor a link", path));
    }
  }

  Result<LayerContents> Contents() && {
    LayerContents contents{bytes_, {}};
    for (const std::string& parent : parents_) {
      if (files_.contains(parent) || links_.contains(parent)) return TwoKindsError(parent);
      if (!directories_.contains(parent)) contents.implied.push_back(parent);
    }
    return contents;
  }

 private:
  static Error TwoKindsError(const std::string& path) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("\"{}\" is in the layer both as a directory and as something else", path));
  }

  Result<> AddHardLink(const std::string& path, const char* to) {
    const std::string target = TRY(NormalPath(to));
    if (!files_.contains(target) && !links_.contains(target)) {
      return Error(ErrorKind::kInvalid,
                   fmt::format("\"{}\" is a hard link to \"{}\", which is not in the layer", path, target));
    }
    if (directories_.contains(path)) return TwoKindsError(path);
    files_.insert(path);
    return {};
  }

  void AddParents(std::string_view path) {
    for (std::size_t slash = path.rfind('/'); slash != std::string_view::npos; slash = path.rfind('/')) {
      path = path.substr(0, slash);
      if (!parents_.emplace(path).second) return;
    }
  }

  std::uint64_t bytes_ = 0;
  std::unordered_set<std::string> files_;
  std::unordered_set<std::string> links_;
  std::unordered_set<std::string> directories_;
  std::set<std::string> parents_;
};

using Visitor = std::function<Result<>(archive* opened, archive_entry* entry)>;

Result<> ForEachEntry(const std::string& path, const std::stop_token& stop, const Visitor& visit) {
  const Archive opened = TRY(OpenLayer(path));
  for (;;) {
    if (stop.stop_requested()) return Cancelled();
    archive_entry* entry = nullptr;
    const int result = ::archive_read_next_header(opened.get(), &entry);
    if (result == ARCHIVE_EOF) return {};
    if (result != ARCHIVE_OK) return ArchiveError(opened.get());
    TRY(visit(opened.get(), entry));
    if (::archive_read_data_skip(opened.get()) != ARCHIVE_OK) return ArchiveError(opened.get());
  }
}

Result<LayerContents> CheckEntries(const std::string& path, const std::stop_token& stop) {
  LayerChecker entries;
  TRY(ForEachEntry(path, stop, [&](archive*, archive_entry* entry) { return entries.Add(entry); }));
  return std::move(entries).Contents();
}

// Returns the checksum in a path such as "sysroot/ostree/repo/objects/12/3456….dirtree", and the text after the dot.
std::optional<std::pair<std::string, std::string>> ObjectName(std::string_view path) {
  constexpr std::size_t kFolderDigits = 2, kFileDigits = 62;
  if (!path.starts_with(kPackedObjects)) return std::nullopt;
  path.remove_prefix(kPackedObjects.size());
  const std::size_t dot = kFolderDigits + 1 + kFileDigits;
  if (path.size() < dot + 2 || path[kFolderDigits] != '/' || path[dot] != '.') return std::nullopt;
  auto digest =
      Digest::FromHex(DigestAlgorithm::kSha256,
                      std::string(path.substr(0, kFolderDigits)).append(path.substr(kFolderDigits + 1, kFileDigits)));
  if (!digest) return std::nullopt;
  return std::pair(digest->hex(), std::string(path.substr(dot + 1)));
}

Result<std::optional<PackedObject>> ObjectIn(archive_entry* entry) {
  const char* name = ::archive_entry_pathname(entry);
  auto parts = ObjectName(name == nullptr ? "" : TRY(NormalPath(name)));
  if (!parts) return std::nullopt;
  PackedObject object;
  std::tie(object.checksum, object.kind) = *std::move(parts);
  object.user = static_cast<std::uint32_t>(::archive_entry_uid(entry));
  object.group = static_cast<std::uint32_t>(::archive_entry_gid(entry));
  object.permissions = static_cast<std::uint32_t>(::archive_entry_perm(entry));
  if (const char* same_as = ::archive_entry_hardlink(entry)) {
    const auto target = ObjectName(TRY(NormalPath(same_as)));
    if (!target) return Error(ErrorKind::kInvalid, fmt::format("the object \"{}\" is a hard link to no object", name));
    object.same_as = target->first;
  } else if (::archive_entry_filetype(entry) == AE_IFLNK) {
    const char* target = ::archive_entry_symlink(entry);
    if (target == nullptr) return Error(ErrorKind::kInvalid, fmt::format("the link \"{}\" has no target", name));
    object.target = target;
  } else if (::archive_entry_filetype(entry) == AE_IFREG) {
    object.size = SizeOf(entry);
  } else {
    return Error(ErrorKind::kInvalid, fmt::format("the object \"{}\" is neither a file nor a link", name));
  }
  return object;
}

bool IsBelow(std::string_view path, std::string_view directory) {
  return path.size() > directory.size() && path.starts_with(directory) && path[directory.size()] == '/';
}

// Unpacks the part of a layer that is below a directory.
class LayerUnpacker {
 public:
  LayerUnpacker(const std::string& below, const std::string& into, const Root& root)
      : below_(below), into_(into), root_(root) {}

  // Removes the files that a whiteout hides.  Does nothing for other entries.
  Result<> ApplyWhiteout(archive_entry* entry) const {
    const std::filesystem::path path = TRY(NormalPath(::archive_entry_pathname(entry)));
    const std::string name = path.filename();
    if (!name.starts_with(kWhiteout)) return {};
    const std::filesystem::path folder = path.parent_path();
    const std::string hidden_name = name.substr(kWhiteout.size());
    if (name != kOpaque && (hidden_name.empty() || hidden_name == "." || hidden_name == "..")) {
      return Error(ErrorKind::kInvalid, fmt::format("\"{}\" is a whiteout without a name", std::string(path)));
    }
    const std::string hidden = name == kOpaque ? folder : folder / hidden_name;
    const bool hides_all = hidden.empty() || hidden == below_ || IsBelow(below_, hidden);
    if (!hides_all && !IsBelow(hidden, below_)) return {};
    std::error_code failed;
    std::filesystem::remove_all(into_ + "/" + (hides_all ? below_ : hidden), failed);
    if (failed) return Error::FromErrno("unlink", failed.value()).While("removing " + hidden);
    return {};
  }

  Result<> Unpack(archive* opened, archive_entry* entry) const {
    const std::string path = TRY(NormalPath(::archive_entry_pathname(entry)));
    if (!IsBelow(path, below_)) return {};
    const std::filesystem::path place(path);
    if (place.filename().string().starts_with(kWhiteout)) return {};
    if (::archive_entry_filetype(entry) == AE_IFDIR) return root_.MakeDirectories(path);
    if (::archive_entry_filetype(entry) != AE_IFREG || ::archive_entry_hardlink(entry) != nullptr) {
      return Error(ErrorKind::kInvalid, fmt::format("\"{}\" is a link, and only files were expected", path));
    }
    TRY(root_.MakeDirectories(place.parent_path().string()));
    const UniqueFd file = TRY(root_.OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644));
    if (::archive_read_data_into_fd(opened, file.get()) != ARCHIVE_OK)
      return ArchiveError(opened).While("writing " + path);
    return {};
  }

 private:
  const std::string& below_;
  const std::string& into_;
  const Root& root_;
};

}  // namespace

int FreeArchive(archive* opened) { return ::archive_read_free(opened); }

Result<LayerContents> CheckLayer(const std::string& path, const OciDescriptor& layer, const std::stop_token& stop) {
  const auto doing = [&] { return fmt::format("checking the layer {}", layer.digest); };
  TRY(CheckBytes(path, layer, stop), doing());
  return TRY(CheckEntries(path, stop), doing());
}

Result<> ForEachObject(const std::string& path, const std::stop_token& stop, const ObjectVisitor& visit) {
  return ForEachEntry(path, stop, [&](archive* opened, archive_entry* entry) -> Result<> {
    const auto object = TRY(ObjectIn(entry));
    if (!object) return {};
    const auto read = [&](std::span<char> room) -> Result<std::size_t> {
      const la_ssize_t count = ::archive_read_data(opened, room.data(), room.size());
      if (count < 0) return ArchiveError(opened);
      return static_cast<std::size_t>(count);
    };
    TRY(visit(*object, read), fmt::format("the object {}.{}", object->checksum, object->kind));
    return {};
  });
}

Result<std::uint64_t> CheckPackedLayer(const std::string& path, const OciDescriptor& layer,
                                       const std::stop_token& stop) {
  const auto doing = [&] { return fmt::format("checking the layer {}", layer.digest); };
  TRY(CheckBytes(path, layer, stop), doing());
  std::uint64_t bytes = 0;
  TRY(ForEachObject(path, stop,
                    [&](const PackedObject& object, const ReadNext&) { return AddSize(bytes, object.size); }),
      doing());
  return bytes;
}

Result<> UnpackLayer(const std::string& path, const std::string& below, const std::string& into,
                     const std::stop_token& stop) {
  const Root root = TRY(Root::Open(into));
  const LayerUnpacker unpacker(below, into, root);
  // Whiteouts apply to earlier layers only, wherever they are in the archive.  So all of them are applied first.
  TRY(ForEachEntry(path, stop, [&](archive*, archive_entry* entry) { return unpacker.ApplyWhiteout(entry); }));
  return ForEachEntry(path, stop,
                      [&](archive* opened, archive_entry* entry) { return unpacker.Unpack(opened, entry); });
}

Result<Archive> OpenLayer(const std::string& path) {
  Archive opened(::archive_read_new());
  if (opened == nullptr) return Error::FromErrno("archive_read_new", ENOMEM);
  // Other filters and formats would run programs, or accept files that are not archives.
  ::archive_read_support_filter_gzip(opened.get());
  ::archive_read_support_filter_zstd(opened.get());
  ::archive_read_support_format_tar(opened.get());
  if (::archive_read_open_filename(opened.get(), path.c_str(), kBlock) != ARCHIVE_OK) return ArchiveError(opened.get());
  return opened;
}

}  // namespace pintle::host
