// SPDX-License-Identifier: Apache-2.0
#pragma once

// Long texts that are made when someone first asks for them, and are then kept for the next one who does, in a room
// that has an end.
//
// Those that were asked for longest ago go first.  A text that someone still has is not made anew, and takes up room
// until it is let go: however many texts there could be, and however slowly they are taken, what there is of them at
// one time fits the room.  Any thread may ask; texts are made one at a time, since making one takes memory as well.

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

class TextRoom {
 public:
  using Text = std::shared_ptr<const std::string>;

  // In bytes.  A text that is longer than the room is made when there is no other.
  explicit TextRoom(std::size_t size) : size_(size) {}
  TextRoom(const TextRoom&) = delete;
  TextRoom& operator=(const TextRoom&) = delete;

  // What there is, be it kept or on its way to someone.
  std::size_t taken() const { return *taken_; }

  // Where one of the texts belongs.
  class Place {
   public:
    // An error of `make` holds for good.
    Place(std::shared_ptr<TextRoom> room, std::function<Result<std::string>()> make)
        : room_(std::move(room)), make_(std::move(make)) {}
    ~Place() { room_->Forget(this); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    // Null: there is no room for it until others have got theirs.
    Result<Text> Get() const { return room_->Get(*this); }

   private:
    friend class TextRoom;

    const std::shared_ptr<TextRoom> room_;
    const std::function<Result<std::string>()> make_;
    // The rest is guarded by the room.
    mutable std::weak_ptr<const std::string> text_;
    mutable std::size_t length_ = 0;  // When it was made last.
    mutable std::optional<Error> failure_;
  };

 private:
  struct Kept {
    const Place* place;
    Text text;
  };

  Result<Text> Get(const Place& place);
  std::optional<Result<Text>> Known(const Place& place);
  bool MakeRoomFor(std::size_t length);
  Text Keep(const Place& place, std::string made);
  void Forget(const Place* place);

  const std::size_t size_;
  // Of its own, since a text may outlive the room.
  const std::shared_ptr<std::atomic<std::size_t>> taken_ = std::make_shared<std::atomic<std::size_t>>(0);
  std::mutex making_;
  std::mutex mutex_;      // Guards what follows, and the places.  It is not held while a text is made.
  std::list<Kept> kept_;  // The one that was asked for last comes first.
};

}  // namespace pintle::event
