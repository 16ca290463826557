// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stores contents of files under their SHA-256 digests.
//
// A blob is the contents of one file.  All blobs are in one file that only grows, so that storing a thousand small
// blobs costs a few sequential writes and one fsync.  Equal contents are stored once.  After a power cut, some blobs
// may be incomplete.  When the store is opened, a blob with a wrong digest is skipped; when it is opened to add blobs,
// a blob that extends beyond the end of the file is cut off.  Memory holds the digests, the offsets, and a window
// around the last read; long blobs are processed in pieces.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/digest.h"
#include "base/result.h"
#include "base/root.h"
#include "base/take_piece.h"
#include "base/unique_fd.h"

namespace pintle::host {

class BlobStore {
 public:
  // kAdd creates the file if it does not exist; the file's directory must exist.  Only the owner may read the file.
  // kRead leaves the file as it is, even if it is damaged.
  enum class OpenMode { kAdd, kRead };
  static Result<BlobStore> Open(const Root& root, std::string path, OpenMode mode = OpenMode::kAdd);

  // Adds contents and returns their SHA-256 digest in hexadecimal.  All added contents are durable after the next
  // Sync().
  Result<std::string> Add(std::string_view contents);
  // Adds contents whose digest the caller has computed.
  Result<> AddWithDigest(const std::string& sha256, std::string_view contents);
  // Adds a whole file and returns the digest.  Digest and contents come from the same read, so they agree even if
  // someone writes to the file meanwhile.  `size` is the size that the caller expects; it may be wrong.  It is a
  // conflict if the file is longer than `limit` by now.
  Result<std::string> AddFile(int fd, std::size_t size, std::size_t limit = std::numeric_limits<std::size_t>::max());
  // Adds contents of any length that arrive in pieces, and returns their digest.
  Result<std::string> AddPieces(const WalkPieces& walk);
  Result<> Sync();

  // Limits the length of the store's file, so that the disk has room for other programs.  An addition that would exceed
  // the limit is an error.
  void LimitTo(std::uint64_t bytes) { limit_ = bytes; }

  bool Has(const std::string& sha256) const { return extents_.contains(sha256); }
  // Returns the length of the contents with this digest, or nullopt if the store does not have them.
  std::optional<std::size_t> SizeOf(const std::string& sha256) const;

  // Writes the contents to an open file, at the file's current offset.
  Result<> CopyTo(const std::string& sha256, int fd) const;
  // Returns whether an open file has exactly these contents.
  Result<bool> Equals(const std::string& sha256, int fd) const;
  // Returns the contents.  Contents longer than `limit` are an error.
  Result<std::string> Read(const std::string& sha256, std::size_t limit) const;

 private:
  // The place of a blob's contents in the file, or in the tail that will be written to the file.
  struct Extent {
    off_t offset = 0;
    std::size_t length = 0;
  };

  // Long contents that are being written after the end of the store.  Their digest is known only after the last piece.
  struct IncomingContents {
    Hasher hasher{DigestAlgorithm::kSha256};
    std::size_t length = 0;
  };

  BlobStore(UniqueFd directory, UniqueFd file, std::string path)
      : directory_(std::move(directory)), file_(std::move(file)), path_(std::move(path)) {}

  // Finds the contents in the file and checks their digests.
  Result<> ReadIndex(OpenMode mode);
  Result<Extent> Find(const std::string& sha256) const;
  Result<> Walk(const Extent& extent, const TakePiece& take) const;
  Result<std::string_view> ReadSmall(const Extent& extent) const;
  Result<> WriteTail();
  // Writes `first` and then `second` at this offset of the file.
  Result<> WriteAt(off_t offset, std::string_view first, std::string_view second = {}) const;
  Result<std::string> AddFileInPieces(int fd, std::size_t expected, std::size_t limit);
  Result<> WriteMore(IncomingContents& incoming, std::string_view piece);
  Result<std::string> FinishIncoming(IncomingContents incoming);
  void TruncateToEnd() const;
  void AddToIndex(std::string sha256, std::size_t length);

  UniqueFd directory_;  // Stays open until the file's name is durable.
  UniqueFd file_;
  std::string path_;
  std::uint64_t limit_ = std::numeric_limits<std::uint64_t>::max();
  off_t end_ = 0;               // The end of the store, including the tail.
  off_t written_ = 0;           // The end of the part that is in the file.
  std::string tail_;            // The part after `written_`, for WriteTail().
  mutable std::string window_;  // The part of the file around the last read.
  mutable off_t window_offset_ = 0;
  bool is_synced_ = true;
  std::unordered_map<std::string, Extent> extents_;
};

}  // namespace pintle::host
