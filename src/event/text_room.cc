// SPDX-License-Identifier: Apache-2.0
#include "event/text_room.h"

#include <algorithm>
#include <utility>

namespace pintle::event {

Result<TextRoom::Text> TextRoom::Get(const Place& place) {
  if (auto known = Known(place)) return *std::move(known);
  const std::lock_guard making(making_);
  // Another thread may have made the text meanwhile.
  if (auto known = Known(place)) return *std::move(known);
  {
    const std::lock_guard lock(mutex_);
    if (!MakeRoomFor(place.length_)) return Text();
  }
  auto made = place.make_();
  const std::lock_guard lock(mutex_);
  if (!made) return place.failure_.emplace(std::move(made).error());
  return Keep(place, *std::move(made));
}

std::optional<Result<TextRoom::Text>> TextRoom::Known(const Place& place) {
  const std::lock_guard lock(mutex_);
  if (place.failure_) return Result<Text>(*place.failure_);
  Text text = place.text_.lock();
  if (!text) return std::nullopt;
  const auto kept = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& one) { return one.place == &place; });
  if (kept == kept_.end()) {
    kept_.push_front({&place, text});
  } else {
    kept_.splice(kept_.begin(), kept_, kept);
  }
  return Result<Text>(std::move(text));
}

// Removing a text that someone still holds would free no room.
bool TextRoom::MakeRoomFor(std::size_t length) {
  const auto fits = [&](std::size_t taken) { return taken == 0 || taken + length <= size_; };
  std::size_t goes = 0;
  for (const Kept& one : kept_) goes += one.text.use_count() == 1 ? one.text->size() : 0;
  if (const std::size_t taken = *taken_; !fits(taken - std::min(goes, taken))) return false;
  for (auto one = kept_.end(); one != kept_.begin() && !fits(*taken_);) {
    --one;
    if (one->text.use_count() == 1) one = kept_.erase(one);
  }
  return true;
}

TextRoom::Text TextRoom::Keep(const Place& place, std::string made) {
  place.length_ = made.size();
  if (!MakeRoomFor(place.length_)) return nullptr;
  *taken_ += place.length_;
  const Text text(new const std::string(std::move(made)), [taken = taken_](const std::string* gone) {
    *taken -= gone->size();
    delete gone;
  });
  kept_.push_front({&place, text});
  place.text_ = text;
  return text;
}

void TextRoom::Forget(const Place* place) {
  const std::lock_guard lock(mutex_);
  kept_.remove_if([&](const Kept& one) { return one.place == place; });
}

}  // namespace pintle::event
