// SPDX-License-Identifier: Apache-2.0
#pragma once

// A cache of long texts, limited in size.
//
// A text is made when it is first requested.  To make room for it, the texts that were requested longest ago are
// removed, except those that a caller still holds.  So all texts together stay within the limit, however many are
// requested and however slowly clients receive them.  Any thread may request a text.  Texts are made one at a time,
// because making one takes memory as well.

#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"

namespace pintle::event {

class TextCache {
 public:
  using Text = std::shared_ptr<const std::string>;

  // `size` is in bytes.  A text that is longer than the whole cache is kept only while there is no other text.  The
  // length of a text is not known at the first request, so that request may make the text and find no room for it.
  explicit TextCache(std::size_t size) : size_(size) {}
  TextCache(const TextCache&) = delete;
  TextCache& operator=(const TextCache&) = delete;

  // Returns the size of all texts, including those that callers still hold after their entry was destroyed.
  std::size_t size_in_use() const { return *size_in_use_; }

  // The entry of one text in the cache.
  class Entry {
   public:
    // If `make` fails, its error is final: Get() returns the same error from then on.
    Entry(std::shared_ptr<TextCache> cache, std::function<Result<std::string>()> make)
        : cache_(std::move(cache)), make_(std::move(make)) {}
    ~Entry() { cache_->Forget(this); }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    // Returns null if there is no room for the text until callers release other texts.
    Result<Text> Get() const { return cache_->Get(*this); }

   private:
    friend class TextCache;

    const std::shared_ptr<TextCache> cache_;
    const std::function<Result<std::string>()> make_;
    // The cache's mutex guards the members below.
    mutable std::weak_ptr<const std::string> text_;
    mutable std::size_t length_ = 0;  // The length that the text had when it was last made.
    mutable std::optional<Error> failure_;
  };

 private:
  struct Kept {
    const Entry* entry;
    Text text;
  };

  Result<Text> Get(const Entry& entry);
  // Returns the text, or the error of an earlier attempt to make it.  Returns nullopt if the text has to be made.
  std::optional<Result<Text>> Known(const Entry& entry);
  bool MakeRoomFor(std::size_t length);
  Text Keep(const Entry& entry, std::string made);
  void Forget(const Entry* entry);

  const std::size_t size_;
  // A separate object, because a text may outlive the cache.
  const std::shared_ptr<std::atomic<std::size_t>> size_in_use_ = std::make_shared<std::atomic<std::size_t>>(0);
  std::mutex making_;     // Held while a text is made, so that texts are made one at a time.
  std::mutex mutex_;      // Guards the members below and the entries.  It is not held while a text is made.
  std::list<Kept> kept_;  // The text that was requested last comes first.
};

}  // namespace pintle::event
