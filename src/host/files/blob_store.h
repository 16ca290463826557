// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps contents of files under their SHA-256.
//
// All contents are in one file that only grows, so that keeping a thousand small ones costs a few sequential writes
// and one fsync.  Equal contents are kept once.  When the store is opened, an end that a power cut has torn is found
// by its digest and cut off: a store has contents whole or not at all.  Memory holds the digests, the offsets, and a
// window around the last read or write; long contents are processed in pieces.

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
  // kAdding makes the file if it does not exist; its directory must.  Only the owner may read the file.  kReading
  // leaves the file as it is, even if it is damaged.
  enum class For { kAdding, kReading };
  static Result<BlobStore> Open(const Root& root, std::string path, For what = For::kAdding);

  // These functions return the digest of the contents that they add, which are durable after the next Sync().
  Result<std::string> Add(std::string_view contents);
  // Adds contents whose digest the caller has computed.
  Result<> AddKnown(const std::string& sha256, std::string_view contents);
  // Adds a whole file, which is read once, so that digest and contents agree even if someone writes to the file
  // meanwhile. `size` may be out of date.
  Result<std::string> AddFile(int fd, std::size_t size);
  // Adds contents of any length that arrive in pieces.
  Result<std::string> AddPieces(const WalkPieces& walk);
  Result<> Sync();

  // Sets the limit of the file's length, so that others have room on the disk, too.  Exceeding it is an error.
  void LimitTo(std::uint64_t bytes) { limit_ = bytes; }

  bool Has(const std::string& sha256) const { return extents_.contains(sha256); }
  // Returns the length of the contents with this digest.
  std::optional<std::size_t> SizeOf(const std::string& sha256) const;

  // Writes the contents to an open file, at its offset.
  Result<> CopyTo(const std::string& sha256, int fd) const;
  // Returns whether an open file has exactly these contents.
  Result<bool> Equals(const std::string& sha256, int fd) const;
  Result<std::string> Read(const std::string& sha256, std::size_t limit) const;

 private:
  struct Extent {
    off_t offset = 0;
    std::size_t length = 0;
  };

  // Long contents that are being written behind the end.  Their digest is known only after the last piece.
  struct IncomingContents {
    Hasher hasher{DigestAlgorithm::kSha256};
    std::size_t length = 0;
  };

  BlobStore(UniqueFd directory, UniqueFd file, std::string path)
      : directory_(std::move(directory)), file_(std::move(file)), path_(std::move(path)) {}

  Result<> ReadIndex(For what);
  Result<Extent> Find(const std::string& sha256) const;
  Result<> Walk(const Extent& extent, const TakePiece& take) const;
  Result<std::string_view> LookAt(const Extent& extent) const;
  Result<> WriteTail();
  Result<> WriteAt(off_t offset, std::string_view head, std::string_view tail = {}) const;
  Result<std::string> AddLongFile(int fd, std::size_t expected);
  Result<> WriteMore(IncomingContents& incoming, std::string_view piece);
  Result<std::string> HaveArrived(IncomingContents incoming);
  void GiveUpArriving() const;
  void Remember(std::string sha256, std::size_t length);

  UniqueFd directory_;  // Open until its entry for the file is durable.
  UniqueFd file_;
  std::string path_;
  std::uint64_t limit_ = std::numeric_limits<std::uint64_t>::max();
  off_t end_ = 0;
  off_t written_ = 0;  // Everything from this offset to the end is only in the tail.
  std::string tail_;
  mutable std::string window_;
  mutable off_t window_offset_ = 0;
  bool is_synced_ = true;
  std::unordered_map<std::string, Extent> extents_;
};

}  // namespace pintle::host
