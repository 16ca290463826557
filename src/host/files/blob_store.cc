// SPDX-License-Identifier: Apache-2.0
#include "host/files/blob_store.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/digest.h"
#include "base/write_all.h"
#include "host/files/pieces.h"
#include "host/files/room.h"

namespace pintle::host {
namespace {

// In the file, there is a header before the contents: their digest, a space, their length in decimal digits, and a line
// feed.
constexpr std::size_t kLengthDigits = 19;  // Enough for any off_t.
constexpr std::size_t kHeaderLength = kSha256Digits + 1 + kLengthDigits + 1;

// In bytes: when the tail would become this long, it is written.
constexpr std::size_t kWrittenAtOnce = 256 << 10;
constexpr std::size_t kWindow = 128 << 10;  // The size of the part of the file that ReadSmall() keeps in memory.

// Below this size, read() and write() are faster than copy_file_range().
constexpr std::size_t kCopiedByKernel = 128 << 10;

std::string HeaderFor(std::string_view sha256, std::size_t length) {
  return fmt::format("{} {:0{}}\n", sha256, length, kLengthDigits);
}

struct Header {
  std::string sha256;
  std::size_t length = 0;
};

std::optional<Header> ReadHeader(std::string_view line) {
  if (line.size() != kHeaderLength || line[kSha256Digits] != ' ' || line.back() != '\n') return std::nullopt;
  const auto digest = Digest::FromHex(DigestAlgorithm::kSha256, line.substr(0, kSha256Digits));
  if (!digest) return std::nullopt;
  const std::string_view digits = line.substr(kSha256Digits + 1, kLengthDigits);
  Header header = {.sha256 = digest->hex()};
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), header.length);
  if (problem != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return header;
}

bool CannotBeCopiedByKernel(int errno_value) {
  return errno_value == EXDEV || errno_value == EINVAL || errno_value == EOPNOTSUPP || errno_value == ENOSYS ||
         errno_value == EBADF;
}

}  // namespace

Result<BlobStore> BlobStore::Open(const Root& root, std::string path, For purpose) {
  const std::string doing = fmt::format("opening the store of contents {}", path);
  const std::size_t slash = path.rfind('/');
  const std::string above = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  UniqueFd directory = TRY(root.OpenFile(above, O_RDONLY | O_DIRECTORY), doing);
  const char* const name = path.c_str() + (slash == std::string::npos ? 0 : slash + 1);
  const int access = purpose == For::kReading ? O_RDONLY : O_RDWR;
  UniqueFd file(::openat(directory.get(), name, access | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const bool is_new = !file && errno == ENOENT && purpose == For::kAdding;
  if (is_new) file.Reset(::openat(directory.get(), name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return Error::FromErrno("open").While(doing);
  // Sync() syncs the directory even if the file existed: its creator may have been killed before the name was durable.
  BlobStore store(std::move(directory), std::move(file), std::move(path));
  TRY(store.ReadIndex(purpose), doing);
  return store;
}

Result<> BlobStore::ReadIndex(For purpose) {
  struct stat status;
  if (::fstat(file_.get(), &status) != 0) return Error::FromErrno("fstat");
  if (!S_ISREG(status.st_mode)) return Error(ErrorKind::kInvalid, "not a regular file");
  written_ = status.st_size;
  std::array<char, kHeaderLength> line;
  while (status.st_size - end_ >= static_cast<off_t>(kHeaderLength)) {
    const ssize_t count = ::pread(file_.get(), line.data(), line.size(), end_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::FromErrno("read");
    auto header = ReadHeader(std::string_view(line.data(), static_cast<std::size_t>(count)));
    const auto left = static_cast<std::size_t>(status.st_size - end_) - kHeaderLength;
    if (!header || header->length > left) break;
    const Extent extent = {.offset = end_ + static_cast<off_t>(kHeaderLength), .length = header->length};
    Hasher hasher(DigestAlgorithm::kSha256);
    TRY(Walk(extent, [&](std::string_view piece) {
      hasher.Update(piece);
      return true;
    }));
    // Contents that do not match their digest are ignored.  The contents after them may be complete.
    if (std::move(hasher).Finish().hex() == header->sha256) extents_.emplace(std::move(header->sha256), extent);
    end_ = extent.offset + static_cast<off_t>(extent.length);
  }
  const bool must_truncate = status.st_size > end_ && purpose == For::kAdding;
  if (must_truncate && ::ftruncate(file_.get(), end_) != 0) return Error::FromErrno("cutting off incomplete contents");
  written_ = end_;
  window_.clear();  // The window may contain a part that was cut off.
  is_synced_ = false;
  return {};
}

Result<std::string> BlobStore::Add(std::string_view contents) {
  std::string sha256 = Sha256(contents).hex();
  TRY(AddKnown(sha256, contents));
  return sha256;
}

Result<> BlobStore::AddKnown(const std::string& sha256, std::string_view contents) {
  if (Has(sha256)) return {};
  const auto doing = [&] { return "storing contents in " + path_; };
  const std::string header = HeaderFor(sha256, contents.size());
  const bool is_long = contents.size() >= kCopiedByKernel;
  if (is_long || tail_.size() + contents.size() >= kWrittenAtOnce) TRY(WriteTail(), doing());
  if (is_long) {
    TRY(WriteAt(end_, header, contents), doing());
  } else {
    tail_ += header;
    tail_ += contents;
  }
  Remember(sha256, contents.size());
  if (is_long) written_ = end_;
  return {};
}

Result<> BlobStore::WriteTail() {
  TRY(WriteAt(written_, tail_));
  written_ = end_;
  tail_.clear();
  return {};
}

Result<std::string> BlobStore::AddFile(int fd, std::size_t size) {
  if (size >= Pieces::kMostAtOnce) return AddLongFile(fd, size);
  Pieces pieces(fd, size);
  const std::string_view piece = TRY(pieces.Next());
  // If the file has grown meanwhile, it is read again, in pieces.
  if (piece.size() > size) return AddLongFile(fd, piece.size());
  return Add(piece);
}

Result<std::string> BlobStore::AddLongFile(int fd, std::size_t expected) {
  TRY(WriteTail(), "storing contents in " + path_);
  IncomingContents incoming;
  Pieces pieces(fd, expected);
  for (;;) {
    const auto piece = pieces.Next();
    const auto written = piece ? WriteMore(incoming, *piece) : piece.error();
    if (!written) {
      DiscardIncoming();
      return written.error();
    }
    if (piece->empty()) return FinishIncoming(std::move(incoming));
  }
}

Result<std::string> BlobStore::AddPieces(const WalkPieces& walk) {
  std::string beginning;
  std::optional<IncomingContents> incoming;
  const auto walked = walk([&](std::string_view piece) -> Result<bool> {
    if (!incoming && beginning.size() + piece.size() < Pieces::kMostAtOnce) {
      beginning += piece;
      return true;
    }
    if (!incoming) {
      TRY(WriteTail(), "storing contents in " + path_);
      incoming.emplace();
      TRY(WriteMore(*incoming, beginning));
    }
    TRY(WriteMore(*incoming, piece));
    return true;
  });
  if (!walked) {
    if (incoming) DiscardIncoming();
    return walked.error();
  }
  return incoming ? FinishIncoming(*std::move(incoming)) : Add(beginning);
}

// Leaves room for the header, which is written when the digest is known.
Result<> BlobStore::WriteMore(IncomingContents& incoming, std::string_view piece) {
  incoming.hasher.Update(piece);
  TRY(WriteAt(end_ + static_cast<off_t>(kHeaderLength + incoming.length), piece), "storing contents in " + path_);
  incoming.length += piece.size();
  return {};
}

Result<std::string> BlobStore::FinishIncoming(IncomingContents incoming) {
  std::string sha256 = std::move(incoming.hasher).Finish().hex();
  if (Has(sha256)) {
    DiscardIncoming();
    return sha256;
  }
  TRY(WriteAt(end_, HeaderFor(sha256, incoming.length)), "storing contents in " + path_);
  Remember(sha256, incoming.length);
  written_ = end_;
  return sha256;
}

// If this fails, the bytes after the end take up space until the store is next opened for adding.
void BlobStore::DiscardIncoming() const {
  if (::ftruncate(file_.get(), end_) != 0) return;
}

void BlobStore::Remember(std::string sha256, std::size_t length) {
  const Extent extent = {.offset = end_ + static_cast<off_t>(kHeaderLength), .length = length};
  end_ = extent.offset + static_cast<off_t>(length);
  is_synced_ = false;
  extents_.emplace(std::move(sha256), extent);
}

Result<> BlobStore::Sync() {
  TRY(WriteTail(), "storing contents in " + path_);
  if (!is_synced_ && ::fdatasync(file_.get()) != 0) return Error::FromErrno("fdatasync").While("syncing " + path_);
  is_synced_ = true;
  if (directory_ && ::fsync(directory_.get()) != 0) {
    return Error::FromErrno("fsync of its directory").While("syncing " + path_);
  }
  directory_.Reset();
  return {};
}

std::optional<std::size_t> BlobStore::SizeOf(const std::string& sha256) const {
  const auto found = extents_.find(sha256);
  if (found == extents_.end()) return std::nullopt;
  return found->second.length;
}

Result<BlobStore::Extent> BlobStore::Find(const std::string& sha256) const {
  const auto found = extents_.find(sha256);
  if (found != extents_.end()) return found->second;
  return Error(ErrorKind::kNotFound, fmt::format("{} has no contents with the digest {}", path_, sha256));
}

Result<> BlobStore::CopyTo(const std::string& sha256, int fd) const {
  Extent extent = TRY(Find(sha256));
  while (extent.length >= kCopiedByKernel) {
    const ssize_t count = ::copy_file_range(file_.get(), &extent.offset, fd, nullptr, extent.length, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && !CannotBeCopiedByKernel(errno)) return Error::FromErrno("copy");
    if (count <= 0) break;
    extent.length -= static_cast<std::size_t>(count);
  }
  return Walk(extent, [&](std::string_view piece) -> Result<bool> {
    TRY(WriteAll(fd, piece));
    return true;
  });
}

Result<bool> BlobStore::Equals(const std::string& sha256, int fd) const {
  const Extent extent = TRY(Find(sha256));
  Pieces theirs(fd, extent.length);  // The pieces of the open file.
  bool is_equal = true;
  std::string_view their_piece;
  TRY(Walk(extent, [&](std::string_view piece) -> Result<bool> {
    while (is_equal && !piece.empty()) {
      if (their_piece.empty()) their_piece = TRY(theirs.Next());
      const std::size_t count = std::min(piece.size(), their_piece.size());
      is_equal = count > 0 && piece.substr(0, count) == their_piece.substr(0, count);
      piece.remove_prefix(count);
      their_piece.remove_prefix(count);
    }
    return is_equal;
  }));
  return is_equal && their_piece.empty() && TRY(theirs.Next()).empty();
}

Result<std::string> BlobStore::Read(const std::string& sha256, std::size_t limit) const {
  const Extent extent = TRY(Find(sha256));
  if (extent.length > limit) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("contents of {} bytes, longer than the limit of {} bytes", extent.length, limit));
  }
  std::string contents;
  contents.reserve(extent.length);
  TRY(Walk(extent, [&](std::string_view piece) {
    contents += piece;
    return true;
  }));
  return contents;
}

Result<> BlobStore::Walk(const Extent& extent, const TakePiece& take) const {
  if (extent.length <= kWindow / 4 || extent.offset >= written_) {
    TRY(take(TRY(ReadSmall(extent), "reading " + path_)));
    return {};
  }
  Pieces pieces(file_.get(), extent.length, extent.offset);
  for (std::size_t left = extent.length; left > 0;) {
    const std::string_view piece = TRY(pieces.Next(), "reading " + path_).substr(0, left);
    if (piece.empty()) return Error(ErrorKind::kInvalid, path_ + " has become shorter");
    left -= piece.size();
    if (!TRY(take(piece))) break;
  }
  return {};
}

// Returns contents that are in the tail or fit into the window.  A new window reaches to both sides of the contents,
// since callers usually read contents in the order in which they were added, or in reverse.
Result<std::string_view> BlobStore::ReadSmall(const Extent& extent) const {
  if (extent.offset >= written_) {
    return std::string_view(tail_).substr(static_cast<std::size_t>(extent.offset - written_), extent.length);
  }
  const auto window_end = window_offset_ + static_cast<off_t>(window_.size());
  if (extent.offset < window_offset_ || extent.offset + static_cast<off_t>(extent.length) > window_end) {
    window_offset_ = std::max<off_t>(extent.offset - static_cast<off_t>(kWindow / 2), 0);
    Pieces pieces(file_.get(), std::min(kWindow, static_cast<std::size_t>(written_ - window_offset_)), window_offset_);
    window_ = TRY(pieces.Next());
  }
  const auto from = static_cast<std::size_t>(extent.offset - window_offset_);
  if (from + extent.length > window_.size()) return Error(ErrorKind::kInvalid, "the file has become shorter");
  return std::string_view(window_).substr(from, extent.length);
}

Result<> BlobStore::WriteAt(off_t offset, std::string_view head, std::string_view tail) const {
  if (static_cast<std::uint64_t>(offset) + head.size() + tail.size() > limit_) {
    return Error(
        ErrorKind::kSystem,
        fmt::format("there is too little space on its file system: the contents of a change may use {} there, and "
                    "these contents need more; free some space",
                    SizeText(limit_)));
  }
  while (!head.empty() || !tail.empty()) {
    const iovec parts[] = {{const_cast<char*>(head.data()), head.size()},
                           {const_cast<char*>(tail.data()), tail.size()}};
    const ssize_t count = ::pwritev(file_.get(), parts, std::size(parts), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::FromErrno("write");
    offset += count;
    const auto of_head = std::min(head.size(), static_cast<std::size_t>(count));
    head.remove_prefix(of_head);
    tail.remove_prefix(static_cast<std::size_t>(count) - of_head);
  }
  return {};
}

}  // namespace pintle::host
