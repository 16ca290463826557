// SPDX-License-Identifier: Apache-2.0
#include "event/text_cache.h"

#include <algorithm>
#include <utility>

namespace pintle::event {

Result<TextCache::Text> TextCache::Get(const Entry& entry) {
  if (auto known = Known(entry)) return *std::move(known);
  const std::lock_guard making(making_);
  // Another thread may have made the text meanwhile.
  if (auto known = Known(entry)) return *std::move(known);
  {
    const std::lock_guard lock(mutex_);
    if (!MakeRoomFor(entry.length_)) return Text();
  }
  auto made = entry.make_();
  const std::lock_guard lock(mutex_);
  if (!made) return entry.failure_.emplace(std::move(made).error());
  return Keep(entry, *std::move(made));
}

std::optional<Result<TextCache::Text>> TextCache::Known(const Entry& entry) {
  const std::lock_guard lock(mutex_);
  if (entry.failure_) return Result<Text>(*entry.failure_);
  Text text = entry.text_.lock();
  if (!text) return std::nullopt;
  const auto kept = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& each) { return each.entry == &entry; });
  if (kept == kept_.end()) {
    kept_.push_front({&entry, text});
  } else {
    kept_.splice(kept_.begin(), kept_, kept);
  }
  return Result<Text>(std::move(text));
}

// Returns whether there is room.  Removes only texts that no caller holds, because removing others would free no
// memory.
bool TextCache::MakeRoomFor(std::size_t length) {
  const auto fits = [&](std::size_t in_use) { return in_use == 0 || in_use + length <= size_; };
  std::size_t freeable = 0;
  for (const Kept& kept : kept_) freeable += kept.text.use_count() == 1 ? kept.text->size() : 0;
  if (const std::size_t in_use = *size_in_use_; !fits(in_use - std::min(freeable, in_use))) return false;
  for (auto kept = kept_.end(); kept != kept_.begin() && !fits(*size_in_use_);) {
    --kept;
    if (kept->text.use_count() == 1) kept = kept_.erase(kept);
  }
  return true;
}

TextCache::Text TextCache::Keep(const Entry& entry, std::string made) {
  entry.length_ = made.size();
  if (!MakeRoomFor(entry.length_)) return nullptr;
  *size_in_use_ += entry.length_;
  const Text text(new const std::string(std::move(made)), [in_use = size_in_use_](const std::string* gone) {
    *in_use -= gone->size();
    delete gone;
  });
  kept_.push_front({&entry, text});
  entry.text_ = text;
  return text;
}

void TextCache::Forget(const Entry* entry) {
  const std::lock_guard lock(mutex_);
  kept_.remove_if([&](const Kept& kept) { return kept.entry == entry; });
}

}  // namespace pintle::event
