// SPDX-License-Identifier: Apache-2.0
#include "json/fields.h"

#include <array>

#include "json/parse.h"
#include "support/expect.h"

namespace pintle::json {

enum class Colour { kRed, kBlue };
template <>
inline constexpr auto kNames<Colour> = std::array{std::pair{Colour::kRed, "red"}, std::pair{Colour::kBlue, "blue"}};

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Resource {
  std::optional<std::string> source;
  std::optional<std::string> compression;

  static constexpr auto kFields = json::FieldList{
      Field{"source", &Resource::source},
      Field{"compression", &Resource::compression},
  };
};

struct File {
  std::string path;
  std::optional<int> mode;
  bool overwrite = true;
  Colour colour = Colour::kRed;
  Resource contents;
  std::vector<Resource> append;
  std::map<std::string, std::string> labels;

  static constexpr auto kFields = json::FieldList{
      Required{"path", &File::path},  Field{"mode", &File::mode},         Field{"overwrite", &File::overwrite},
      Field{"colour", &File::colour}, Field{"contents", &File::contents}, Field{"append", &File::append},
      Field{"labels", &File::labels},
  };
};
std::string Key(const File& file) { return file.path; }

struct Storage {
  std::vector<File> files;
  static constexpr auto kFields = json::FieldList{Field{"files", &Storage::files}};
};

struct Nothing {
  static constexpr auto kFields = json::FieldList{};
};

struct PutFile {
  std::string path;
  static constexpr auto kFields = json::FieldList{Required{"path", &PutFile::path}};
};
struct PutUnit {
  std::string unit;
  bool enabled = false;
  static constexpr auto kFields =
      json::FieldList{Required{"unit", &PutUnit::unit}, Field{"enabled", &PutUnit::enabled}};
};

}  // namespace

template <>
inline constexpr std::string_view kKind<PutFile> = "file";
template <>
inline constexpr std::string_view kKind<PutUnit> = "unit";

namespace {

template <typename T>
T Decoded(const std::string& text, Report& report) {
  return Decode<T>(ValueOf(Parse(text)), report);
}

// Decodes a document that must have no problems.
template <typename T>
T DecodedWithoutProblems(const std::string& text) {
  Report report;
  T value = Decoded<T>(text, report);
  EXPECT_THAT(report.problems(), IsEmpty());
  return value;
}

template <typename T>
std::vector<std::string> ProblemsOf(const std::string& text) {
  Report report;
  static_cast<void>(Decoded<T>(text, report));
  std::vector<std::string> problems;
  for (const Problem& problem : report.problems()) {
    problems.push_back((problem.severity == Severity::kError ? "error " : "warning ") + problem.ToString());
  }
  return problems;
}

TEST(FieldList, KeepsTheOrderOfItsFieldsAndMayBeEmpty) {
  constexpr auto kTwo = Resource::kFields;
  static_assert(kTwo.kSize == 2 && FieldAt<0>(kTwo).name == "source" && FieldAt<1>(kTwo).name == "compression");
  std::vector<std::string_view> names;
  ForEachField<File>([&](const auto& field) { names.push_back(field.name); });
  EXPECT_THAT(names, ElementsAre("path", "mode", "overwrite", "colour", "contents", "append", "labels"));

  static_assert(Nothing::kFields.kSize == 0);
  EXPECT_THAT(ProblemsOf<Nothing>(R"({"a":1})"), ElementsAre(testing::StartsWith("warning $.?: ")));
  EXPECT_EQ(ToText(Encode(Nothing())), "{}");
}

TEST(Decode, ReportsEveryProblemWithItsPath) {
  EXPECT_THAT(
      ProblemsOf<Storage>(R"({"files":[
                {"path":"/a","mode":"rw","colour":"green","zz":1},
                {"mode":5000000000,"append":{},"labels":{"k":2}},
                7]})"),
      ElementsAre("error $.files.0.mode: must be a whole number", "error $.files.0.?: is none of \"red\", \"blue\"",
                  "warning $.files.0.?: unknown key", "error $.files.1.path: is required",
                  "error $.files.1.mode: must be between -2147483648 and 2147483647",
                  "error $.files.1.append: must be a list", "error $.files.1.labels.?: must be a string",
                  "error $.files.2: must be an object"));
}

TEST(Decode, TreatsNullLikeAMissingKey) {
  const File file = DecodedWithoutProblems<File>(R"({"path":"/a","mode":null,"overwrite":null,"append":null})");
  EXPECT_EQ(file.mode, std::nullopt);
  EXPECT_TRUE(file.overwrite);
  EXPECT_THAT(ProblemsOf<File>(R"({"path":null})"), ElementsAre("error $.path: must be a string"));
}

TEST(Decode, OnlyErrorsMakeAReportAFailure) {
  Report report;
  static_cast<void>(Decoded<Storage>(R"({"other":1})", report));
  EXPECT_FALSE(report.has_errors());
  EXPECT_TRUE(Succeeded(report.ToResult()));
  static_cast<void>(Decoded<Storage>(R"({"files":[1,2]})", report));
  EXPECT_EQ(MessageOf(report.ToResult()), "$.files.0: must be an object; $.files.1: must be an object");
}

TEST(Decode, MovesLongStringsOutOfTheDocument) {
  Value document = {{"path", std::string(1000, 'x')}};
  const char* bytes = document["path"].text().data();
  Report report;
  const File file = Decode<File>(std::move(document), report);
  EXPECT_EQ(file.path.data(), bytes);
}

TEST(Encode, WritesTheFieldsThatWereDecodedAndNoOthers) {
  for (
      const char* text : {
          R"({"path":"/a"})",
          R"({"append":[{"source":"data:,x"},{}],"colour":"blue","contents":{"compression":"gzip"},"labels":{"k":"v"},"mode":0,"overwrite":false,"path":""})",
      }) {
    EXPECT_EQ(ToText(Encode(DecodedWithoutProblems<File>(text))), text);
  }
}

TEST(Encode, NamesTheKindOfAVariant) {
  using Step = std::variant<PutFile, PutUnit>;
  const std::string text = R"([{"kind":"file","path":"/a"},{"enabled":true,"kind":"unit","unit":"b.service"}])";
  EXPECT_EQ(ToText(Encode(DecodedWithoutProblems<std::vector<Step>>(text))), text);
  EXPECT_THAT(ProblemsOf<Step>(R"({"kind":"user"})"), ElementsAre("error $.kind: is not known"));
  EXPECT_THAT(ProblemsOf<Step>(R"({"path":"/a"})"), ElementsAre("error $.kind: must be a string"));
}

std::vector<std::string> PathsThatDiffer(const File& a, const File& b) {
  std::vector<std::string> paths;
  Compare(a, b, [&](const Path& path) { paths.push_back(path.ToString()); });
  return paths;
}

TEST(Compare, NamesEachFieldThatDiffers) {
  const File a =
      DecodedWithoutProblems<File>(R"({"path":"/a","mode":1,"contents":{"source":"data:,1"},"append":[{}]})");
  const File b =
      DecodedWithoutProblems<File>(R"({"path":"/a","mode":2,"contents":{"source":"data:,2"},"append":[{},{}]})");
  EXPECT_THAT(PathsThatDiffer(a, b), ElementsAre("$.mode", "$.contents.source", "$.append"));
  EXPECT_THAT(PathsThatDiffer(a, a), IsEmpty());
  EXPECT_TRUE(Equal(a, a));
  EXPECT_FALSE(Equal(a, b));
}

TEST(MergeInto, PrefersTheChildsValues) {
  Storage parent = DecodedWithoutProblems<Storage>(R"({"files":[
      {"path":"/a","mode":1,"contents":{"source":"data:,1","compression":"gzip"},"append":[{"source":"data:,x"}]},
      {"path":"/b"}]})");
  MergeInto(parent, DecodedWithoutProblems<Storage>(R"({"files":[
      {"path":"/c"},
      {"path":"/a","contents":{"source":"data:,2"},"append":[{"source":"data:,y"}]}]})"));
  const Storage expected = DecodedWithoutProblems<Storage>(R"({"files":[
      {"path":"/a","mode":1,"contents":{"source":"data:,2","compression":"gzip"},
       "append":[{"source":"data:,x"},{"source":"data:,y"}]},
      {"path":"/b"},
      {"path":"/c"}]})");
  EXPECT_EQ(ToText(Encode(parent)), ToText(Encode(expected)));
}

}  // namespace
}  // namespace pintle::json
