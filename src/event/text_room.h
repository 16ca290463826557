// SPDX-License-Identifier: Apache-2.0
#pragma once

// A cache of long texts, limited in size.
//
// A text is made when it is first asked for.  Those that were asked for longest ago are removed first.  A text that
// someone still holds is not made again, and takes up room until its holder releases it: so all texts together stay
// within the limit, however many could be made and however slowly clients receive them.  Any thread may ask; texts
// are made one at a time, since making one takes memory as well.

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

  // `size` is in bytes.  A text that is longer than the room is made only while there is no other.
  explicit TextRoom(std::size_t size) : size_(size) {}
  TextRoom(const TextRoom&) = delete;
  TextRoom& operator=(const TextRoom&) = delete;

  // Returns the size of all texts, those that are kept and those that are only held by someone.
  std::size_t taken() const { return *taken_; }

  // The slot of one text in the room.
  class Place {
   public:
    // An error of `make` is final: it is returned from then on.
    Place(std::shared_ptr<TextRoom> room, std::function<Result<std::string>()> make)
        : room_(std::move(room)), make_(std::move(make)) {}
    ~Place() { room_->Forget(this); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    // Returns null if there is no room for the text until others are released.
    Result<Text> Get() const { return room_->Get(*this); }

   private:
    friend class TextRoom;

    const std::shared_ptr<TextRoom> room_;
    const std::function<Result<std::string>()> make_;
    // The room's mutex guards the members below.
    mutable std::weak_ptr<const std::string> text_;
    mutable std::size_t length_ = 0;  // The length that the text had when it was last made.
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
  // A separate object, since a text may outlive the room.
  const std::shared_ptr<std::atomic<std::size_t>> taken_ = std::make_shared<std::atomic<std::size_t>>(0);
  std::mutex making_;
  std::mutex mutex_;      // Guards the members below and the places.  It is not held while a text is made.
  std::list<Kept> kept_;  // The text that was asked for last comes first.
};

}  // namespace pintle::event
