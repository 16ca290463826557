// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/config_input.h"

#include <string>
#include <utility>
#include <vector>

#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::machineconfig {
namespace {

using testing::HasSubstr;

// Reads a config that is the only one in its file.
ConfigDocument ReadAlone(const std::string& text, const std::string& name = "config.ign") {
  const TemporaryDirectory directory;
  directory.Write(name, text);
  ConfigFile file = ValueOf(ReadConfigFile(directory / name));
  EXPECT_EQ(file.documents.size(), 1U);
  return std::move(file.documents.front());
}

TEST(ReadConfigFile, ReportsAModeThatMachinesCannotHave) {
  const ConfigDocument document =
      ReadAlone(R"({"ignition": {"version": "3.4.0"}, "storage": {"files": [{"path": "/etc/x", "mode": 2541}]}})");

  EXPECT_TRUE(document.config);
  EXPECT_FALSE(document.error);
  ASSERT_TRUE(document.refusal_by_machines);
  EXPECT_EQ(document.refusal_by_machines->message(), "invalid mode 04755 for /etc/x, cannot exceed 0777");
}

TEST(ReadConfigFile, NamesTheFieldsThatTheNewestVersionRequires) {
  const ConfigDocument document =
      ReadAlone(R"({"ignition": {"version": "3.2.0"}, "storage": {"links": [{"path": "/etc/l", "target": ""}]}})");

  EXPECT_TRUE(document.config);
  ASSERT_TRUE(document.refusal_by_machines);
  EXPECT_THAT(
      document.refusal_by_machines->message(),
      HasSubstr("invalid ignition V3 config found: error at $.storage.links.0.target: link target is required"));
}

TEST(ReadConfigFile, ReportsAFileThatPintleItselfWrites) {
  const std::string ignition =
      R"({"ignition": {"version": "3.4.0"}, "storage": {"files": [{"path": "/var/lib/pintle/change/journal.json"}]}})";
  const std::string object = R"({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig", )"
                             R"("metadata": {"name": "a"}, "spec": {"config": )" +
                             ignition + "}}";
  for (const std::string& text : {ignition, object}) {
    const ConfigDocument document = ReadAlone(text);
    EXPECT_TRUE(document.config);
    EXPECT_FALSE(document.error);
    ASSERT_TRUE(document.refusal_by_machines) << text;
    EXPECT_EQ(document.refusal_by_machines->message(),
              "cannot write /var/lib/pintle/change/journal.json: a file there would be in the way of Pintle's own "
              "files; leave it out of the config");
  }
}

TEST(ReadConfigFile, DetectsTheFormatByContentsAndNotByName) {
  const std::string ignition = R"({"ignition": {"version": "3.4.0"}})";
  const std::vector<std::pair<std::string, std::string>> configs = {
      {ignition, "Ignition"},
      {"variant: fcos\nversion: 1.5.0\n", "Butane"},
      {R"({"variant": "fcos", "version": "1.5.0"})", "Butane"},
      {"{variant: fcos, version: 1.5.0}", "Butane"},
      {"# nothing\n---\nkind: MachineConfig\nspec: {config: " + ignition + "}\n", "MachineConfig"},
      {R"({"kind": "MachineConfig", "spec": {"config": )" + ignition + "}}", "MachineConfig"},
  };
  for (const char* name : {"a.ign", "a.json", "a.yaml", "a.bu", "a.fcc", "a.txt", "a"}) {
    for (const auto& [text, kind] : configs) {
      const ConfigDocument document = ReadAlone(text, name);
      EXPECT_EQ(document.kind, kind) << name << ": " << text;
      EXPECT_TRUE(document.config) << name << ": " << text;
    }
  }
}

TEST(ReadConfigFile, RefusesIgnitionThatIsNearlyJson) {
  EXPECT_TRUE(ReadAlone(R"({"ignition": {"version": "3.4.0"},})").error);
}

TEST(ReadConfigFile, AsksAboutModesThatLookLikeOctal) {
  const auto config = [](int mode) {
    return R"({"ignition": {"version": "3.4.0"}, "storage": {"files": [{"path": "/etc/x", "mode": )" +
           std::to_string(mode) + "}]}}";
  };

  const ConfigDocument strange = ReadAlone(config(400));
  const ConfigDocument impossible = ReadAlone(config(644));
  const ConfigDocument usual = ReadAlone(config(420));

  ASSERT_EQ(strange.report.problems().size(), 1U);
  EXPECT_EQ(strange.report.problems()[0].path, "$.storage.files.0.mode");
  EXPECT_EQ(strange.report.problems()[0].what, "is 0620 in octal: did you mean 0400, which is 256 in decimal?");
  ASSERT_TRUE(impossible.refusal_by_machines);
  EXPECT_EQ(impossible.refusal_by_machines->message(),
            "invalid mode 01204 for /etc/x, cannot exceed 0777 (did you mean 0644, which is 420 in decimal?)");
  EXPECT_TRUE(usual.report.problems().empty());
}

TEST(ToMachineConfig, HasTheIgnitionVersionOfTheButaneVersion) {
  const auto object = ValueOf(ToMachineConfig(
      ReadAlone("variant: openshift\nversion: 4.14.0\nmetadata: {name: a, labels: "
                "{machineconfiguration.openshift.io/role: worker}}\nopenshift: {kernel_arguments: [quiet]}\n")));

  EXPECT_EQ(object.kind, "MachineConfig");
  EXPECT_EQ(object.metadata.name, "a");
  EXPECT_EQ(object.spec.kernel_arguments, std::vector<std::string>{"quiet"});
  EXPECT_EQ(object.spec.config, json::Value({{"ignition", {{"version", "3.4.0"}}}}));
  EXPECT_TRUE(ExpectNameAndRole(object));
}

TEST(ToMachineConfig, SuggestsARemedyForAMissingName) {
  const auto object = ValueOf(ToMachineConfig(ReadAlone("variant: fcos\nversion: 1.5.0\n")));

  EXPECT_THAT(MessageOf(ExpectNameAndRole(object)), HasSubstr("`variant: openshift`"));
}

TEST(ReadConfigFile, ReportsNothingForAGoodConfig) {
  const ConfigDocument document = ReadAlone(R"({"ignition": {"version": "3.4.0"}})");

  EXPECT_TRUE(document.config);
  EXPECT_FALSE(document.error);
  EXPECT_FALSE(document.refusal_by_machines);
}

}  // namespace
}  // namespace pintle::machineconfig
