// SPDX-License-Identifier: Apache-2.0
#include "kube/watch_decoder.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

namespace pintle::kube {
namespace {

constexpr std::array kHappenings = {
    std::pair{std::string_view("ADDED"), Happening::kAdded},
    std::pair{std::string_view("MODIFIED"), Happening::kModified},
    std::pair{std::string_view("DELETED"), Happening::kDeleted},
    std::pair{std::string_view("BOOKMARK"), Happening::kBookmark},
};

std::string InMetadata(const json::Value& object, const char* key) { return object.TextAt({"metadata", key}); }

}  // namespace

Result<> LineSplitter::Feed(std::string_view piece, const Take& take) {
  while (!piece.empty()) {
    const std::size_t end = piece.find('\n');
    const std::string_view rest = piece.substr(0, end);
    if (begun_.size() + rest.size() > limit_) {
      return Error(ErrorKind::kInvalid, fmt::format("a line of the watch is longer than {} bytes", limit_));
    }
    if (end == std::string_view::npos) {
      begun_ += rest;
      return {};
    }
    piece.remove_prefix(end + 1);
    std::string begun = std::exchange(begun_, {});
    if (!begun.empty()) begun += rest;
    const std::string_view line = begun.empty() ? rest : begun;  // A line that arrived in one piece is not copied.
    if (!line.empty()) TRY(take(line));
  }
  return {};
}

Result<std::variant<WatchEvent, Failure>> DecodeWatchLine(std::string_view line) {
  using Decoded = std::variant<WatchEvent, Failure>;
  json::Value event = TRY(json::Parse(line, nullptr, kObjectLimits), "reading an event of the watch");
  const auto bad = [] { return Error(ErrorKind::kInvalid, "an event of the watch is not of the known form"); };
  const json::Value* type = event.Find("type");
  json::Value* object = event.Find("object");
  if (type == nullptr || !type->is_string() || object == nullptr || !object->is_object()) return bad();
  const auto& name = type->text();
  if (name == "ERROR") return Decoded(FailureFrom(std::move(*object)));
  const auto known =
      std::find_if(kHappenings.begin(), kHappenings.end(), [&](const auto& h) { return h.first == name; });
  if (known == kHappenings.end()) return bad();
  return Decoded(WatchEvent{known->second, std::move(*object)});
}

std::string ResourceVersionOf(const json::Value& object) { return InMetadata(object, "resourceVersion"); }

ObjectName NameIn(const json::Value& object) { return {InMetadata(object, "namespace"), InMetadata(object, "name")}; }

}  // namespace pintle::kube
