// SPDX-License-Identifier: Apache-2.0
#include "kube/watch_decoder.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

namespace pintle::kube {
namespace {

constexpr std::array kEventTypes = {
    std::pair{std::string_view("ADDED"), WatchEventType::kAdded},
    std::pair{std::string_view("MODIFIED"), WatchEventType::kModified},
    std::pair{std::string_view("DELETED"), WatchEventType::kDeleted},
    std::pair{std::string_view("BOOKMARK"), WatchEventType::kBookmark},
};

std::string InMetadata(const json::Value& object, const char* key) { return object.TextAt({"metadata", key}); }

// Returns the JSON text with null in the place of each list and object that is nested deeper than `levels`.
std::string WithoutDeepParts(std::string_view text, std::size_t levels) {
  std::string kept;
  std::size_t depth = 0;
  bool in_string = false;
  bool is_escaped = false;
  for (const char c : text) {
    const bool begins = !in_string && (c == '{' || c == '[');
    const bool ends = !in_string && (c == '}' || c == ']');
    if (begins && depth++ == levels) kept += "null";
    if (depth <= levels) kept += c;
    if (ends && depth > 0) --depth;
    if (c == '"' && !is_escaped) in_string = !in_string;
    is_escaped = in_string && c == '\\' && !is_escaped;
  }
  return kept;
}

}  // namespace

Result<ObjectText> ReadObjectText(std::string_view text, std::size_t levels_above) {
  json::ParseLimits limits = kObjectLimits;
  limits.depth += levels_above;
  auto whole = json::Parse(text, nullptr, limits);
  if (whole) return ObjectText{*std::move(whole)};
  auto part = json::Parse(WithoutDeepParts(text, limits.depth), nullptr, limits);
  if (!part) return std::move(whole).error();
  return ObjectText{*std::move(part), std::move(whole).error()};
}

Result<> LineSplitter::Feed(std::string_view piece, const Take& take) {
  while (!piece.empty()) {
    const std::size_t end = piece.find('\n');
    const std::string_view line_part = piece.substr(0, end);
    if (incomplete_line_.size() + line_part.size() > limit_) {
      return Error(ErrorKind::kInvalid, fmt::format("a line of the watch is longer than {} bytes", limit_));
    }
    if (end == std::string_view::npos) {
      incomplete_line_ += line_part;
      return {};
    }
    piece.remove_prefix(end + 1);
    std::string beginning = std::exchange(incomplete_line_, {});
    if (!beginning.empty()) beginning += line_part;
    // A line that arrived in one piece is not copied.
    const std::string_view line = beginning.empty() ? line_part : beginning;
    if (!line.empty()) TRY(take(line));
  }
  return {};
}

Result<std::variant<WatchEvent, Failure>> DecodeWatchLine(std::string_view line) {
  using Decoded = std::variant<WatchEvent, Failure>;
  ObjectText read = TRY(ReadObjectText(line, 1), "reading an event of the watch");
  json::Value& event = read.object;
  const auto bad_event = [] {
    return Error(ErrorKind::kInvalid, "an event of the watch has an unknown type or no object");
  };
  const json::Value* type = event.Find("type");
  json::Value* object = event.Find("object");
  if (type == nullptr || !type->is_string() || object == nullptr || !object->is_object()) return bad_event();
  const auto& name = type->text();
  if (name == "ERROR") return Decoded(FailureFrom(std::move(*object)));
  const auto known =
      std::find_if(kEventTypes.begin(), kEventTypes.end(), [&](const auto& entry) { return entry.first == name; });
  if (known == kEventTypes.end()) return bad_event();
  return Decoded(WatchEvent{known->second, std::move(*object), std::move(read.why_incomplete)});
}

std::string ResourceVersionOf(const json::Value& object) { return InMetadata(object, "resourceVersion"); }

ObjectName NameIn(const json::Value& object) { return {InMetadata(object, "namespace"), InMetadata(object, "name")}; }

}  // namespace pintle::kube
