// SPDX-License-Identifier: Apache-2.0
#include "json/value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace pintle::json {
namespace {

TEST(Value, HasTheTypeOfItsInitializer) {
  EXPECT_EQ(Value().type(), Value::Type::kNull);
  EXPECT_EQ(Value(nullptr).type(), Value::Type::kNull);
  EXPECT_EQ(Value(true).type(), Value::Type::kBoolean);
  EXPECT_EQ(Value(-1).type(), Value::Type::kInteger);
  EXPECT_EQ(Value(1U).type(), Value::Type::kUnsigned);
  EXPECT_EQ(Value(1.0).type(), Value::Type::kReal);
  EXPECT_EQ(Value("").type(), Value::Type::kString);
  EXPECT_EQ(Value::array().type(), Value::Type::kArray);
  EXPECT_EQ(Value::object().type(), Value::Type::kObject);
}

TEST(Value, IsAnObjectIfItsInitializerHasOnlyPairs) {
  const Value object = {{"a", 1}, {"b", {{"c", nullptr}}}};
  EXPECT_TRUE(object.is_object());
  EXPECT_EQ(object["a"], 1);
  EXPECT_TRUE(object["b"].is_object() && object["b"].contains("c"));
  const Value list = {"a", 1, {"x", "y"}};
  EXPECT_TRUE(list.is_array());
  EXPECT_EQ(list.size(), 3U);
  EXPECT_TRUE(Value::array({{"a", 1}}).is_array()) << "array() makes a list, even if its elements look like pairs";
  EXPECT_TRUE((Value{{1, "a"}}).is_array());
}

// GCC and clang read braces around one value in two ways, unless the elements of braces have a type of their own.
TEST(Value, IsAListOfOneValueInsideOfBraces) {
  const Value one = {{"a", 1}};
  const Value object = {{"list", {one}}, {"nothing", {}}};
  EXPECT_EQ(object["list"], Value::array({one}));
  EXPECT_EQ(object["list"].size(), 1U);
  EXPECT_TRUE(object["nothing"].is_null());
  const Value list = Value::array({{one}});
  EXPECT_EQ(list[0][0], one);
}

TEST(Value, BecomesTheNearestIntegerIfARealNumberDoesNotFit) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  EXPECT_EQ(Value(2.9).integer(), 2);
  EXPECT_EQ(Value(-2.9).integer(), -2);
  EXPECT_EQ(Value(2.9).unsigned_integer(), 2U);
  EXPECT_EQ(Value(-0.5).unsigned_integer(), 0U);
  EXPECT_EQ(Value(kTwoTo63).unsigned_integer(), std::uint64_t{1} << 63);
  EXPECT_EQ(Value(-kTwoTo63).integer(), std::numeric_limits<std::int64_t>::min());
  for (const double large : {kTwoTo63, 1e300, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(Value(large).integer(), std::numeric_limits<std::int64_t>::max()) << large;
    EXPECT_EQ(Value(2 * large).unsigned_integer(), std::numeric_limits<std::uint64_t>::max()) << large;
    EXPECT_EQ(Value(-2 * large).integer(), std::numeric_limits<std::int64_t>::min()) << large;
    EXPECT_EQ(Value(-large).unsigned_integer(), 0U) << large;
  }
  EXPECT_EQ(Value(std::nan("")).integer(), 0);
  EXPECT_EQ(Value(std::nan("")).unsigned_integer(), 0U);
}

TEST(Value, IsCopiedDeeplyAndMovedWhole) {
  const Value before = {{"list", {1, "two", {{"three", 3.5}}}}};
  Value copy = before;
  copy["list"][1] = "other";
  EXPECT_EQ(before["list"][1], "two");
  Value moved = std::move(copy);
  EXPECT_EQ(moved["list"][1], "other");
  moved = moved["list"];  // Moves a part of the value over the value.
  EXPECT_EQ(moved[1], "other");
  moved = std::as_const(moved);  // Assigns the value to itself.
  EXPECT_EQ(moved.size(), 3U);
}

TEST(Value, NumbersAreEqualAsNumbers) {
  EXPECT_EQ(Value(1), Value(1U));
  EXPECT_EQ(Value(1), Value(1.0));
  EXPECT_EQ(Value(1U), Value(1.0));
  EXPECT_FALSE(Value(-1) == Value(std::numeric_limits<std::uint64_t>::max())) << "they have the same bits";
  EXPECT_FALSE(Value(0) == Value(false));
  EXPECT_FALSE(Value(0) == Value());
  EXPECT_FALSE(Value("1") == Value(1));
}

TEST(Value, FindsMembersOfMembers) {
  const Value value = {{"metadata", {{"name", "a"}, {"list", {1}}}}};
  EXPECT_EQ(*value.Find({"metadata", "name"}), "a");
  EXPECT_EQ(value.TextAt({"metadata", "name"}), "a");
  EXPECT_EQ(value.Find({"metadata", "name", "deeper"}), nullptr);
  EXPECT_EQ(value.Find("other"), nullptr);
  EXPECT_EQ(value.TextAt({"metadata", "list"}), "") << "it is no text";
  EXPECT_TRUE(value["other"]["and"]["deeper"].is_null());
  EXPECT_EQ(Value("text").Find("metadata"), nullptr);
}

TEST(Value, CreatesAMemberThatIsWrittenTo) {
  Value value;
  value["a"]["b"] = 1;
  value["list"].push_back("x");
  EXPECT_EQ(value, (Value{{"a", {{"b", 1}}}, {"list", Value::array({"x"})}}));
  EXPECT_TRUE(value.Erase("a"));
  EXPECT_FALSE(value.Erase("a"));
  EXPECT_EQ(value.size(), 1U);
}

TEST(Value, IteratesOverListsOnly) {
  int sum = 0;
  for (const Value& element : Value{1, 2, 3}) sum += static_cast<int>(element.integer());
  EXPECT_EQ(sum, 6);
  const Value object = {{"a", 1}};
  EXPECT_EQ(object.begin(), object.end());
  EXPECT_EQ(object.size(), 1U);
}

TEST(Value, OfAWrongTypeEndsTheProgram) {
  const Value text = "a";
  EXPECT_DEATH(static_cast<void>(text.members()), "");
  EXPECT_DEATH(static_cast<void>(text.integer()), "");
  EXPECT_DEATH(static_cast<void>(Value(1).text()), "");
  EXPECT_DEATH(static_cast<void>(Value::array().at(0)), "");
}

TEST(Value, IsSmall) { EXPECT_EQ(sizeof(Value), 16U); }

}  // namespace
}  // namespace pintle::json
