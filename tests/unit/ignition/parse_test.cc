// SPDX-License-Identifier: Apache-2.0
#include "json/parse.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ignition/config.h"
#include "ignition/validation.h"
#include "support/expect.h"

namespace pintle::ignition {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> Texts(const json::Report& report) {
  std::vector<std::string> texts;
  for (const json::Problem& problem : report.problems()) texts.push_back(problem.ToString());
  return texts;
}

TEST(Parse, ReportsAllProblemsAtOnceWithTheirPaths) {
  json::Report report;

  const auto config = Parse(std::string_view(R"({"ignition": {"version": "3.4.0"}, "storage": {"files": [
      {"path": "x", "mode": 99999}, {"path": "/a", "contents": {"source": "data:,a b"}}]}})"),
                            report);

  EXPECT_FALSE(config);
  EXPECT_THAT(Texts(report),
              ElementsAre("$.storage.files.0.path: path not absolute", "$.storage.files.0.mode: illegal file mode",
                          "$.storage.files.0.mode: setuid/setgid/sticky bits are not supported or functional in spec "
                          "versions older than 3.6.0",
                          "$.storage.files.1.contents.source: invalid data character"));
}

TEST(Parse, NamesLinesAndColumnsInItsError) {
  json::Report report;
  const std::string text =
      "{\n \"ignition\": {\"version\": \"3.1.0\"},\n \"storage\": {\"files\": [{\"path\": \"x\"}]}}";

  EXPECT_THAT(MessageOf(Parse(text, report)),
              HasSubstr("error at $.storage.files.0.path, line 3 col 33: path not absolute\n"));
}

TEST(Parse, HasTheOperatorsAndOurMessageForAWrongType) {
  json::Report report;
  const std::string text =
      R"({"ignition": {"version": "3.4.0"}, "storage": {"files": [{"path": "/a", "mode": "0644"}]}})";

  const std::string message = MessageOf(Parse(text, report));

  EXPECT_THAT(message, HasSubstr("json: cannot unmarshal string into Go struct field "
                                 "File.storage.files.FileEmbedded1.mode of type int"));
  EXPECT_THAT(message, HasSubstr("error at $.storage.files.0.mode"));
}

TEST(Parse, NamesTheTypeThatAListOfHeadersHas) {
  json::Report report;
  const std::string text = R"({"ignition": {"version": "3.4.0", "config": {"replace": {"httpHeaders": 1}}}})";

  EXPECT_THAT(MessageOf(Parse(text, report)), HasSubstr("Go struct field Resource.ignition.config.replace.httpHeaders "
                                                        "of type types.HTTPHeaders\n"));
}

TEST(Parse, FindsAWrongTypeUnderAKeyOfAnotherCase) {
  json::Report report;
  const std::string text = R"({"ignition": {"version": "3.4.0"}, "Storage": {"FILES": [{"path": "/a", "mode": 1.5}]}})";

  EXPECT_THAT(MessageOf(Parse(text, report)),
              HasSubstr("error at line 1 col 84: json: cannot unmarshal number 1.5 into Go struct field "));
  EXPECT_THAT(
      MessageOf(Parse(std::string_view(R"({"Ignition": {"VERSION": 3}})"), report)),
      HasSubstr("error at line 1 col 27: json: cannot unmarshal number into Go struct field .Ignition.Version"));
}

TEST(Parse, ReportsThatATextEndsTooEarly) {
  const auto message = [](std::string_view text) {
    json::Report report;
    return MessageOf(Parse(text, report));
  };
  constexpr auto kHead = R"({"ignition": {"version": "3.4.0")";

  EXPECT_THAT(message(kHead), HasSubstr("error at line 0 col 0: unexpected end of JSON input\n"));
  EXPECT_THAT(message(std::string(kHead) + ","), HasSubstr("0: unexpected end of JSON input\n"));
  EXPECT_THAT(message(std::string(kHead) + R"(,"a")"), HasSubstr("0: unexpected end of JSON input\n"));
  EXPECT_THAT(message(std::string(kHead) + R"(,"a": 1)"), HasSubstr("0: unexpected end of JSON input\n"));
  EXPECT_THAT(message(std::string(kHead) + R"(,"a": "b)"), HasSubstr("0: unexpected end of JSON input\n"));
  EXPECT_THAT(message(std::string(kHead) + R"(,"a": "b\)"),
              HasSubstr("error at line 0 col 0: invalid character ' ' in string escape code\n"));
  EXPECT_THAT(message(std::string(kHead) + R"(,"a": tru)"),
              HasSubstr("error at line 0 col 0: invalid character ' ' in literal true (expecting 'e')\n"));
  EXPECT_THAT(message(std::string(kHead) + R"(,"a": -)"), HasSubstr("invalid character ' ' in numeric literal\n"));
}

TEST(Parse, AcceptsAPartitionOfNegativeSizeLikeIgnition) {
  json::Report report;
  const std::string text =
      R"({"ignition": {"version": "3.4.0"}, "storage": {"disks": [{"device": "/dev/a", "partitions": [
      {"number": 1, "startMiB": 50, "sizeMiB": -5}, {"number": 2, "startMiB": 50, "sizeMiB": -5}]}]}})";

  EXPECT_TRUE(Parse(text, report));
}

TEST(Parse, NamesTheFirstPartitionThatOverlaps) {
  json::Report report;
  const std::string text =
      R"({"ignition": {"version": "3.4.0"}, "storage": {"disks": [{"device": "/dev/a", "partitions": [
      {"number": 1, "startMiB": 50, "sizeMiB": 10}, {"number": 2, "startMiB": 1, "sizeMiB": 10},
      {"number": 3, "startMiB": 5, "sizeMiB": 3}, {"number": 4, "startMiB": 55, "sizeMiB": 0}]}]}})";

  EXPECT_FALSE(Parse(text, report));
  EXPECT_THAT(Texts(report), ElementsAre("$.storage.disks.0.partitions.3: partitions overlap"));
}

// Returns the extents of so many partitions that not all pairs are compared, with `others` at the end.
std::vector<internal::Extent> ManyPartitionsAnd(const std::vector<internal::Extent>& others) {
  std::vector<internal::Extent> extents;
  for (std::size_t i = 0; i < 1001; ++i) extents.emplace_back(1'000'000 + 10 * static_cast<std::int64_t>(i), 5, i);
  for (const internal::Extent& other : others)
    extents.emplace_back(other.start, other.end - other.start + 1, extents.size());
  return extents;
}

TEST(FindOverlap, FindsAnOverlapAmongManyPartitionsAsAmongFew) {
  using internal::Extent;
  // Negative sizes are no mistake on their own.
  const std::vector<std::vector<Extent>> kSets = {
      {},
      {Extent(1, 20, 0), Extent(50, -39, 1)},
      {Extent(1, 20, 0), Extent(50, -20, 1)},
      {Extent(1, 20, 0), Extent(50, -29, 1)},
      {Extent(10, 20, 0), Extent(10, -5, 1)},
      {Extent(10, 20, 0), Extent(9, -5, 1)},
      {Extent(50, -40, 0), Extent(40, -20, 1)},
      {Extent(50, -40, 0), Extent(50, -20, 1)},
      {Extent(50, -40, 0), Extent(40, -30, 1)},
      {Extent(50, -40, 0), Extent(60, -40, 1)},
  };
  for (const std::vector<Extent>& few : kSets) {
    EXPECT_EQ(internal::FindOverlap(ManyPartitionsAnd(few)).has_value(), internal::FindOverlap(few).has_value())
        << (few.empty() ? 0 : few[1].start) << ' ' << (few.empty() ? 0 : few[1].end);
  }
  EXPECT_TRUE(internal::FindOverlap(kSets[1]));
  EXPECT_FALSE(internal::FindOverlap(kSets[2]));
}

TEST(Parse, GivesTheOperatorsWordsForAWrongTypeInSpec2) {
  json::Report report;
  const std::string text =
      R"({"ignition": {"version": "2.2.0"}, "storage": {"files": [{"path": "/a", "mode": "0644"}]}})";

  EXPECT_THAT(MessageOf(Parse(text, report)),
              HasSubstr("parsing Ignition spec v2 failed with error: config is not valid\n"
                        "Report: error at line 1, column 86\n"
                        "json: cannot unmarshal string into Go struct field File.storage.files.FileEmbedded1.mode of "
                        "type int\n"));
}

// Only the first 200 problems are located.
TEST(Parse, ReportsOnlyKnownPlacesOfSpec2AndHowManyProblemsItLeavesOut) {
  json::Report report;
  std::string files = R"({"filesystem": "root", "path": "0"})";
  for (int i = 1; i < 10'010; ++i) files += R"(,{"filesystem": "root", "path": ")" + std::to_string(i) + "\"}";

  const std::string problem =
      MessageOf(Parse(R"({"ignition": {"version": "2.2.0"}, "storage": {"files": [)" + files + "]}}", report));

  EXPECT_THAT(problem, HasSubstr("Report: error at line 1, column "));
  EXPECT_THAT(problem, testing::Not(HasSubstr("line 1, column 0")));
  EXPECT_GT(report.left_out(), 0U);
  EXPECT_THAT(problem, HasSubstr("\nand " + std::to_string(report.left_out()) + " more\n"));
}

TEST(Parse, NamesTheFirstLinkWithWhichThePathOfASpec2NodeBegins) {
  const auto problem = [](const std::string& file) {
    json::Report report;
    return MessageOf(Parse(R"({"ignition": {"version": "2.2.0"}, "storage": {"links": [
        {"filesystem": "root", "path": "/l/a/b", "target": "/x"}, {"filesystem": "root", "path": "/m", "target": "/x"},
        {"filesystem": "root", "path": "/l/a", "target": "/x"}], "files": [{"filesystem": "root", "path": ")" +
                               file + R"("}]}})",
                           report));
  };
  EXPECT_THAT(problem("/l/a/b/c"), HasSubstr("File: /l/a/b/c uses link defined in config \"/l/a/b\"."));
  EXPECT_THAT(problem("/l/a/c"), HasSubstr("File: /l/a/c uses link defined in config \"/l/a\"."));
  EXPECT_THAT(problem("/mn"), HasSubstr("File: /mn uses link defined in config \"/m\"."));
  EXPECT_THAT(problem("/l/b"), HasSubstr("Link: /l/a/b uses link defined in config \"/l/a\"."));
}

TEST(Parse, NamesAllDeprecatedFieldsOfSpec2) {
  json::Report report;
  const std::string text =
      R"({"ignition": {"version": "2.2.0"}, "storage": {"disks": [{"device": "/dev/a", "partitions": [
      {"number": 1, "size": 2048, "start": 2048}, {"number": 2, "size": 2048}]}]}})";

  EXPECT_THAT(MessageOf(Parse(text, report)), HasSubstr("Invalid input config:\n"
                                                        "deprecated: size is deprecated; use sizeMB instead\n"
                                                        "deprecated: start is deprecated; use startMB instead\n"
                                                        "deprecated: size is deprecated; use sizeMB instead"));
}

TEST(Parse, ReadsVersionsAsSemanticVersionsAre) {
  const auto message = [](const std::string& version) {
    json::Report report;
    const auto config = Parse(R"({"ignition": {"version": ")" + version + R"("}})", report);
    return config ? "fine" : config.error().message();
  };

  for (const char* version : {"3.4.0", "3.4.00", "03.4.0", "3.00.0", "3.4.0-", "3.4.0+", "3.4.0-+", "2.02.0"}) {
    EXPECT_EQ(message(version), "fine") << version;
  }
  for (const char* version : {"3.4.0-a", "3.4.0+a", "3.4.0-+a", "3.4.0--", "3.4.1", "3.04.10", "30.4.0"}) {
    EXPECT_THAT(message(version), HasSubstr("unknown version")) << version;
  }
  for (const char* version : {"3.4", "3.4.0.0", "-3.4.0", "+3.4.0", "3.4.0-é", "3.4.0+a+b", "3..0", "v3.4.0"}) {
    EXPECT_THAT(message(version), HasSubstr("invalid version")) << version;
  }
}

TEST(Parse, KeepsEmptyValues) {
  json::Report report;
  const std::string text = R"({"ignition": {"version": "3.5.0"}, "storage": {"files": [
      {"path": "/a", "mode": 0, "contents": {"compression": "", "source": ""}}]}})";

  const Config config = ValueOf(Parse(text, report));

  EXPECT_EQ(
      json::ToText(Encode(config)),
      R"({"ignition":{"version":"3.5.0"},"storage":{"files":[{"contents":{"compression":"","source":""},"mode":0,)"
      R"("path":"/a"}]}})");
}

TEST(Parse, OmitsEmptyAndUnknownFields) {
  json::Report report;
  const std::string text =
      R"({"ignition": {"version": "3.5.0", "security": {"tls": {}}}, "storage": {"files": []}, "colour": "red"})";

  const Config config = ValueOf(Parse(text, report));

  EXPECT_EQ(json::ToText(Encode(config)), R"({"ignition":{"version":"3.5.0"}})");
  EXPECT_THAT(Texts(report), ElementsAre("$.?: Unused key"));
}

TEST(Parse, AcceptsADocumentThatIsAlreadyParsed) {
  json::Report report;
  json::Value document = json::Value::object();
  document["ignition"]["version"] = "3.2.0";

  EXPECT_EQ(ValueOf(Parse(std::move(document), report)).ignition.version, kNewestVersion);
}

TEST(Parse, FindsADuplicateAcrossKindsOfNodes) {
  json::Report report;
  const std::string text = R"({"ignition": {"version": "3.3.0"}, "storage": {
      "directories": [{"path": "/a"}], "files": [{"path": "/a"}]}})";

  EXPECT_FALSE(Parse(text, report));
  EXPECT_THAT(Texts(report), ElementsAre("$.storage.files.0: duplicate entry defined"));
}

TEST(Parse, RefusesAFileAtThePathOfAUnit) {
  json::Report report;
  const std::string text = R"({"ignition": {"version": "3.3.0"}, "storage": {
      "files": [{"path": "/etc/systemd/system/a.service"}]},
      "systemd": {"units": [{"name": "a.service", "contents": "[Unit]\n"}]}})";

  EXPECT_FALSE(Parse(text, report));
  EXPECT_THAT(Texts(report), ElementsAre("$.storage.files.0.path: path conflicts with systemd unit or dropin"));
}

TEST(Parse, IsBoundedOnHostileInput) {
  json::Report report;
  std::string deep(10000, '[');
  EXPECT_FALSE(Parse(deep, report));
  EXPECT_FALSE(Parse("{\"ignition\":" + deep, report));
  EXPECT_FALSE(Parse(std::string("\xff\xfe{}"), report));
}

TEST(Parse, NamesTheProblemOfAPackedConfig) {
  constexpr std::string_view kPacked = "H4sIAAAAAAACA6tWykzPyyzJzM9TsqpWKkstKgYzlYz1TPUMlGprubi4AL7PX6QjAAAA";
  constexpr std::string_view kWrongMethod("\x1f\x8b\7\0\0\0\0\0\0\0", 10);
  constexpr const char* kCutOff =
      "unable to read ignition config: unable to decode and decompress payload: decompression failed: unexpected EOF";
  json::Report report;

  EXPECT_TRUE(Succeeded(Parse(kPacked, report)));
  EXPECT_EQ(MessageOf(Parse(kPacked.substr(0, kPacked.size() - 4), report)), kCutOff);
  EXPECT_EQ(MessageOf(Parse(kPacked.substr(0, kPacked.size() - 6), report)), kCutOff);
  EXPECT_EQ(MessageOf(Parse(std::string(kPacked) + "\nAA", report)), kCutOff);
  EXPECT_EQ(MessageOf(Parse(kWrongMethod, report)),
            "unable to read ignition config: initialize gzip reader failed: gzip: invalid header");
}

// Quadratic work would take minutes.
TEST(Parse, IsLinearInFilesAndLinks) {
  for (const char* version : {"2.2.0", "3.5.0"}) {
    json::Value document = json::Value::object();
    document["ignition"]["version"] = version;
    for (int i = 0; i < 50000; ++i) {
      // The paths of links have the same length, so that none begins with another one.
      json::Value file = json::Value::object();
      file["path"] = "/etc/files/" + std::to_string(i);
      json::Value link = json::Value::object();
      link["path"] = "/etc/links/" + std::to_string(100'000 + i);
      link["target"] = "x";
      if (std::string_view(version) == "2.2.0") file["filesystem"] = link["filesystem"] = "root";
      document["storage"]["files"].push_back(std::move(file));
      document["storage"]["links"].push_back(std::move(link));
    }
    json::Report report;

    EXPECT_TRUE(Succeeded(Parse(std::move(document), report))) << version;
  }
}

}  // namespace
}  // namespace pintle::ignition
