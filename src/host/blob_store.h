// SPDX-License-Identifier: Apache-2.0
#pragma once

// Contents of files, kept under their SHA-256.
//
// All are in one file that only grows, so that keeping a thousand small ones costs a few sequential writes and one
// fsync.  Equal contents are kept once.  What a power cut tore off is found by its digest when the store is opened, and
// cut: a store has whole contents or does not have them.  In memory there are the digests and their places, and what is
// around the place where it was last written or read; long contents go through in pieces.

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
  // Makes the file when there is none; its directory must exist.  Only its owner may read it.  A store that is opened
  // for reading is left as it is, also where it is damaged.
  enum class For { kAdding, kReading };
  static Result<BlobStore> Open(const Root& root, std::string path, For what = For::kAdding);

  // These give the digest.  What they add is durable after the next Sync().
  Result<std::string> Add(std::string_view contents);
  // The same for contents whose digest the caller has computed.
  Result<> AddKnown(const std::string& sha256, std::string_view contents);
  // The whole of a file, which is read once: digest and contents agree even if someone writes to it meanwhile.  Its
  // size may be another by now.
  Result<std::string> AddFile(int fd, std::size_t size);
  // What is handed on in pieces, however long it is.
  Result<std::string> AddPieces(const WalkPieces& walk);
  Result<> Sync();

  // What would make the file longer than this is an error, so that others have room on the disk, too.
  void LimitTo(std::uint64_t bytes) { limit_ = bytes; }

  bool Has(const std::string& sha256) const { return extents_.contains(sha256); }
  // How many bytes there are under a digest.
  std::optional<std::size_t> SizeOf(const std::string& sha256) const;

  // Writes the contents to an open file, at its offset.
  Result<> CopyTo(const std::string& sha256, int fd) const;
  // Whether an open file has just these contents.
  Result<bool> Equals(const std::string& sha256, int fd) const;
  Result<std::string> Read(const std::string& sha256, std::size_t limit) const;

 private:
  struct Extent {
    off_t offset = 0;
    std::size_t length = 0;
  };

  // Long contents that are being written behind the end.  Their digest is known when all of them are there.
  struct Arriving {
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
  Result<> WriteMore(Arriving& arriving, std::string_view piece);
  Result<std::string> HaveArrived(Arriving arriving);
  void GiveUpArriving() const;
  void Remember(std::string sha256, std::size_t length);

  UniqueFd directory_;  // Until its entry for the file is durable.
  UniqueFd file_;
  std::string path_;
  std::uint64_t limit_ = std::numeric_limits<std::uint64_t>::max();
  off_t end_ = 0;
  off_t written_ = 0;  // From here to the end, it is in the tail only.
  std::string tail_;
  mutable std::string window_;
  mutable off_t window_offset_ = 0;
  bool is_synced_ = true;
  std::unordered_map<std::string, Extent> extents_;
};

}  // namespace pintle::host
