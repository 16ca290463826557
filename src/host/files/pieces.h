// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads an open file in pieces, so that a large file is never in memory as a whole.

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/result.h"

namespace pintle::host {

class Pieces {
 public:
  static constexpr std::size_t kMostAtOnce = 256 << 10;  // The maximum size of a piece, in bytes.

  // `expected` is the likely number of bytes; `offset` is where the first piece begins.
  Pieces(int fd, std::size_t expected, off_t offset = 0);

  // Returns the next piece, which is valid until the next call.  An empty piece means the end of the file.  A file of
  // the expected size is read in as few pieces as possible.
  Result<std::string_view> Next();

 private:
  int fd_;
  off_t offset_;
  off_t expected_end_;
  std::size_t size_;
  bool has_ended_ = false;
  std::unique_ptr<char[]> buffer_;
};

}  // namespace pintle::host
