// SPDX-License-Identifier: Apache-2.0
#include "gotemplate/print.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gotemplate/escape.h"
#include "gotemplate/json_value.h"
#include "json/parse.h"

namespace pintle::gotemplate {
namespace {

std::string Formatted(std::string_view format, const std::vector<Value>& values) {
  return *PrintFormat(format, values);
}

TEST(PrintFormat, PutsSignsZerosAndPaddingWhereGoDoes) {
  EXPECT_EQ(Formatted("%5d|%-5d|%05d|%+d|% d|%x|%#X|%#o|%O|%b|%.4d",
                      {Value::Integer(42), Value::Integer(42), Value::Integer(-42), Value::Integer(42),
                       Value::Integer(42), Value::Integer(-255), Value::Integer(255), Value::Integer(8),
                       Value::Integer(8), Value::Integer(5), Value::Integer(7)}),
            "   42|42   |-0042|+42| 42|-ff|0XFF|010|0o10|101|0007");
}

TEST(PrintFormat, WritesFractionsAsGoDoes) {
  EXPECT_EQ(Formatted("%v|%v|%v|%g|%e|%6.2f|%08.3f|%#g|%x|%b",
                      {Value::Real(123456789), Value::Real(1e-06), Value::Real(100000), Value::Real(1e21),
                       Value::Real(1234.5), Value::Real(3.14159), Value::Real(-1.5), Value::Real(1), Value::Real(1.5),
                       Value::Real(1)}),
            "1.23456789e+08|1e-06|100000|1e+21|1.234500e+03|  3.14|-001.500|1.00000|0x1.8p+00|4503599627370496p-52");
  EXPECT_EQ(Formatted("%v", {Value::Real(0.1F, kFloat32Type)}), "0.1");
}

TEST(PrintFormat, QuotesTextsAndCharacters) {
  EXPECT_EQ(Formatted("%q|%+q|%#q|%x|% X|%.2s|%q|%U|%#U|%c",
                      {Value::Text("h\xc3\xa9\n"), Value::Text("\xc3\xa9"), Value::Text("a\tb"),
                       Value::Text("h\xc3\xa9"), Value::Text("h\xc3\xa9"), Value::Text("h\xc3\xa9llo"),
                       Value::Integer('x'), Value::Integer(0xe9), Value::Integer(0xe9), Value::Integer(0xe9)}),
            "\"h\xc3\xa9\\n\"|\"\\u00e9\"|`a\tb`|68c3a9|68 C3 A9|h\xc3\xa9|'x'|U+00E9|U+00E9 '\xc3\xa9'|\xc3\xa9");
}

TEST(PrintFormat, ReportsMistakesInTheText) {
  EXPECT_EQ(Formatted("%d %z %!", {Value::Text("a"), Value::Bool(true)}), "%!d(string=a) %!z(bool=true) %!!(MISSING)");
  EXPECT_EQ(Formatted("%d", {}), "%!d(MISSING)");
  EXPECT_EQ(Formatted("x", {Value::Integer(1), Value()}), "x%!(EXTRA int=1, <nil>)");
  EXPECT_EQ(Formatted("%[3]d %[1]s", {Value::Text("a")}), "%!d(BADINDEX) a");
  EXPECT_EQ(Formatted("%*d %.*d", {Value::Text("a"), Value::Integer(1), Value::Integer(-1), Value::Integer(2)}),
            "%!(BADWIDTH)1 %!(BADPREC)2");
}

TEST(PrintFormat, WalksListsAndMaps) {
  const json::Value document = *json::Parse(R"({"a": [1, "b", null], "c": {"d": true}})");
  Memory memory;
  const Value value = FromJson(document, kAnyType, memory);
  EXPECT_EQ(Formatted("%v", {value}), "map[a:[1 b <nil>] c:map[d:true]]");
  EXPECT_EQ(Formatted("%d", {value}),
            "map[%!d(string=a):[%!d(float64=1) %!d(string=b) <nil>] %!d(string=c):map[%!d(string=d):%!d(bool=true)]]");
  EXPECT_EQ(Formatted("%#v", {value}),
            "map[string]interface {}{\"a\":[]interface {}{1, \"b\", interface {}(nil)}, "
            "\"c\":map[string]interface {}{\"d\":true}}");
}

// Without the limit, these texts would take a hundred gigabytes.
TEST(PrintFormat, LimitsTheLengthOfTheText) {
  const std::string bytes(100'000, 'x');
  const std::vector list = {Value::Bytes(bytes), Value::Integer(999'999)};
  for (const char* format : {"%1000000d", "%1000000z", "%[1]*[2]d", "%[2]*[1]d"}) {
    const auto text = PrintFormat(std::string(format) + "%[2]*[1]d", list);
    ASSERT_FALSE(text) << format;
    EXPECT_EQ(text.error().message(), "the text would be too long") << format;
  }
  const std::vector<Value> extra(10'000, Value::Text(bytes));
  EXPECT_EQ(PrintFormat("", extra).error().message(), "the text would be too long");
}

TEST(Print, PutsSpacesBetweenValuesThatAreNoTexts) {
  EXPECT_EQ(*Print(std::vector{Value::Integer(1), Value::Integer(2), Value::Text("a"), Value::Integer(3), Value()}),
            "1 2a3 <nil>");
  EXPECT_EQ(*PrintLine(std::vector{Value::Text(""), Value::Text("a"), Value::Bool(true)}), " a true\n");
}

TEST(Print, LimitsTheLengthOfTheText) {
  const std::string megabyte(1 << 20, 'x');
  const std::vector<Value> values(100'000, Value::Text(megabyte));
  EXPECT_EQ(Print(values).error().message(), "the text would be too long");
  EXPECT_EQ(PrintLine(values).error().message(), "the text would be too long");
}

TEST(Escaped, EndsWhenTheTextIsTooLong) {
  const std::string text(1000, '&');
  for (const auto escape : {HtmlEscaped, JavaScriptEscaped, QueryEscaped}) {
    EXPECT_GT(escape(text, 100).size(), 100U);
    EXPECT_LT(escape(text, 100).size(), 110U);
    EXPECT_GE(escape(text, 100'000).size(), 3000U);
  }
}

TEST(FormattedValue, PrintsBytesAsNumbers) {
  EXPECT_EQ(FormattedValue(Value::Bytes("h\xc3\xa9")), "[104 195 169]");
  EXPECT_EQ(FormattedValue(Value::Bytes("h\xc3\xa9"), 's'), "h\xc3\xa9");
}

TEST(FormattedValue, NamesTheTypeOfAValueThatTheVerbDoesNotFit) {
  constexpr Type kPointer = {Kind::kPointer, "*string", false, &kStringType};
  EXPECT_EQ(FormattedValue(Value::Zero(kPointer), 's'), "%!s(*string=<nil>)");
  EXPECT_EQ(FormattedValue(Value::Integer(1).AsInterface(), 's'), "%!s(int=1)");
}

}  // namespace
}  // namespace pintle::gotemplate
