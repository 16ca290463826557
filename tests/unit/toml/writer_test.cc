// SPDX-License-Identifier: Apache-2.0
#include "toml/writer.h"

#include <gtest/gtest.h>

#include <limits>

#include "machineconfig/toml.h"

namespace pintle::toml {
namespace {

TEST(Write, WritesNothingForAnEmptyTable) { EXPECT_EQ(Write(Table()), ""); }

TEST(Write, PutsPlainKeysBeforeTables) {
  Table inner;
  inner.Add("size", "20G");
  Table outer;
  outer.Add("options", inner).Add("driver", "overlay");
  Table document;
  document.Add("storage", outer);
  EXPECT_EQ(Write(document), "[storage]\n  driver = \"overlay\"\n  [storage.options]\n    size = \"20G\"\n");
}

TEST(Write, PutsABlankLineBeforeTopLevelTablesAndTablesOfLists) {
  Table mirror;
  mirror.Add("location", "m.test");
  Table registry;
  registry.Add("prefix", "").Add("mirror", Tables{mirror, mirror});
  Table aliases;
  aliases.Add("a", "b/a");
  Table document;
  document.Add("mode", "").Add("registry", Tables{registry}).Add("aliases", aliases);
  EXPECT_EQ(Write(document), R"(mode = ""

[[registry]]
  prefix = ""

  [[registry.mirror]]
    location = "m.test"

  [[registry.mirror]]
    location = "m.test"

[aliases]
  a = "b/a"
)");
}

TEST(Write, DoesNotBeginWithABlankLine) {
  Table document;
  document.Add("crio", Table().Add("n", std::int64_t{1}));
  EXPECT_EQ(Write(document), "[crio]\n  n = 1\n");
}

TEST(Write, WritesNothingForAnEmptyListOfTables) { EXPECT_EQ(Write(Table().Add("registry", Tables())), ""); }

TEST(Write, WritesEveryPlainType) {
  Table document;
  document.Add("yes", true).Add("no", false);
  document.Add("least", std::numeric_limits<std::int64_t>::min());
  document.Add("none", Texts()).Add("two", Texts{"a", "b\"c"});
  EXPECT_EQ(Write(document),
            "yes = true\nno = false\nleast = -9223372036854775808\nnone = []\ntwo = [\"a\", \"b\\\"c\"]\n");
}

struct Escape {
  std::string_view text;
  std::string_view written;
};

TEST(Write, EscapesCharactersThatABasicStringMayNotContain) {
  for (const Escape& row : {
           Escape{"", R"("")"},
           {"plain <&> \xC3\xA4\xE2\x80\xA8", "\"plain <&> \xC3\xA4\xE2\x80\xA8\""},
           {"\"\\", R"("\"\\")"},
           {"\b\t\n\f\r", R"("\b\t\n\f\r")"},
           {std::string_view("\0\x01\x1F\x7F\x0B\x1B", 6), R"("\u0000\u0001\u001f\u007f\u000b\u001b")"},
       }) {
    EXPECT_EQ(Write(Table().Add("k", row.text)), "k = " + std::string(row.written) + "\n");
  }
}

TEST(Write, QuotesKeysThatAreNotBare) {
  for (const Escape& row : {Escape{"a-b_C9", "a-b_C9"},
                            {"", R"("")"},
                            {"a.b", R"("a.b")"},
                            {"a b\n", R"("a b\n")"},
                            {"\xC3\xA4", "\"\xC3\xA4\""}}) {
    EXPECT_EQ(Write(Table().Add(row.text, true)), std::string(row.written) + " = true\n");
    EXPECT_EQ(Write(Table().Add(row.text, Table())), "[" + std::string(row.written) + "]\n");
  }
}

TEST(Write, CanBeReadBackUnchanged) {
  std::string every_byte;
  for (char c = 0; c < 0x7F; ++c) every_byte += c;
  Table document;
  document.Add(every_byte, Texts{every_byte, ""})
      .Add("t", Table().Add("x.y", Tables{Table().Add("n", std::int64_t{-3})}));
  const auto read = machineconfig::ParseToml(Write(document));
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(*read, (json::Value{{every_byte, json::Value::array({every_byte, ""})},
                                {"t", {{"x.y", json::Value::array({json::Value{{"n", -3}}})}}}}));
}

}  // namespace
}  // namespace pintle::toml
