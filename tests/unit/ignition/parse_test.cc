// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "ignition/config.h"
#include "unit/expect.h"

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

TEST(Parse, GivesTheOperatorsWordsAndOursForAWrongType) {
  json::Report report;
  const std::string text =
      R"({"ignition": {"version": "3.4.0"}, "storage": {"files": [{"path": "/a", "mode": "0644"}]}})";

  const std::string message = MessageOf(Parse(text, report));

  EXPECT_THAT(message, HasSubstr("json: cannot unmarshal string into Go struct field "
                                 "File.storage.files.FileEmbedded1.mode of type int"));
  EXPECT_THAT(message, HasSubstr("error at $.storage.files.0.mode"));
}

TEST(Parse, KeepsWhatIsSetToNothing) {
  json::Report report;
  const std::string text = R"({"ignition": {"version": "3.5.0"}, "storage": {"files": [
      {"path": "/a", "mode": 0, "contents": {"compression": "", "source": ""}}]}})";

  const Config config = ValueOf(Parse(text, report));

  EXPECT_EQ(
      json::ToText(Encode(config)),
      R"({"ignition":{"version":"3.5.0"},"storage":{"files":[{"contents":{"compression":"","source":""},"mode":0,)"
      R"("path":"/a"}]}})");
}

TEST(Parse, LeavesOutWhatIsEmptyAndWhatItDoesNotKnow) {
  json::Report report;
  const std::string text =
      R"({"ignition": {"version": "3.5.0", "security": {"tls": {}}}, "storage": {"files": []}, "colour": "red"})";

  const Config config = ValueOf(Parse(text, report));

  EXPECT_EQ(json::ToText(Encode(config)), R"({"ignition":{"version":"3.5.0"}})");
  EXPECT_THAT(Texts(report), ElementsAre("$.colour: Unused key colour"));
}

TEST(Parse, TakesADocumentThatIsAlreadyRead) {
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

TEST(Parse, RefusesAFileWhereAUnitGoes) {
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

TEST(Parse, IsLinearInFilesAndLinks) {
  // Quadratic work would take minutes.
  json::Value document = json::Value::object();
  document["ignition"]["version"] = "3.5.0";
  for (int i = 0; i < 50000; ++i) {
    json::Value file = json::Value::object();
    file["path"] = "/etc/files/" + std::to_string(i);
    json::Value link = json::Value::object();
    link["path"] = "/etc/links/" + std::to_string(i);
    link["target"] = "x";
    document["storage"]["files"].push_back(std::move(file));
    document["storage"]["links"].push_back(std::move(link));
  }
  json::Report report;

  EXPECT_TRUE(Succeeded(Parse(std::move(document), report)));
}

}  // namespace
}  // namespace pintle::ignition
