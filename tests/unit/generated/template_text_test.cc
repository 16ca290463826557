// SPDX-License-Identifier: Apache-2.0
#include "generated/template_text.h"

#include <gtest/gtest.h>

#include <string>

namespace pintle::generated {
namespace {

std::string ErrorOf(std::string_view text) {
  const auto file = ReadTemplateFile(text);
  return file ? "" : file.error().message();
}

TEST(ReadTemplateFile, AcceptsNumbersAndBooleansAsTexts) {
  const auto file =
      ReadTemplateFile("path: 1e6\ncontents: {inline: yes, verification: {hash: 1.5}}\nuser: {name: 7, id: 0o7}\n");
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(file->path, "1e+06");
  EXPECT_EQ(file->contents.source, "data:,true");
  EXPECT_EQ(file->contents.verification.hash, "1.5");
  EXPECT_EQ(file->user.name, "7");
  EXPECT_EQ(file->user.id, 7);
}

TEST(ReadTemplateFile, AcceptsKeysInAnyCaseAndIgnoresUnknownOnes) {
  const auto file = ReadTemplateFile("PATH: /a\nMode: 0x1ff\nunknown: [1]\nCONTENTS: {INLINE: x}\n---\npath: /b\n");
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(file->path, "/a");
  EXPECT_EQ(file->mode, 0777);
  EXPECT_EQ(file->contents.source, "data:,x");
}

TEST(ReadTemplateFile, PrefersInlineContentsAndAlwaysOverwrites) {
  const auto file = ReadTemplateFile("path: /a\noverwrite: false\ncontents: {source: 'data:,s', inline: i}\n");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->contents.source, "data:,i");
  EXPECT_EQ(file->overwrite, true);
}

TEST(ReadTemplateFile, ReportsWrongTypesAsGoDoes) {
  const std::string decoding = "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ";
  EXPECT_EQ(ErrorOf("mode: 1.5"), decoding + "number 1.5 into Go struct field File.Mode of type int");
  EXPECT_EQ(ErrorOf("mode: 420.0"), "");
  EXPECT_EQ(ErrorOf("mode: \"420\""), decoding + "string into Go struct field File.Mode of type int");
  EXPECT_EQ(ErrorOf("mode: yes"), decoding + "bool into Go struct field File.Mode of type int");
  EXPECT_EQ(ErrorOf("- a"), decoding + "array into Go value of type v0_1.File");
  EXPECT_EQ(ErrorOf("12"), decoding + "number into Go value of type v0_1.File");
  EXPECT_EQ(ErrorOf("contents: {inline: [1]}"),
            decoding + "array into Go struct field FileContents.Contents.Inline of type string");
  EXPECT_EQ(ErrorOf("append: x"), decoding + "string into Go struct field File.Append of type []v0_1.FileContents");
  // The first error in the sorted order of the keys is reported.
  EXPECT_EQ(ErrorOf("path: []\nmode: x"), decoding + "string into Go struct field File.Mode of type int");
}

// Go's conversion of YAML to JSON makes texts of numbers only where a text is expected.
TEST(ReadTemplateFile, RefusesNumbersThatJsonCannotRepresent) {
  const std::string unsupported = "error converting YAML to JSON: json: unsupported value: ";
  EXPECT_EQ(ErrorOf("mode: .inf"), unsupported + "+Inf");
  EXPECT_EQ(ErrorOf("mode: -.inf\noverwrite: x"), unsupported + "-Inf");
  EXPECT_EQ(ErrorOf("unknown: [1, {a: .nan}]"), unsupported + "NaN");
  EXPECT_EQ(ErrorOf("append: .inf"), unsupported + "+Inf");
  const auto file = ReadTemplateFile("path: -.inf\ncontents: {inline: .NAN}\n");
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(file->path, "-Inf");
  EXPECT_EQ(file->contents.source, "data:,NaN");
}

TEST(ReadTemplateFile, ReportsWrongYamlAsGoDoes) {
  EXPECT_EQ(ErrorOf("path: /a\ncontents:\n\tinline: x\n"),
            "error converting YAML to JSON: yaml: line 3: found character that cannot start any token");
  const std::string converting = "error converting YAML to JSON: yaml: ";
  EXPECT_EQ(ErrorOf("a: b: c"), converting + "mapping values are not allowed in this context");
  EXPECT_EQ(ErrorOf("%YAML 1.2\n---\npath: /a"), converting + "found incompatible YAML document");
  EXPECT_EQ(ErrorOf("%YAML 1.1\n---\npath: /a"), "");
  EXPECT_EQ(ErrorOf("path: *nowhere"), converting + "unknown anchor 'nowhere' referenced");
  EXPECT_EQ(ErrorOf("contents: &c {inline: *c}"), converting + "anchor 'c' value contains itself");
  EXPECT_EQ(ErrorOf("contents: &c {<<: *c}"), converting + "anchor 'c' value contains itself");
  const std::string no_map = converting + "map merge requires map or sequence of maps as the value";
  EXPECT_EQ(ErrorOf("<<: x"), no_map);
  EXPECT_EQ(ErrorOf("path: &p /a\n<<: [*p]"), no_map);
  EXPECT_EQ(ErrorOf("mode: !!int x"), converting + "cannot decode !!str `x` as a !!int");
  EXPECT_EQ(ErrorOf("path: !!binary '*'"), converting + "!!binary value contains invalid base64 data");
  EXPECT_EQ(ErrorOf("contents: {inline: {{ name }}}"),
            converting + "invalid map key: map[interface {}]interface {}{\"name\":interface {}(nil)}");
  EXPECT_EQ(ErrorOf("? [1, a]\n: b"), converting + "invalid map key: []interface {}{1, \"a\"}");
}

// For yaml.v2, a question mark inside of brackets or braces begins a key, and a slash has no escape.
TEST(ReadTemplateFile, RefusesWhatOnlyLaterVersionsOfYamlHave) {
  const std::string converting = "error converting YAML to JSON: yaml: ";
  EXPECT_EQ(ErrorOf("contents: {source: http://e.test/?a=b}"), converting + "did not find expected ',' or '}'");
  EXPECT_EQ(ErrorOf("path: /\u00e9\ncontents:\n  {inline: a\n   b?}"),
            converting + "line 3: did not find expected ',' or '}'");
  EXPECT_EQ(ErrorOf("path: /a\nx: [a?]"), converting + "line 1: did not find expected ',' or ']'");
  EXPECT_EQ(ErrorOf("x: [a?b: c]"), converting + "did not find expected ',' or ']'");
  EXPECT_EQ(ErrorOf("x: {a?b: c}"), converting + "did not find expected ',' or '}'");
  EXPECT_EQ(ErrorOf("path: a?b\ncontents: {source: 'http://e.test/?a', inline: \"?\"}\nx:\n- b?"), "");
  EXPECT_EQ(ErrorOf(R"({"path": "\/a"})"), converting + "found unknown escape character");
  EXPECT_EQ(ErrorOf("# \u00e9\npath: \"/\\\\/\n  \\/\""), converting + "line 3: found unknown escape character");
  EXPECT_EQ(ErrorOf(R"({"path": "/\\/"})"), "");
}

TEST(ReadTemplateUnit, ReadsDropins) {
  const auto unit =
      ReadTemplateUnit("name: a.service\nenabled: true\ndropins:\n- name: 10.conf\n  contents: x\n- name: 20.conf\n");
  ASSERT_TRUE(unit) << unit.error().message();
  EXPECT_EQ(unit->name, "a.service");
  EXPECT_EQ(unit->enabled, true);
  ASSERT_EQ(unit->dropins.size(), 2U);
  EXPECT_EQ(unit->dropins[0].contents, "x");
  EXPECT_EQ(unit->dropins[1].contents, std::nullopt);
}

}  // namespace
}  // namespace pintle::generated
