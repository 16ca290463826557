// SPDX-License-Identifier: Apache-2.0
#include "json/go_text.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "json/fields.h"

namespace pintle::json {
namespace {

struct Inner {
  std::optional<int> b;
  static constexpr auto kFields = json::FieldList{Field{"b", &Inner::b}};
};

struct Outer {
  std::string z;
  Inner inner;
  std::vector<std::string> list;
  std::optional<std::vector<std::string>> needed;
  std::map<std::string, std::string> map;
  Value any;

  static constexpr auto kFields = json::FieldList{
      Required{"z", &Outer::z},           Field{"inner", &Outer::inner}, Field{"list", &Outer::list},
      Required{"needed", &Outer::needed}, Field{"map", &Outer::map},     Field{"any", &Outer::any},
  };
};

TEST(GoText, KeepsTheOrderOfFieldsAndOmitsUnsetOnes) {
  EXPECT_EQ(GoText(Outer{}), R"({"z":"","needed":null})");
  Outer outer;
  outer.z = "<&>";
  outer.inner.b = 3;
  outer.list = {"x", "y"};
  outer.needed.emplace();
  outer.map = {{"b", "2"}, {"a", "1"}};
  outer.any = {{"y", 1}, {"x", "<"}};
  EXPECT_EQ(GoText(outer),
            R"({"z":"\u003c\u0026\u003e","inner":{"b":3},"list":["x","y"],"needed":[],"map":{"a":"1","b":"2"},)"
            R"("any":{"x":"\u003c","y":1}})");
}

TEST(Indented, PutsEachMemberOnALineAndLeavesTextsAlone) {
  EXPECT_EQ(Indented(R"({"a":{},"b":[],"c":[1,{"d":"x,{\"}:y\\"}]})", 4),
            "{\n"
            "    \"a\": {},\n"
            "    \"b\": [],\n"
            "    \"c\": [\n"
            "        1,\n"
            "        {\n"
            "            \"d\": \"x,{\\\"}:y\\\\\"\n"
            "        }\n"
            "    ]\n"
            "}");
  EXPECT_EQ(Indented("\"text\"", 2), "\"text\"");
}

}  // namespace
}  // namespace pintle::json
