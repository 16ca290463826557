// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/config_input.h"

#include <string>

#include "unit/expect.h"
#include "unit/temporary_directory.h"

namespace pintle::machineconfig {
namespace {

using testing::HasSubstr;

// A config that is the only one of its file.
ConfigDocument ReadAlone(const std::string& text) {
  const TemporaryDirectory directory;
  directory.Write("config.ign", text);
  ConfigFile file = ValueOf(ReadConfigFile(directory / "config.ign"));
  EXPECT_EQ(file.documents.size(), 1U);
  return std::move(file.documents.front());
}

TEST(ReadConfigFile, TellsOfAModeThatNoMachineIsGiven) {
  const ConfigDocument document =
      ReadAlone(R"({"ignition": {"version": "3.4.0"}, "storage": {"files": [{"path": "/etc/x", "mode": 2541}]}})");

  EXPECT_TRUE(document.config);
  EXPECT_FALSE(document.error);
  ASSERT_TRUE(document.unfit);
  EXPECT_EQ(document.unfit->message(), "invalid mode 04755 for /etc/x, cannot exceed 0777");
}

TEST(ReadConfigFile, TellsWhatTheNewestVersionAsksForBeyondAnOldOne) {
  const ConfigDocument document =
      ReadAlone(R"({"ignition": {"version": "3.2.0"}, "storage": {"links": [{"path": "/etc/l", "target": ""}]}})");

  EXPECT_TRUE(document.config);
  ASSERT_TRUE(document.unfit);
  EXPECT_THAT(
      document.unfit->message(),
      HasSubstr("invalid ignition V3 config found: error at $.storage.links.0.target: link target is required"));
}

TEST(ReadConfigFile, TellsOfAFileThatPintleItselfWrites) {
  const std::string ignition =
      R"({"ignition": {"version": "3.4.0"}, "storage": {"files": [{"path": "/var/lib/pintle/change/journal.json"}]}})";
  const std::string object = R"({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig", )"
                             R"("metadata": {"name": "a"}, "spec": {"config": )" +
                             ignition + "}}";
  for (const std::string& text : {ignition, object}) {
    const ConfigDocument document = ReadAlone(text);
    EXPECT_TRUE(document.config);
    EXPECT_FALSE(document.error);
    ASSERT_TRUE(document.unfit) << text;
    EXPECT_EQ(document.unfit->message(),
              "cannot write /var/lib/pintle/change/journal.json: Pintle keeps there what it has to read back itself; "
              "leave it out of the config");
  }
}

TEST(ReadConfigFile, HasNothingToSayOfAGoodConfig) {
  const ConfigDocument document = ReadAlone(R"({"ignition": {"version": "3.4.0"}})");

  EXPECT_TRUE(document.config);
  EXPECT_FALSE(document.error);
  EXPECT_FALSE(document.unfit);
}

}  // namespace
}  // namespace pintle::machineconfig
