// SPDX-License-Identifier: Apache-2.0
#pragma once

// Takes a list of objects apart while it comes from the wire.
//
// A list may be longer than we have memory for: a server may ignore the limit that it was given.  So each element of
// `items` is handed on by itself, and only what is around them is kept.  Nothing is checked here but where an element
// ends: whoever gets the texts parses them.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle::kube {

class ListSplitter {
 public:
  struct Limits {
    std::size_t element = 16 << 20;
    std::size_t frame = 1 << 20;
  };

  explicit ListSplitter(Limits limits) : limits_(limits) {}
  ListSplitter() : ListSplitter(Limits()) {}

  using Take = std::function<Result<>(std::string_view element)>;
  Result<> Feed(std::string_view piece, const Take& take);

  // The list without its elements: {"kind":"NodeList","metadata":{"continue":"..."},"items":[]}
  const std::string& frame() const { return frame_; }

 private:
  Result<> FeedOne(char c, const Take& take);
  Result<> Keep(char c);
  void FollowKeys(char c);
  bool AtItems() const { return in_items_ && depth_ == 2; }

  Limits limits_;
  std::string frame_;
  std::string element_;
  std::string word_;  // The last text of the outermost object, with its first quote, which may be a key.
  bool word_is_key_ = false;
  std::size_t depth_ = 0;
  bool in_string_ = false;
  bool is_escaped_ = false;
  bool in_items_ = false;
  bool in_element_ = false;
};

}  // namespace pintle::kube
