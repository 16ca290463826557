// SPDX-License-Identifier: Apache-2.0
#include "event/text_room.h"

#include <array>
#include <thread>
#include <vector>

#include "support/expect.h"

namespace pintle::event {
namespace {

// A room for texts of 100 bytes, and counts of how often each text was made.
class TextRoomTest : public testing::Test {
 protected:
  TextRoom::Text Get(std::size_t place) { return ValueOf(places_[place].Get()); }
  TextRoom::Place PlaceFor(std::size_t number, std::size_t length = 100) {
    return TextRoom::Place(room_, [this, number, length]() -> Result<std::string> {
      ++made_[number];
      return std::string(length, static_cast<char>('a' + number));
    });
  }

  std::array<int, 5> made_ = {};
  std::shared_ptr<TextRoom> room_ = std::make_shared<TextRoom>(250);
  const std::array<TextRoom::Place, 5> places_ = {PlaceFor(0), PlaceFor(1), PlaceFor(2), PlaceFor(3),
                                                  PlaceFor(4, 1000)};
};

TEST_F(TextRoomTest, MakesATextOnceAndKeepsThoseThatWereAskedForLast) {
  EXPECT_EQ(Get(0), Get(0));
  Get(1);
  Get(0);
  Get(2);  // There is room for two texts; text 1 was used less recently than text 0, so it is removed.
  EXPECT_EQ(room_->taken(), 200U);
  Get(0);
  EXPECT_EQ(made_, (std::array{1, 1, 1, 0, 0}));
  EXPECT_EQ(*Get(1), std::string(100, 'b'));
  EXPECT_EQ(made_, (std::array{1, 2, 1, 0, 0}));
}

TEST_F(TextRoomTest, NeverExceedsTheLimitOfMemory) {
  std::vector<TextRoom::Text> held = {Get(0), Get(1)};
  EXPECT_EQ(Get(2), nullptr);
  EXPECT_EQ(Get(2), nullptr);
  EXPECT_EQ(made_[2], 1);  // The length of the text is known from then on.
  EXPECT_EQ(Get(0), held[0]);
  EXPECT_EQ(room_->taken(), 200U);
  held.pop_back();
  EXPECT_NE(Get(2), nullptr);
  EXPECT_EQ(room_->taken(), 200U);
  held.clear();
  for (int round = 0; round < 3; ++round) {
    for (std::size_t place = 0; place < 4; ++place) {
      EXPECT_NE(Get(place), nullptr);
      EXPECT_LE(room_->taken(), 250U);
    }
  }
}

TEST_F(TextRoomTest, MakesAnOversizedTextOnlyAlone) {
  const auto held = Get(0);
  EXPECT_EQ(Get(4), nullptr);
  EXPECT_EQ(Get(0), held);
  EXPECT_EQ(room_->taken(), 100U);
}

TEST_F(TextRoomTest, MakesAnOversizedTextIfThereIsNoOther) {
  Get(0);
  EXPECT_EQ(Get(4)->size(), 1000U);
  EXPECT_EQ(room_->taken(), 1000U);
  Get(0);
  EXPECT_EQ(room_->taken(), 100U);
}

TEST_F(TextRoomTest, ForgetsATextWithItsPlace) {
  auto place = std::make_unique<TextRoom::Place>(room_, [] { return std::string(100, 'x'); });
  auto held = ValueOf(place->Get());
  place.reset();
  EXPECT_EQ(room_->taken(), 100U);
  held.reset();
  EXPECT_EQ(room_->taken(), 0U);
}

TEST_F(TextRoomTest, KeepsAnErrorForGood) {
  int asked = 0;
  const TextRoom::Place place(room_, [&]() -> Result<std::string> {
    ++asked;
    return Error(ErrorKind::kInvalid, "no");
  });
  EXPECT_EQ(MessageOf(place.Get()), "no");
  EXPECT_EQ(MessageOf(place.Get()), "no");
  EXPECT_EQ(asked, 1);
}

TEST_F(TextRoomTest, GivesAllThreadsTheSame) {
  std::vector<TextRoom::Text> texts(8);
  std::vector<std::thread> threads;
  for (TextRoom::Text& text : texts) threads.emplace_back([&] { text = *places_[0].Get(); });
  for (std::thread& thread : threads) thread.join();
  for (const TextRoom::Text& text : texts) EXPECT_EQ(text, texts[0]);
  EXPECT_EQ(made_[0], 1);
}

}  // namespace
}  // namespace pintle::event
