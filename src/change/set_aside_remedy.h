// SPDX-License-Identifier: Apache-2.0
#pragma once

// Adds the remedy `pintle recover --set-aside` to an error about one of Pintle's own files that cannot be used any
// more.

#include <fmt/core.h>

#include <string_view>
#include <utility>

#include "base/result.h"

namespace pintle::change {

inline Error WithSetAsideRemedy(std::string_view path, Error error) {
  // The error about a newer version has remedies of its own (change/format.h).
  if (error.kind() == ErrorKind::kTooNew) return std::move(error).While(path);
  return std::move(error).While(
      fmt::format("{} cannot be used, and `pintle recover --set-aside` moves it out of the way", path));
}

template <typename T>
Result<T> WithSetAsideRemedy(std::string_view path, Result<T> read) {
  if (read) return read;
  return WithSetAsideRemedy(path, std::move(read).error());
}

}  // namespace pintle::change
