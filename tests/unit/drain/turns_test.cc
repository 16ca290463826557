// SPDX-License-Identifier: Apache-2.0
#include "drain/turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "unit/event/patience.h"

namespace pintle::drain {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class TurnsTest : public testing::Test {
 protected:
  Turns::Turn Take(const std::string& name) {
    return turns_.Take([this, name] { begun_.push_back(name); });
  }

  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  Turns turns_{*loop_, 2};
  std::vector<std::string> begun_;
};

TEST_F(TurnsTest, AreTakenInOrderUpToTheLimit) {
  std::optional<Turns::Turn> a = Take("a");
  auto b = Take("b");
  auto c = Take("c");
  auto d = Take("d");
  EXPECT_THAT(begun_, IsEmpty()) << "a turn begins only when the loop runs";
  event::Settle(*loop_);
  EXPECT_THAT(begun_, ElementsAre("a", "b"));
  a.reset();
  event::Settle(*loop_);
  EXPECT_THAT(begun_, ElementsAre("a", "b", "c"));
  b = {};
  event::Settle(*loop_);
  EXPECT_THAT(begun_, ElementsAre("a", "b", "c", "d"));
}

TEST_F(TurnsTest, AreNotLostWhenSomeoneLeavesTheQueue) {
  std::optional<Turns::Turn> a = Take("a");
  auto b = Take("b");
  std::optional<Turns::Turn> c = Take("c");
  auto d = Take("d");
  c.reset();
  a.reset();  // The turn is given up before it has begun.
  const auto e = Take("e");
  event::Settle(*loop_);
  EXPECT_THAT(begun_, ElementsAre("b", "d")) << "there are two turns as before";
}

}  // namespace
}  // namespace pintle::drain
