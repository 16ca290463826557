// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/toml.h"

#include "json/parse.h"
#include "support/expect.h"

namespace pintle::machineconfig {
namespace {

std::string TomlAsJson(const std::string& toml) { return json::ToText(ValueOf(ParseToml(toml))); }
std::string TomlProblem(const std::string& toml) { return MessageOf(ParseToml(toml)); }

TEST(ParseToml, ReadsRegistries) {
  EXPECT_EQ(TomlAsJson("unqualified-search-registries = [\"a\", 'b'] # both\n"
                       "short-name-mode = \"\"\n\n"
                       "[[registry]]\n  prefix = \"x\"\n  location = \"y\"\n  blocked = true\n"
                       "  [[registry.mirror]]\n    location = \"m\"\n    pull-from-mirror = \"digest-only\"\n"
                       "  [[registry.mirror]]\n    location = \"n\"\n"
                       "[[registry]]\n  location = \"z\"\n"),
            R"({"registry":[{"blocked":true,"location":"y","mirror":[{"location":"m",)"
            R"("pull-from-mirror":"digest-only"},{"location":"n"}],"prefix":"x"},{"location":"z"}],)"
            R"("short-name-mode":"","unqualified-search-registries":["a","b"]})");
}

TEST(ParseToml, ReadsEveryKindOfValue) {
  EXPECT_EQ(
      TomlAsJson("a.b.\"c d\" = 1_000\nx = 0xff\ny = -1.5e3\nt = {p = 1, q = [1,\n2,]}\nd = 1979-05-27 07:32:00Z\n"
                 "s = \"\\u00e9\\t\"\nm = \"\"\"\nl1\nl2 \\\n   l3\"\"\"\nr = '''\n'raw' \\n'''\n"),
      "{\"a\":{\"b\":{\"c d\":1000}},\"d\":\"1979-05-27 07:32:00Z\",\"m\":\"l1\\nl2 l3\","
      "\"r\":\"'raw' \\\\n\",\"s\":\"\xC3\xA9\\t\",\"t\":{\"p\":1,\"q\":[1,2]},\"x\":255,\"y\":-1500.0}");
}

TEST(ParseToml, ReadsNumbersAndDates) {
  EXPECT_EQ(TomlAsJson("a = [+1, -17, 0, -0, 5_349_221, 0xDEAD_beef, 0o755, 0b1101]"),
            R"({"a":[1,-17,0,0,5349221,3735928559,493,13]})");
  EXPECT_EQ(TomlAsJson("a = [+1.5, -0.25, 5e+2, 1e06, 2E-1, 6_6.2_5e-0_1]"),
            R"({"a":[1.5,-0.25,500.0,1000000.0,0.2,6.625]})");
  const std::string dates = R"(["1979-05-27T07:32:00.25-07:00","1979-05-27t07:32:00","1979-05-27","07:32:00.999"])";
  EXPECT_EQ(TomlAsJson("a = [1979-05-27T07:32:00.25-07:00, 1979-05-27t07:32:00, 1979-05-27, 07:32:00.999]"),
            R"({"a":)" + dates + "}");
}

TEST(ParseToml, RefusesNumbersAndDatesThatTomlDoesNotAllow) {
  for (const char* word : {"0644",
                           "+007",
                           "1__0",
                           "1_",
                           "_1",
                           "1_e5",
                           "+-5",
                           "--5",
                           "+0xff",
                           "-0o7",
                           "0x",
                           "0x_1",
                           "0b12",
                           "0o8",
                           "0xg",
                           "1.",
                           ".5",
                           "1._5",
                           "1e",
                           "1e+",
                           "1e5.0",
                           "+",
                           "-",
                           "1.2.3",
                           "+infinity",
                           "infinity",
                           "9223372036854775808",
                           "1e999",
                           "0:zzz",
                           "1979-05-27x",
                           "1979-5-27",
                           "07:32",
                           "07:32:00.",
                           "1979-05-27T07:32:00+1",
                           "07:32:00Z",
                           "12abc"}) {
    EXPECT_THAT(TomlProblem("a = " + std::string(word)), testing::StartsWith("toml: line 1 (last key \"a\"): "))
        << word;
  }
}

TEST(ParseToml, ReportsLineAndKeyOfAProblem) {
  EXPECT_EQ(TomlProblem("not = = toml"), "toml: line 1 (last key \"not\"): expected value but found '=' instead");
  EXPECT_THAT(TomlProblem("a = 1\nb c = 2"), testing::HasSubstr("toml: line 2"));
  EXPECT_EQ(TomlProblem("a = 1\na = 2"), "toml: line 2 (last key \"a\"): Key 'a' has already been defined.");
  EXPECT_EQ(TomlProblem("[t]\n[t]\n"), "toml: line 2 (last key \"t\"): Key 't' has already been defined.");
  EXPECT_THAT(TomlProblem("a = \"x"), testing::HasSubstr("unexpected EOF"));
  EXPECT_THAT(TomlProblem("a = 1 2"), testing::HasSubstr("expected a top-level item to end"));
  EXPECT_EQ(TomlProblem(std::string("\x1f\x8b\x08\0\0", 5)),
            "toml: line 1: files cannot contain NULL bytes; probably using UTF-16; TOML files must be UTF-8");
}

TEST(ParseToml, DistinguishesAKeyWithADotFromATable) {
  EXPECT_EQ(TomlAsJson("\"a.b\" = [1]\n[a.b]\nc = 1\n"), R"({"a":{"b":{"c":1}},"a.b":[1]})");
  EXPECT_EQ(TomlAsJson("[\"a.b\"]\n[a.b]\n"), R"({"a":{"b":{}},"a.b":{}})");
}

TEST(ParseToml, DistinguishesElementsOfAList) {
  EXPECT_EQ(TomlAsJson("[[r]]\na = [1]\n[[r]]\n[r.a]\nb = 1\n"), R"({"r":[{"a":[1]},{"a":{"b":1}}]})");
  EXPECT_THAT(TomlProblem("[[r]]\n[r.a]\n[r.a]\n"), testing::HasSubstr("Key 'r.a' has already been defined."));
  EXPECT_THAT(TomlProblem("[[r]]\na = []\n[[r.a]]\n"), testing::HasSubstr("Key 'r.a' has already been defined."));
}

TEST(ParseToml, RefusesToExtendATableOrAListThatIsWrittenAsAValue) {
  EXPECT_EQ(TomlProblem("a = {}\n[a.b]\n"), "toml: line 2 (last key \"a.b\"): Key 'a.b' has already been defined.");
  for (const std::string_view text :
       {"a = {}\na.b = 1\n", "a = {}\n[a]\n", "a = {}\n[[a.b]]\n", "a.b = {}\n[a.b.c]\n", "a = {b = {}}\n[a.b.c]\n",
        "a = [{}]\n[a.b]\n", "a = [{}]\n[[a]]\n", "[t]\na = {}\n[t.a.b]\n", "[[t]]\na = {}\n[[t.a.b]]\n"}) {
    EXPECT_THAT(TomlProblem(std::string(text)), testing::HasSubstr("has already been defined.")) << text;
  }
  for (const std::string_view table : {"{a = {}, a.b = 1}", "{a = {b = {}}, a.b.c = 1}", "{a = [{}], a.b = 1}",
                                       "{a.b = {}, a.b.c = 1}", "{a = {b = {}, b.c = 1}}"}) {
    EXPECT_THAT(TomlProblem("x = " + std::string(table)), testing::HasSubstr("has already been defined.")) << table;
  }
  EXPECT_EQ(TomlAsJson("x = {a.b = 1, a.c = {}, a.d = []}\n[y]\n"), R"({"x":{"a":{"b":1,"c":{},"d":[]}},"y":{}})");
  EXPECT_EQ(TomlAsJson("[[r]]\na = {}\n[[r]]\n[r.a]\n"), R"({"r":[{"a":{}},{"a":{}}]})");
}

// If each member costs the length of its header, this test takes minutes.
TEST(ParseToml, ReadsManyMembersBelowALongKey) {
  const std::string header = "[\"" + std::string(1 << 20, 'k') + "\"]\n";
  std::string members;
  for (int i = 0; i < 200'000; ++i) members += "m" + std::to_string(i) + "=1\n";
  const json::Value document = ValueOf(ParseToml(header + members));
  ASSERT_EQ(document.size(), 1U);
  EXPECT_EQ(document.members().begin()->second.size(), 200'000U);
}

TEST(ParseToml, LeavesALongKeyOutOfItsError) {
  const std::string name(60, 'k');
  EXPECT_EQ(TomlProblem("[" + name + "]\nabc = 1\nabc = 2\n"),
            "toml: line 3 (last key \"" + name + ".abc\"): Key '" + name + ".abc' has already been defined.");
  EXPECT_EQ(TomlProblem("[" + name + "]\nabcd = 1\nabcd = 2\n"), "toml: line 3: A key has already been defined.");
  EXPECT_EQ(TomlProblem("[" + name + "." + name + "]\na = 1\na = 2\n"),
            "toml: line 3: A key has already been defined.");
}

TEST(ParseToml, RefusesDeepNesting) {
  EXPECT_THAT(TomlProblem("a = " + std::string(10'000, '[')), testing::HasSubstr("nested too deep"));
}

}  // namespace
}  // namespace pintle::machineconfig
