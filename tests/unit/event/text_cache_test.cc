// SPDX-License-Identifier: Apache-2.0
#include "event/text_cache.h"

#include <array>
#include <thread>
#include <vector>

#include "support/expect.h"

namespace pintle::event {
namespace {

// The first four entries have texts of 100 bytes, and the last one has a text of 1000 bytes.  The fixture counts how
// often each text was made.
class TextCacheTest : public testing::Test {
 protected:
  TextCache::Text Get(std::size_t entry) { return ValueOf(entries_[entry].Get()); }
  TextCache::Entry EntryFor(std::size_t number, std::size_t length = 100) {
    return TextCache::Entry(cache_, [this, number, length]() -> Result<std::string> {
      ++made_[number];
      return std::string(length, static_cast<char>('a' + number));
    });
  }

  std::array<int, 5> made_ = {};
  std::shared_ptr<TextCache> cache_ = std::make_shared<TextCache>(250);
  const std::array<TextCache::Entry, 5> entries_ = {EntryFor(0), EntryFor(1), EntryFor(2), EntryFor(3),
                                                    EntryFor(4, 1000)};
};

TEST_F(TextCacheTest, MakesATextOnceAndKeepsTheMostRecentlyUsedTexts) {
  EXPECT_EQ(Get(0), Get(0));
  Get(1);
  Get(0);
  Get(2);  // There is room for two texts; text 1 was used less recently than text 0, so it is removed.
  EXPECT_EQ(cache_->size_in_use(), 200U);
  Get(0);
  EXPECT_EQ(made_, (std::array{1, 1, 1, 0, 0}));
  EXPECT_EQ(*Get(1), std::string(100, 'b'));
  EXPECT_EQ(made_, (std::array{1, 2, 1, 0, 0}));
}

TEST_F(TextCacheTest, StaysWithinTheLimitWhileCallersHoldTexts) {
  std::vector<TextCache::Text> held = {Get(0), Get(1)};
  EXPECT_EQ(Get(2), nullptr);
  EXPECT_EQ(Get(2), nullptr);
  EXPECT_EQ(made_[2], 1);  // The length of the text is known from then on.
  EXPECT_EQ(Get(0), held[0]);
  EXPECT_EQ(cache_->size_in_use(), 200U);
  held.pop_back();
  EXPECT_NE(Get(2), nullptr);
  EXPECT_EQ(cache_->size_in_use(), 200U);
  held.clear();
  for (int round = 0; round < 3; ++round) {
    for (std::size_t entry = 0; entry < 4; ++entry) {
      EXPECT_NE(Get(entry), nullptr);
      EXPECT_LE(cache_->size_in_use(), 250U);
    }
  }
}

TEST_F(TextCacheTest, MakesAnOversizedTextOnlyAlone) {
  const auto held = Get(0);
  EXPECT_EQ(Get(4), nullptr);
  EXPECT_EQ(Get(0), held);
  EXPECT_EQ(cache_->size_in_use(), 100U);
}

TEST_F(TextCacheTest, MakesAnOversizedTextIfItHoldsNoOtherText) {
  Get(0);
  EXPECT_EQ(Get(4)->size(), 1000U);
  EXPECT_EQ(cache_->size_in_use(), 1000U);
  Get(0);
  EXPECT_EQ(cache_->size_in_use(), 100U);
}

TEST_F(TextCacheTest, ForgetsATextWithItsEntry) {
  auto entry = std::make_unique<TextCache::Entry>(cache_, [] { return std::string(100, 'x'); });
  auto held = ValueOf(entry->Get());
  entry.reset();
  EXPECT_EQ(cache_->size_in_use(), 100U);
  held.reset();
  EXPECT_EQ(cache_->size_in_use(), 0U);
}

TEST_F(TextCacheTest, KeepsAnError) {
  int calls = 0;
  const TextCache::Entry entry(cache_, [&]() -> Result<std::string> {
    ++calls;
    return Error(ErrorKind::kInvalid, "no");
  });
  EXPECT_EQ(MessageOf(entry.Get()), "no");
  EXPECT_EQ(MessageOf(entry.Get()), "no");
  EXPECT_EQ(calls, 1);
}

TEST_F(TextCacheTest, ReturnsTheSameTextToAllThreads) {
  std::vector<TextCache::Text> texts(8);
  std::vector<std::thread> threads;
  for (TextCache::Text& text : texts) threads.emplace_back([&] { text = *entries_[0].Get(); });
  for (std::thread& thread : threads) thread.join();
  for (const TextCache::Text& text : texts) EXPECT_EQ(text, texts[0]);
  EXPECT_EQ(made_[0], 1);
}

}  // namespace
}  // namespace pintle::event
