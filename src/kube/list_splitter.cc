// SPDX-License-Identifier: Apache-2.0
#include "kube/list_splitter.h"

#include <fmt/core.h>

namespace pintle::kube {
namespace {

constexpr std::string_view kItems = "\"items";
constexpr std::size_t kLongestKey = 64;

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

Result<> ListSplitter::Feed(std::string_view piece, const Take& take) {
  for (const char c : piece) TRY(FeedOne(c, take));
  return {};
}

Result<> ListSplitter::FeedOne(char c, const Take& take) {
  if (in_string_) {
    FollowKeys(c);
    if (is_escaped_) {
      is_escaped_ = false;
    } else if (c == '\\') {
      is_escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
    }
    return Keep(c);
  }
  if (AtItems() && !in_element_) {
    if (IsBlank(c) || c == ',') return {};
    if (c != ']' && c != '{') return Error(ErrorKind::kInvalid, "an element of the list is not an object");
    in_element_ = c == '{';
  }
  FollowKeys(c);
  if (c == '"') in_string_ = true;
  if (c == '{' || c == '[') ++depth_;
  if (c == '}' || c == ']') {
    if (depth_ == 0) return Error(ErrorKind::kInvalid, "the list has too many closing brackets");
    if (AtItems()) in_items_ = false;
    --depth_;
  }
  TRY(Keep(c));
  if (!in_element_ || depth_ != 2 || in_string_) return {};
  in_element_ = false;
  const std::string element = std::exchange(element_, {});
  return take(element);
}

Result<> ListSplitter::Keep(char c) {
  std::string& to = in_element_ ? element_ : frame_;
  const std::size_t limit = in_element_ ? limits_.element : limits_.frame;
  if (to.size() == limit) {
    return Error(ErrorKind::kInvalid,
                 fmt::format("{} is longer than {} bytes",
                             in_element_ ? "an element of the list" : "the text around the list", limit));
  }
  to += c;
  return {};
}

// Remembers the last key of the outermost object, and detects the beginning of the value of `items`.
void ListSplitter::FollowKeys(char c) {
  if (depth_ != 1) return;
  if (in_string_) {
    const bool ends = c == '"' && !is_escaped_;
    if (!ends && word_.size() < kLongestKey) word_ += c;
  } else if (c == '"') {
    word_ = c;
    word_is_key_ = false;
  } else if (c == ':') {
    word_is_key_ = true;
  } else if (c == '[' && word_is_key_ && word_ == kItems) {
    in_items_ = true;
  } else if (!IsBlank(c)) {
    word_is_key_ = false;
  }
}

}  // namespace pintle::kube
