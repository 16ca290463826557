// SPDX-License-Identifier: Apache-2.0
#pragma once

// Splits a list of objects into its elements while the list arrives.
//
// A list may be larger than our memory, since a server may ignore the limit in the request.  So each element of `items`
// is delivered separately, and only the text around the elements is kept.  This class only finds where elements end;
// the receiver parses them.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle::kube {

class ListSplitter {
 public:
  // The limits are in bytes.
  struct Limits {
    std::size_t element = 16 << 20;
    std::size_t frame = 1 << 20;
  };

  explicit ListSplitter(Limits limits) : limits_(limits) {}
  ListSplitter() : ListSplitter(Limits()) {}

  // Calls `take` for each element that is complete now.
  using Take = std::function<Result<>(std::string_view element)>;
  Result<> Feed(std::string_view piece, const Take& take);

  // Returns the list without its elements: {"kind":"NodeList","metadata":{"continue":"..."},"items":[]}
  const std::string& frame() const { return frame_; }

 private:
  Result<> FeedOne(char c, const Take& take);
  Result<> Keep(char c);
  void FollowKeys(char c);
  // Returns whether the next character is in the list `items`, but in none of its elements.
  bool AtItems() const { return in_items_ && depth_ == 2; }

  Limits limits_;
  std::string frame_;
  std::string element_;
  std::string word_;  // The last string in the outermost object, with its opening quote; it may be a key.
  bool word_is_key_ = false;
  std::size_t depth_ = 0;
  bool in_string_ = false;
  bool is_escaped_ = false;
  bool in_items_ = false;
  bool in_element_ = false;
};

}  // namespace pintle::kube
