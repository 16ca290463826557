// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decodes the events of a watch from bytes as they arrive: each line is a JSON object.
//
// Bytes are stored only until their line is complete.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "json/parse.h"
#include "kube/failure.h"
#include "kube/resource_kind.h"

namespace pintle::kube {

// etcd's limit for an object is 1.5 MiB, in an encoding that may be denser than JSON.
inline constexpr json::ParseLimits kObjectLimits = {.depth = 200, .bytes = 16 << 20, .values = 1'000'000};

class LineSplitter {
 public:
  explicit LineSplitter(std::size_t limit = kObjectLimits.bytes) : limit_(limit) {}

  // Calls `take` for each line that is complete now and not empty.
  using Take = std::function<Result<>(std::string_view line)>;
  Result<> Feed(std::string_view piece, const Take& take);

 private:
  std::size_t limit_;
  std::string incomplete_line_;
};

struct ObjectText {
  json::Value object;
  std::optional<Error> why_incomplete = {};  // The reason why a part of the object is missing; unset if it is complete.
};

// Parses the text of an object.  Parts that are nested too deeply are left out, so that at least the name of the object
// is known.  `levels_above` is the depth at which the object itself is.
Result<ObjectText> ReadObjectText(std::string_view text, std::size_t levels_above = 0);

enum class WatchEventType { kAdded, kModified, kDeleted, kBookmark };

struct WatchEvent {
  WatchEventType type;
  json::Value object;                        // A bookmark has little more than a resourceVersion.
  std::optional<Error> why_incomplete = {};  // The reason why a part of the object is missing; unset if it is complete.
};

// Returns an event, or the server's reason for ending the watch.
Result<std::variant<WatchEvent, Failure>> DecodeWatchLine(std::string_view line);

// Returns the resourceVersion of an object, or "".
std::string ResourceVersionOf(const json::Value& object);
// Returns the name of an object; parts of it that the object lacks are "".
ObjectName NameIn(const json::Value& object);

}  // namespace pintle::kube
