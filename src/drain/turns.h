// SPDX-License-Identifier: Apache-2.0
#pragma once

// Limits how many operations run at once; further operations wait in line.

#include <functional>
#include <list>
#include <memory>

namespace pintle::event {
class Loop;
}  // namespace pintle::event

namespace pintle::drain {

class Turns {
 private:
  struct Line;
  struct Place;

 public:
  // A place in the line, which later becomes a turn.  Destroying it gives up the place or the turn.
  class [[nodiscard]] Turn {
   public:
    Turn() = default;
    Turn(Turn&& other) noexcept = default;
    Turn& operator=(Turn&& other) noexcept;
    ~Turn() { GiveUp(); }

   private:
    friend class Turns;
    explicit Turn(std::shared_ptr<Place> place) : place_(std::move(place)) {}
    void GiveUp();

    std::shared_ptr<Place> place_;
  };

  // The loop must outlive all turns.
  Turns(event::Loop& loop, int most_at_once);

  // `begin` is called from the loop when the turn has come, never from within Take().
  Turn Take(std::function<void()> begin);

 private:
  static void LetBegin(const std::shared_ptr<Line>& line);

  std::shared_ptr<Line> line_;
};

}  // namespace pintle::drain
