// SPDX-License-Identifier: Apache-2.0
#pragma once

// Long contents in a short config.

#include <cstddef>
#include <string>

#include "base/base64.h"

namespace pintle {

// How many bytes each member of gzip unpacks to, of which there are as many as are needed.
inline constexpr std::size_t kPackedTogether = 64 << 10;

// A data URL of gzip with so many letters "x", which is a multiple of those.
inline std::string PackedUrl(std::size_t size) {
  static const std::string kMember = *DecodeBase64(
      "H4sIAAAAAAACA+3BAQEAAACAkNvN7wgKAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
      "AAAAappYtCwAAAEA");
  std::string packed;
  for (std::size_t i = 0; i < size / kPackedTogether; ++i) packed += kMember;
  return "data:;base64," + EncodeBase64(packed);
}

}  // namespace pintle
