// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/yaml.h"

#include <string>
#include <vector>

#include "json/parse.h"
#include "support/expect.h"

namespace pintle::machineconfig {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// Returns the only document of a text as JSON.
std::string YamlAsJson(const std::string& yaml) {
  const auto documents = ValueOf(ParseYaml(yaml));
  EXPECT_THAT(documents, SizeIs(1));
  return documents.empty() ? "" : json::ToText(documents.front());
}

std::string YamlProblem(const std::string& yaml) { return MessageOf(ParseYaml(yaml)); }

TEST(ParseYaml, ResolvesPlainScalarsAsYaml11Does) {
  EXPECT_EQ(YamlAsJson("[yes, No, on, OFF, y, n, true, False, ~, null, '']"),
            R"([true,false,true,false,true,false,true,false,null,null,""])");
  EXPECT_EQ(YamlAsJson("[0644, 0x1a4, 0b110100100, 4_20, 0o644, -010, +7, 08, 0b-11]"),
            "[420,420,420,420,420,-8,7,8,-3]");
  EXPECT_EQ(YamlAsJson("[4.2e2, .5, 1., 1e-7, 18446744073709551615, 18446744073709551616, 1_0.5]"),
            "[420,0.5,1,1e-07,18446744073709551615,1.8446744073709552e+19,10.5]");
  EXPECT_EQ(YamlAsJson("[12:30, 2024-01-02, 1.2.3, 0xg, _1, 1e999, 0x, '1', \"no\", <<]"),
            R"(["12:30","2024-01-02","1.2.3","0xg","_1","1e999","0x","1","no","<<"])");
}

TEST(ParseYaml, FollowsTags) {
  EXPECT_EQ(YamlAsJson("[!!str 1, !!int '7', !!float 2, !!bool yes, !!binary aGk=, !other 5, ! 6]"),
            R"(["1",7,2,true,"hi","5","6"])");
  EXPECT_THAT(YamlProblem("a:\n- !!int x"), HasSubstr("line 2"));
  EXPECT_THAT(YamlProblem("!!binary '*'"), HasSubstr("base64"));
}

TEST(ParseYaml, KeepsButanesTextsAsTheyAreWritten) {
  EXPECT_EQ(
      YamlAsJson(
          "variant: fcos\nversion: 1.10\nstorage:\n  files:\n  - {path: 0644, mode: 0644, overwrite: yes, contents: "
          "{inline: on}}\n  - {path: 1e3, contents: {inline: ~}}\npasswd: {users: [{name: .inf, "
          "ssh_authorized_keys: [1_0, !!int 5, no]}]}\n"),
      R"({"passwd":{"users":[{"name":".inf","ssh_authorized_keys":["1_0","5","no"]}]},)"
      R"("storage":{"files":[{"contents":{"inline":"on"},"mode":420,"overwrite":true,"path":"0644"},)"
      R"({"contents":{"inline":null},"path":"1e3"}]},"variant":"fcos","version":"1.10"})");
  EXPECT_EQ(
      YamlAsJson("{variant: openshift, metadata: {name: 99, labels: {on: y, 0x10: 0x10}}, openshift: {fips: on}}"),
      R"({"metadata":{"labels":{"0x10":"0x10","on":"y"},"name":"99"},"openshift":{"fips":true},)"
      R"("variant":"openshift"})");
  EXPECT_EQ(YamlAsJson(R"({"variant": "fcos", "version": 1.50, "storage": {"files": [{"mode": 420, "path": true}]}})"),
            R"({"storage":{"files":[{"mode":420,"path":"true"}]},"variant":"fcos","version":"1.50"})");
}

TEST(ParseYaml, KeepsTextsOfButanesAnchorsAsTheyAreWritten) {
  EXPECT_EQ(YamlAsJson(
                "variant: &text 1.0\nversion: *text\nstorage: {files: [&one {path: 1, mode: 1}, {<<: *one, path: 2}]}"),
            R"({"storage":{"files":[{"mode":1,"path":"1"},{"mode":1,"path":"2"}]},"variant":"1.0","version":"1.0"})");
}

TEST(ParseYaml, TurnsKeysIntoTexts) {
  EXPECT_EQ(YamlAsJson("{1: a, yes: b, 1.5: c, 0x10: d}"), R"({"1":"a","1.5":"c","16":"d","true":"b"})");
  EXPECT_THAT(YamlProblem("a: 1\n? [b]\n: 2\n"), HasSubstr("line 2: a key must be"));
  EXPECT_THAT(YamlProblem("~: 1"), HasSubstr("a key must be"));
}

// These are the results of sigs.k8s.io/yaml 1.3.0, which kubectl uses.
TEST(ParseYaml, TurnsFloatingPointKeysIntoTextsAsKubectlDoes) {
  EXPECT_EQ(YamlAsJson("{100000.0: a, 1000000.0: b, !!float 10000000: c, -0.0: d, 0.1: e, 16777217.0: f, 1e-7: g}"),
            R"({"-0":"d","0.1":"e","1.6777216e+07":"f","100000":"a","1e+06":"b","1e+07":"c","1e-07":"g"})");
  EXPECT_EQ(YamlAsJson("{.inf: a, -.inf: b, .nan: c}"), R"({"-.inf":"b",".inf":"a",".nan":"c"})");
  EXPECT_EQ(YamlAsJson("{1e300: a}"), R"({".inf":"a"})");
  EXPECT_EQ(YamlAsJson("- &float 1000000.0\n- {*float : a}"), R"([1000000,{"1e+06":"a"}])");
}

TEST(ParseYaml, UsesTheLastOfTwoEqualKeysAndWarns) {
  json::Report report;
  EXPECT_EQ(json::ToText(ValueOf(ParseYaml("a: {b: 1, b: 2}", &report)).front()), R"({"a":{"b":2}})");
  ASSERT_THAT(report.problems(), SizeIs(1));
  EXPECT_EQ(report.problems()[0].path, "$.a.b");
}

TEST(ParseYaml, ReportsADuplicateKeyOnce) {
  const auto paths = [](const std::string& yaml) {
    json::Report report;
    ValueOf(ParseYaml(yaml, &report));
    std::vector<std::string> found;
    for (const json::Problem& problem : report.problems()) found.push_back(problem.path);
    return found;
  };
  EXPECT_THAT(paths("{a: 1, a: 2, a: 3}"), ElementsAre("$.a"));
  EXPECT_THAT(paths(R"({"a": 1, "a": 2, "a": 3})"), ElementsAre("$.a"));
  // A text that begins as JSON may be YAML.
  EXPECT_THAT(paths(R"({"a": 1, "a": 2, b: 3})"), ElementsAre("$.a"));
  EXPECT_THAT(paths(R"({"variant": "fcos", "a": 1, "a": 2})"), ElementsAre("$.a"));
  EXPECT_THAT(paths("- &one {x: 1, x: 2}\n- *one\n- {<<: *one}\n- {<<: [*one, {z: 1, z: 2}]}\n"),
              ElementsAre("$.0.x", "$.3.z"));
}

TEST(ParseYaml, DoesNotReportAKeyThatOverridesAMergedOne) {
  json::Report report;
  EXPECT_EQ(json::ToText(ValueOf(ParseYaml("- &a {x: 1, z: 1}\n- {<<: *a, x: 2}\n", &report)).front()),
            R"([{"x":1,"z":1},{"x":2,"z":1}])");
  EXPECT_THAT(report.problems(), SizeIs(0));
  ValueOf(ParseYaml("- &a {x: 1}\n- {<<: *a, x: 2, x: 3}\n", &report));
  ASSERT_THAT(report.problems(), SizeIs(1));
  EXPECT_EQ(report.problems()[0].path, "$.1.x");
}

TEST(ParseYaml, ReportsAKeyThatIsWrittenBeforeAndAfterAMerge) {
  json::Report report;
  EXPECT_EQ(json::ToText(ValueOf(ParseYaml("- &a {x: 1}\n- {x: 2, <<: *a, x: 3}\n", &report)).front()),
            R"([{"x":1},{"x":3}])");
  ASSERT_THAT(report.problems(), SizeIs(1));
  EXPECT_EQ(report.problems()[0].path, "$.1.x");
}

TEST(ParseYaml, ReadsBlocksAndFolds) {
  EXPECT_EQ(YamlAsJson("a: |\n  x\n   y\n\nb: >-\n  one\n  two\n\n  three\nc: |+\n  z\n\n"),
            R"({"a":"x\n y\n","b":"one two\nthree","c":"z\n\n"})");
}

TEST(ParseYaml, ReadsAllDocumentsThatAreNotEmpty) {
  const auto documents = ValueOf(ParseYaml("---\n# nothing\n---\na: 1\n---\nnull\n---\n- b\n...\n"));
  ASSERT_THAT(documents, SizeIs(2));
  EXPECT_EQ(json::ToText(documents[0]), R"({"a":1})");
  EXPECT_EQ(json::ToText(documents[1]), R"(["b"])");
  EXPECT_THAT(ValueOf(ParseYaml("")), SizeIs(0));
}

TEST(ParseYaml, FollowsAliases) {
  EXPECT_EQ(YamlAsJson("a: &x {b: [1]}\nc: *x\nd: *x\n"), R"({"a":{"b":[1]},"c":{"b":[1]},"d":{"b":[1]}})");
  EXPECT_THAT(YamlProblem("a: 1\nb: *x\n"), HasSubstr("line 2: an alias to an anchor that is unknown"));
  EXPECT_THAT(YamlProblem("a: &x [*x]\n"), HasSubstr("contains itself"));
}

TEST(ParseYaml, MergesAtThePlaceOfTheMergeKey) {
  EXPECT_EQ(YamlAsJson("base: &b {x: 1, z: 2}\nbelow: {<<: *b, x: 3}\nabove: {x: 3, <<: *b}\n"),
            R"({"above":{"x":1,"z":2},"base":{"x":1,"z":2},"below":{"x":3,"z":2}})");
  EXPECT_EQ(YamlAsJson("a: &a {x: 1}\nb: &b {x: 2, z: 2}\nc: {<<: [*a, *b]}\n"),
            R"({"a":{"x":1},"b":{"x":2,"z":2},"c":{"x":1,"z":2}})");
  EXPECT_THAT(YamlProblem("<<: 5\n"), HasSubstr("map merge requires map or sequence of maps as the value"));
  EXPECT_EQ(YamlAsJson("'<<': {x: 1}"), R"({"<<":{"x":1}})");
}

TEST(ParseYaml, MergesAtAKeyWithTheTagOfAMerge) {
  EXPECT_EQ(YamlAsJson("a: &a {x: 1}\nb: {!!merge <<: *a}\nc: {!!merge '<<': *a}\n"),
            R"({"a":{"x":1},"b":{"x":1},"c":{"x":1}})");
  EXPECT_EQ(YamlAsJson("{!!merge y: 1, b: !!merge <<}"), R"({"b":"<<","y":1})");
}

TEST(ParseYaml, StopsAnAliasBomb) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string alias = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + alias;
    for (int j = 0; j < 9; ++j) bomb += ", " + alias;
    bomb += "]\n";
  }
  EXPECT_THAT(YamlProblem(bomb), HasSubstr("excessive aliasing"));
}

TEST(ParseYaml, StopsAliasesOfALongText) {
  std::string text = "a: &a " + std::string(1000, 'x') + "\nb: [";
  for (int i = 0; i < 50; ++i) text += "*a, ";
  const json::ParseLimits limits{.depth = 10, .bytes = 20'000};
  EXPECT_THAT(MessageOf(ParseYaml(text + "*a]", nullptr, limits)), HasSubstr("excessive aliasing"));
}

TEST(ParseYaml, RefusesDeepNestingAndLongTexts) {
  EXPECT_THAT(YamlProblem(std::string(10'000, '[')), HasSubstr("levels deep"));
  // A text that begins with { and is neither JSON nor YAML gets the error of the JSON parser.
  EXPECT_THAT(YamlProblem(std::string(10'000, '{')), HasSubstr("not JSON"));
  std::string nested;
  for (int i = 0; i < 600; ++i) nested += std::string(static_cast<std::size_t>(i), ' ') + "-\n";
  EXPECT_THAT(YamlProblem(nested), HasSubstr("levels deep"));
  EXPECT_THAT(MessageOf(ParseYaml("aaaaaaaaaa", nullptr, {.depth = 5, .bytes = 9})), HasSubstr("longer than"));
}

TEST(ParseYaml, AcceptsAsManyValuesAsTheLimit) {
  EXPECT_THAT(ValueOf(ParseYaml("[a, b]", nullptr, {.values = 3})), SizeIs(1));
  EXPECT_THAT(ValueOf(ParseYaml("[{a: b}]", nullptr, {.values = 4})), SizeIs(1));
  EXPECT_EQ(MessageOf(ParseYaml("[a,\n b]", nullptr, {.values = 2})), "not YAML: line 2: more than 2 values");
}

// libyaml compares each %TAG with all before it, so many of them would take quadratic time.
TEST(ParseYaml, RefusesManyTagDirectivesAfterAnyKindOfLineBreak) {
  for (const std::string line_break : {"\n", "\r", "\r\n", "\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9"}) {
    std::string text = "%YAML 1.1";
    for (int i = 0; i < 1001; ++i) text += line_break + "%TAG !a" + std::to_string(i) + "! x";
    EXPECT_EQ(YamlProblem(text + line_break + "--- a"), "not YAML: more than 1000 %TAG directives");
  }
}

TEST(ParseYaml, RefusesManyTagDirectivesInUtf16) {
  std::string ascii;
  for (int i = 0; i < 1001; ++i) ascii += "%TAG !a" + std::to_string(i) + "! x\n";
  std::string little = "\xFF\xFE";
  std::string big = "\xFE\xFF";
  for (const char c : ascii + "--- a") {
    little += {c, '\0'};
    big += {'\0', c};
  }
  EXPECT_EQ(YamlProblem(little), "not YAML: more than 1000 %TAG directives");
  EXPECT_EQ(YamlProblem(big), "not YAML: more than 1000 %TAG directives");
}

TEST(ParseYaml, DoesNotTakeTagsWithinALineForDirectives) {
  std::string text;
  for (int i = 0; i < 1001; ++i) text += "- \"x%TAG\"\n";
  EXPECT_THAT(ValueOf(ParseYaml(text)).at(0), SizeIs(1001));
}

TEST(ParseYaml, ReportsTheLineOfAProblem) {
  EXPECT_THAT(YamlProblem("a: 1\nb: [1\nc: 2\n"), HasSubstr("line 3"));
  EXPECT_THAT(YamlProblem("a: 1\n\tb: 2\n"), HasSubstr("line 2"));
  EXPECT_THAT(YamlProblem("a: \xFF\n"), HasSubstr("not YAML"));
  EXPECT_THAT(YamlProblem("a: .nan"), HasSubstr("line 1: JSON cannot represent this number"));
}

TEST(ParseYaml, ReadsJsonAsItIs) {
  EXPECT_EQ(YamlAsJson(" {\"a\": \"\\u2028\", \"b\": [1e2, true]}\n"), "{\"a\":\"\xE2\x80\xA8\",\"b\":[100.0,true]}");
}

TEST(ParseYaml, ReadsATextThatOnlyBeginsLikeJsonAsYaml) {
  EXPECT_EQ(YamlAsJson("{a: 1, b: no}"), R"({"a":1,"b":false})");
}

}  // namespace
}  // namespace pintle::machineconfig
