// SPDX-License-Identifier: Apache-2.0
#include "agent/installation.h"

#include <filesystem>

#include "change/current_config.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::agent {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ComparedWithInstallationTest : public testing::Test {
 protected:
  // Returns a config with this disk.
  static std::string WithDisk(const std::string& device) {
    return R"({"apiVersion":"machineconfiguration.openshift.io/v1","kind":"MachineConfig","metadata":{"name":"r"},)"
           R"("spec":{"config":{"ignition":{"version":"3.4.0"},"storage":{"disks":[{"device":")" +
           device + R"(","wipeTable":true}]}}}})";
  }
  void Write(const std::string& path, const std::string& contents) {
    const auto place = directory_ / path.substr(1);
    std::filesystem::create_directories(place.parent_path());
    directory_.Write(path.substr(1), contents);
  }

  TemporaryDirectory directory_;
  Root root_ = ValueOf(Root::Open(directory_.path()));
};

TEST_F(ComparedWithInstallationTest, NamesTheDifferences) {
  Write(kInstalledConfig, WithDisk("/dev/sda"));
  Write(change::kCurrentConfig, WithDisk("/dev/sdb"));
  const auto changes = ValueOf(CompareWithInstallation(root_));
  ASSERT_TRUE(changes);
  ASSERT_THAT(*changes, SizeIs(1));
  EXPECT_EQ(changes->front().field_path, "spec.config.storage.disks[0].device");
  EXPECT_EQ(changes->front().diff, "- \"/dev/sda\"\n+ \"/dev/sdb\"\n");
}

TEST_F(ComparedWithInstallationTest, MayFindNoDifference) {
  Write(kInstalledConfig, WithDisk("/dev/sda"));
  Write(change::kCurrentConfig, WithDisk("/dev/sda"));
  const auto changes = ValueOf(CompareWithInstallation(root_));
  ASSERT_TRUE(changes);
  EXPECT_THAT(*changes, IsEmpty());
}

TEST_F(ComparedWithInstallationTest, IsUnknownForAMachineThatWasInstalledInAnotherWay) {
  Write(change::kCurrentConfig, WithDisk("/dev/sda"));
  EXPECT_FALSE(ValueOf(CompareWithInstallation(root_)));
}

TEST_F(ComparedWithInstallationTest, NamesTheFileThatCannotBeRead) {
  Write(kInstalledConfig, "{");
  EXPECT_THAT(MessageOf(CompareWithInstallation(root_)), HasSubstr(kInstalledConfig));
}

}  // namespace
}  // namespace pintle::agent
