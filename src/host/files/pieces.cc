// SPDX-License-Identifier: Apache-2.0
#include "host/files/pieces.h"

#include <unistd.h>

#include <algorithm>

namespace pintle::host {

// The buffer has one byte more than is expected, so that the end of the file is found without another read().
Pieces::Pieces(int fd, std::size_t expected, off_t offset)
    : fd_(fd),
      offset_(offset),
      expected_end_(offset + static_cast<off_t>(expected)),
      size_(std::clamp<std::size_t>(expected, 511, kMostAtOnce - 1) + 1),
      buffer_(std::make_unique_for_overwrite<char[]>(size_)) {}

Result<std::string_view> Pieces::Next() {
  std::size_t filled = 0;
  while (filled < size_ && !has_ended_) {
    const std::size_t wanted = size_ - filled;
    const ssize_t count = ::pread(fd_, buffer_.get() + filled, wanted, offset_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::FromErrno("read");
    filled += static_cast<std::size_t>(count);
    offset_ += count;
    // A failing disk may also cause a short read.  So a short read means the end of the file only at the expected end.
    has_ended_ = count == 0 || (static_cast<std::size_t>(count) < wanted && offset_ == expected_end_);
  }
  return std::string_view(buffer_.get(), filled);
}

}  // namespace pintle::host
