// SPDX-License-Identifier: Apache-2.0
#include "gotemplate/template.h"

#include <gtest/gtest.h>

#include <string>

#include "gotemplate/execute.h"
#include "gotemplate/json_value.h"
#include "json/parse.h"

namespace pintle::gotemplate {
namespace {

bool IsBuiltin(std::string_view name) { return Builtins().contains(name); }

Result<Template> Parse(std::string text) { return Template::Parse("t", std::move(text), IsBuiltin); }

std::string ErrorOf(std::string text) {
  const auto parsed = Parse(std::move(text));
  return parsed ? "" : parsed.error().message();
}

// Executes a template, and returns the text or the error.
std::string Printed(std::string text, std::string_view json = "null", const ExecuteOptions& options = {}) {
  const auto parsed = Parse(std::move(text));
  if (!parsed) return parsed.error().message();
  const json::Value document = *json::Parse(json);
  Memory memory;
  std::string output;
  const auto result = Execute(*parsed, {}, WithoutInterface(FromJson(document, kAnyType, memory)), output, options);
  return result ? output : result.error().message();
}

std::string Repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Parse, CountsTheLinesBeforeAnError) {
  EXPECT_EQ(ErrorOf("a\n\n{{- /* x\ny */ -}}\n{{\"\"}}{{`\n`}}{{x}}"), "template: t:6: function \"x\" not defined");
  EXPECT_EQ(ErrorOf("a\n{{if true\n}}\n{{else}}{{else}}"), "template: t:4: expected end; found {{else}}");
}

TEST(Parse, ReportsTheFirstLineOfAnActionWithSeveralLines) {
  EXPECT_EQ(ErrorOf("{{\n1"), "template: t:2: unclosed action started at t:1");
  EXPECT_EQ(ErrorOf("{{1\n\n\"x"), "template: t:3: unterminated quoted string in action started at t:1");
}

TEST(Parse, TakesElseWithAndElseIf) {
  EXPECT_EQ(Printed("{{with false}}a{{else with 1}}{{.}}{{end}}"), "1");
  EXPECT_EQ(Printed("{{if false}}a{{else if false}}b{{else}}c{{end}}"), "c");
  EXPECT_EQ(ErrorOf("{{if false}}a{{else with 1}}{{end}}"), "template: t:1: unexpected <with> in input");
}

TEST(Parse, RefusesTemplatesThatAreNestedTooDeeply) {
  EXPECT_EQ(ErrorOf("{{" + Repeated("(", 5000) + "1" + Repeated(")", 5000) + "}}"),
            "template: t:1: max expression depth exceeded");
  EXPECT_EQ(ErrorOf(Repeated("{{if 1}}", 5000)), "template: t:1: actions are nested too deeply");
  EXPECT_EQ(ErrorOf("{{if 1}}" + Repeated("{{else if 1}}", 5000)), "template: t:1: actions are nested too deeply");
  EXPECT_EQ(ErrorOf(Repeated("{{block \"a\" 1}}", 5000)), "template: t:1: actions are nested too deeply");
}

TEST(Execute, EndsWhereATemplateCallsItselfForEver) {
  EXPECT_EQ(Printed("{{define \"a\"}}{{template \"a\"}}{{end}}{{template \"a\"}}"),
            "template: t:1:25: executing \"a\" at <{{template \"a\"}}>: exceeded maximum template depth (100000)");
}

TEST(Execute, EndsWhereALoopTakesTooLong) {
  EXPECT_EQ(Printed("{{range 1000000000}}{{end}}", "null", {.max_steps = 1000}),
            "template: t:1:20: executing \"t\" at <>: the template takes too many steps");
}

TEST(Execute, LimitsOutputAndMemory) {
  EXPECT_NE(Printed("{{range 100}}0123456789{{end}}", "null", {.max_output = 100}).find("the output would be too long"),
            std::string::npos);
  EXPECT_NE(Printed("{{range 100}}{{$x := printf \"%1000d\" 1}}{{end}}", "null", {.max_memory = 10000})
                .find("the template needs too much memory"),
            std::string::npos);
  EXPECT_NE(Printed("{{printf \"" + Repeated("%[1]*[1]d", 100) + "\" 999999}}").find("the text would be too long"),
            std::string::npos);
  for (const std::string function : {"print", "println", "html", "js", "urlquery"}) {
    const std::string call = "{{" + function + Repeated(" $a", 70) + "}}";
    EXPECT_NE(Printed("{{$a := printf \"%1000000d\" 0}}" + call)
                  .find("error calling " + function + ": the text would be too long"),
              std::string::npos)
        << function;
  }
}

TEST(Execute, NamesThePlaceOfAnErrorOnALaterLine) {
  EXPECT_EQ(Printed("a\nbc {{index .l 7}}", R"({"l": [1]})"),
            "template: t:2:5: executing \"t\" at <index .l 7>: error calling index: index out of range: 7");
}

TEST(Execute, SetsVariablesOfALoopByAssignment) {
  EXPECT_EQ(Printed("{{$i := 9}}{{$e := 9}}{{range $i, $e = .}}{{end}}{{$i}}{{$e}}", R"(["a", "b"])"), "1b");
}

TEST(Execute, KeepsTheVariablesOfTheCallerOfATemplate) {
  EXPECT_EQ(Printed("{{$x := 1}}{{define \"a\"}}{{.}}{{end}}{{template \"a\" $x}}{{$x}}"), "11");
}

TEST(Execute, ContinuesTheLoopAtContinue) {
  EXPECT_EQ(Printed("{{range .}}{{if eq . \"b\"}}{{continue}}{{end}}{{.}}{{end}}", R"(["a", "b", "c"])"), "ac");
}

TEST(Execute, PassesOnAFailureOfTheFirstCommand) {
  EXPECT_EQ(Printed("{{index . 1 | printf \"%v\"}}", "[1]"),
            "template: t:1:2: executing \"t\" at <index . 1>: error calling index: reflect: slice index out of range");
}

TEST(Execute, CanRefuseAKeyThatAMapDoesNotHave) {
  EXPECT_EQ(Printed("{{.x}}", "{}", {.missing_key = MissingKey::kError}),
            "template: t:1:2: executing \"t\" at <.x>: map has no entry for key \"x\"");
  EXPECT_EQ(Printed("{{.x.y}}", "null", {.missing_key = MissingKey::kError}),
            "template: t:1:4: executing \"t\" at <.x.y>: nil data; no entry for key \"x\"");
}

}  // namespace
}  // namespace pintle::gotemplate
