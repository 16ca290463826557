// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes contents that are long, but short in a config because they are compressed.

#include <cstddef>
#include <string>

#include "base/base64.h"

namespace pintle {

// Each gzip member unpacks to this many bytes; there are as many members as needed.
inline constexpr std::size_t kBytesPerGzipMember = 64 << 10;

// Returns a data URL of gzip with `size` letters "x"; `size` is a multiple of kBytesPerGzipMember.
inline std::string PackedUrl(std::size_t size) {
  static const std::string kMember = *DecodeBase64(
      "H4sIAAAAAAACA+3BAQEAAACAkNvN7wgKAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
      "AAAAappYtCwAAAEA");
  std::string packed;
  for (std::size_t i = 0; i < size / kBytesPerGzipMember; ++i) packed += kMember;
  return "data:;base64," + EncodeBase64(packed);
}

}  // namespace pintle
