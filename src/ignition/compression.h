// SPDX-License-Identifier: Apache-2.0
#pragma once

// Unpacks gzip, for configs and for the contents of files.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/size_limits.h"
#include "base/take_piece.h"

namespace pintle::ignition {

// A few compressed kilobytes can unpack to more than the memory of a machine, so we unpack no more bytes than this.
inline constexpr std::size_t kUnpackedLimit = limits::kFileContents;

inline bool IsGzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

// Returns an error unless the data begins with a whole gzip header.  Errors have the words of Go's gzip reader.
Result<> CheckGzipHeader(std::string_view bytes);

// Unpacks data that arrives in pieces, and passes the unpacked data on in pieces.  The data may consist of several gzip
// members.  More than `limit` bytes are an error.
class Gunzipper {
 public:
  explicit Gunzipper(TakePiece take, std::size_t limit = kUnpackedLimit);
  ~Gunzipper();
  Gunzipper(const Gunzipper&) = delete;
  Gunzipper& operator=(const Gunzipper&) = delete;

  // Unpacks the next piece, and returns whether `take` wants more.
  Result<bool> Take(std::string_view packed);
  // Must be called at the end of the data.  Returns an error if the data is empty or ends in the middle of a member.
  Result<> End() const;

 private:
  class Inflater;

  Result<bool> PassOn(std::string_view unpacked);

  TakePiece take_;
  std::size_t limit_;
  std::size_t unpacked_ = 0;
  bool has_begun_ = false;
  std::unique_ptr<Inflater> inflater_;  // Exists only in the middle of a member.
  std::unique_ptr<char[]> buffer_;
};

// Unpacks data that is in memory as a whole.
Result<std::string> Gunzip(std::string_view bytes, std::size_t limit = kUnpackedLimit);

}  // namespace pintle::ignition
