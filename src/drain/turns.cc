// SPDX-License-Identifier: Apache-2.0
#include "drain/turns.h"

#include <utility>

#include "event/loop.h"

namespace pintle::drain {

struct Turns::Line {
  event::Loop& loop;
  int free;
  std::list<std::weak_ptr<Place>> waiting = {};
};

struct Turns::Place {
  std::shared_ptr<Line> line;
  std::function<void()> begin;
  bool has_turn = false;
};

Turns::Turns(event::Loop& loop, int most_at_once) : line_(new Line{loop, most_at_once}) {}

Turns::Turn Turns::Take(std::function<void()> begin) {
  auto place = std::make_shared<Place>();
  place->line = line_;
  place->begin = std::move(begin);
  line_->waiting.push_back(place);
  LetBegin(line_);
  return Turn(std::move(place));
}

void Turns::LetBegin(const std::shared_ptr<Line>& line) {
  while (line->free > 0 && !line->waiting.empty()) {
    const std::weak_ptr<Place> first = line->waiting.front();
    line->waiting.pop_front();
    const auto place = first.lock();
    if (!place) continue;  // The place was given up.
    place->has_turn = true;
    --line->free;
    line->loop.Post([first] {
      if (const auto alive = first.lock()) alive->begin();
    });
  }
}

Turns::Turn& Turns::Turn::operator=(Turn&& other) noexcept {
  if (this == &other) return *this;
  GiveUp();
  place_ = std::move(other.place_);
  return *this;
}

void Turns::Turn::GiveUp() {
  const auto place = std::exchange(place_, nullptr);
  if (!place || !place->has_turn) return;
  ++place->line->free;
  LetBegin(place->line);
}

}  // namespace pintle::drain
