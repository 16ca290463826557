// SPDX-License-Identifier: Apache-2.0
#pragma once

// The events of a watch, out of bytes as they come: one JSON object a line.
//
// No more is kept than the line that is not whole yet.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "json/parse.h"
#include "kube/failure.h"
#include "kube/resource_kind.h"

namespace pintle::kube {

// An object is at most 1.5 MiB in the store, where it may be denser than JSON.
inline constexpr json::ParseLimits kObjectLimits = {.depth = 200, .bytes = 16 << 20, .values = 1'000'000};

class LineSplitter {
 public:
  explicit LineSplitter(std::size_t limit = kObjectLimits.bytes) : limit_(limit) {}

  // Empty lines are passed over.
  using Take = std::function<Result<>(std::string_view line)>;
  Result<> Feed(std::string_view piece, const Take& take);

 private:
  std::size_t limit_;
  std::string begun_;
};

enum class Happening { kAdded, kModified, kDeleted, kBookmark };

struct WatchEvent {
  Happening happening;
  json::Value object;  // Of a bookmark, little more than its resourceVersion.
};

// An event, or the end of the watch as the server explains it.
Result<std::variant<WatchEvent, Failure>> DecodeWatchLine(std::string_view line);

// The resourceVersion of an object, or "".
std::string ResourceVersionOf(const json::Value& object);
ObjectName NameIn(const json::Value& object);

}  // namespace pintle::kube
