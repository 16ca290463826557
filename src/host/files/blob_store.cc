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

// Each blob has a header: its digest, a space, its length in decimal digits, and a line feed.
constexpr std::size_t kLengthDigits = 19;  // Enough for any off_t.
constexpr std::size_t kHeaderLength = kSha256Digits + 1 + kLengthDigits + 1;

// The tail (contents not yet written to the file) is written before it reaches this many bytes.
constexpr std::size_t kWrittenAtOnce = 256 << 10;
constexpr std::size_t kWindow = 128 << 10;  // The size of the part of the file that ReadSmall() keeps in memory.

// Below this size, read() and write() are faster than copy_file_range().
constexpr std::size_t kMinCopyFileRange = 128 << 10;

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

// Reads this many bytes.  A failing disk may cause short reads, so a short read is not the end of the file.
template <std::size_t kCount>
Result<std::array<char, kCount>> ReadExactly(int fd, off_t offset) {
  std::array<char, kCount> bytes;
  for (std::size_t filled = 0; filled < kCount;) {
    const ssize_t count = ::pread(fd, bytes.data() + filled, kCount - filled, offset + static_cast<off_t>(filled));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::FromErrno("read");
    if (count == 0) return Error(ErrorKind::kInvalid, "the file has become shorter");
    filled += static_cast<std::size_t>(count);
  }
  return bytes;
}

bool CannotBeCopiedByKernel(int errno_value) {
  return errno_value == EXDEV || errno_value == EINVAL || errno_value == EOPNOTSUPP || errno_value == ENOSYS ||
         errno_value == EBADF;
}

}  // namespace

Result<BlobStore> BlobStore::Open(const Root& root, std::string path, OpenMode mode) {
  const std::string doing = fmt::format("opening the store of contents {}", path);
  const std::size_t slash = path.rfind('/');
  const std::string above = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  UniqueFd directory = TRY(root.OpenFile(above, O_RDONLY | O_DIRECTORY), doing);
  const char* const name = path.c_str() + (slash == std::string::npos ? 0 : slash + 1);
  const int access = mode == OpenMode::kRead ? O_RDONLY : O_RDWR;
  UniqueFd file(::openat(directory.get(), name, access | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const bool is_new = !file && errno == ENOENT && mode == OpenMode::kAdd;
  if (is_new) file.Reset(::openat(directory.get(), name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return Error::FromErrno("open").While(doing);
  // Sync() syncs the directory even if the file existed: its creator may have been killed before the name was durable.
  BlobStore store(std::move(directory), std::move(file), std::move(path));
  TRY(store.ReadIndex(mode), doing);
  return store;
}

Result<> BlobStore::ReadIndex(OpenMode mode) {
  struct stat status;
  if (::fstat(file_.get(), &status) != 0) return Error::FromErrno("fstat");
  if (!S_ISREG(status.st_mode)) return Error(ErrorKind::kInvalid, "not a regular file");
  written_ = status.st_size;
  while (status.st_size - end_ >= static_cast<off_t>(kHeaderLength)) {
    auto header =
        ReadHeader(std::string_view(TRY(ReadExactly<kHeaderLength>(file_.get(), end_)).data(), kHeaderLength));
    const auto left = static_cast<std::size_t>(status.st_size - end_) - kHeaderLength;
    if (!header || header->length > left) break;
    const Extent extent = {.offset = end_ + static_cast<off_t>(kHeaderLength), .length = header->length};
    Hasher hasher(DigestAlgorithm::kSha256);
    TRY(Walk(extent, [&](std::string_view piece) {
      hasher.Update(piece);
      return true;
    }));
    // A blob that does not match its digest is skipped; the blobs after it may be complete.
    if (std::move(hasher).Finish().hex() == header->sha256) extents_.emplace(std::move(header->sha256), extent);
    end_ = extent.offset + static_cast<off_t>(extent.length);
  }
  const bool must_truncate = status.st_size > end_ && mode == OpenMode::kAdd;
  if (must_truncate && ::ftruncate(file_.get(), end_) != 0) return Error::FromErrno("cutting off incomplete contents");
  written_ = end_;
  window_.clear();  // The window may contain a part that was cut off.
  is_synced_ = false;
  return {};
}

Result<std::string> BlobStore::Add(std::string_view contents) {
  std::string sha256 = Sha256(contents).hex();
  TRY(AddWithDigest(sha256, contents));
  return sha256;
}

Result<> BlobStore::AddWithDigest(const std::string& sha256, std::string_view contents) {
  if (Has(sha256)) return {};
  const auto doing = [&] { return "storing contents in " + path_; };
  const std::string header = HeaderFor(sha256, contents.size());
  const bool is_long = contents.size() >= kMinCopyFileRange;
  if (is_long || tail_.size() + contents.size() >= kWrittenAtOnce) TRY(WriteTail(), doing());
  if (is_long) {
    if (auto written = WriteAt(end_, header, contents); !written) {
      TruncateToEnd();
      return std::move(written).error().While(doing());
    }
  } else {
    tail_ += header;
    tail_ += contents;
  }
  AddToIndex(sha256, contents.size());
  if (is_long) written_ = end_;
  return {};
}

Result<> BlobStore::WriteTail() {
  TRY(WriteAt(written_, tail_));
  written_ = end_;
  tail_.clear();
  return {};
}

Result<std::string> BlobStore::AddFile(int fd, std::size_t size, std::size_t limit) {
  if (size >= Pieces::kMostAtOnce) return AddFileInPieces(fd, size, limit);
  Pieces pieces(fd, size);
  const std::string_view piece = TRY(pieces.Next());
  // If the file has grown meanwhile, it is read again, in pieces.
  if (piece.size() > size) return AddFileInPieces(fd, piece.size(), limit);
  return Add(piece);
}

Result<std::string> BlobStore::AddFileInPieces(int fd, std::size_t expected, std::size_t limit) {
  TRY(WriteTail(), "storing contents in " + path_);
  IncomingContents incoming;
  Pieces pieces(fd, expected);
  for (;;) {
    const auto piece = pieces.Next();
    auto written = piece ? WriteMore(incoming, *piece) : piece.error();
    if (written && incoming.length > limit) written = Error(ErrorKind::kConflict, "the file grows while it is read");
    if (!written) {
      TruncateToEnd();
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
    if (incoming) TruncateToEnd();
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
    TruncateToEnd();
    return sha256;
  }
  if (auto written = WriteAt(end_, HeaderFor(sha256, incoming.length)); !written) {
    TruncateToEnd();
    return std::move(written).error().While("storing contents in " + path_);
  }
  AddToIndex(sha256, incoming.length);
  written_ = end_;
  return sha256;
}

// Cuts off what was written after the end of the store.  If this fails, these bytes take up space until the store is
// next opened for adding, and nothing else happens, so the result is ignored on purpose.
void BlobStore::TruncateToEnd() const {
  if (::ftruncate(file_.get(), end_) != 0) return;
}

void BlobStore::AddToIndex(std::string sha256, std::size_t length) {
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
  while (extent.length >= kMinCopyFileRange) {
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
    // Pieces may read more than is expected, such as a part of an incoming blob.
    window_ = TRY(pieces.Next()).substr(0, static_cast<std::size_t>(written_ - window_offset_));
  }
  const auto from = static_cast<std::size_t>(extent.offset - window_offset_);
  if (from + extent.length > window_.size()) return Error(ErrorKind::kInvalid, "the file has become shorter");
  return std::string_view(window_).substr(from, extent.length);
}

Result<> BlobStore::WriteAt(off_t offset, std::string_view first, std::string_view second) const {
  if (static_cast<std::uint64_t>(offset) + first.size() + second.size() > limit_) {
    return Error(
        ErrorKind::kSystem,
        fmt::format("there is too little space on its file system: the contents of a change may use {} there, and "
                    "these contents need more; free some space",
                    SizeText(limit_)));
  }
  while (!first.empty() || !second.empty()) {
    const iovec parts[] = {{const_cast<char*>(first.data()), first.size()},
                           {const_cast<char*>(second.data()), second.size()}};
    const ssize_t count = ::pwritev(file_.get(), parts, std::size(parts), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::FromErrno("write");
    offset += count;
    const auto of_first = std::min(first.size(), static_cast<std::size_t>(count));
    first.remove_prefix(of_first);
    second.remove_prefix(static_cast<std::size_t>(count) - of_first);
  }
  return {};
}

}  // namespace pintle::host
