// SPDX-License-Identifier: Apache-2.0
#include "ignition/butane.h"

#include <string>
#include <string_view>
#include <vector>

#include "json/parse.h"
#include "support/expect.h"

namespace pintle::ignition {
namespace {

json::Value Document(std::string_view text) { return ValueOf(json::Parse(text)); }

constexpr std::string_view kWorker = R"({"variant": "openshift", "version": "4.17.0",
    "metadata": {"name": "99-worker-x", "labels": {"machineconfiguration.openshift.io/role": "worker"}},)";

TEST(Butane, BecomesIgnitionAndFieldsOfAMachineConfig) {
  json::Report report;

  const Butane butane = ValueOf(
      ReadButane(Document(std::string(kWorker) +
                          R"("openshift": {"kernel_arguments": ["quiet"], "extensions": ["usbguard"], "fips": true},
          "storage": {"files": [{"path": "/etc/a", "mode": 420, "contents": {"inline": "a b\n"}}]},
          "systemd": {"units": [{"name": "a.service", "enabled": true, "contents": "[Install]\nWantedBy=x\n"}]},
          "passwd": {"users": [{"name": "core", "ssh_authorized_keys": ["k"]}]}})"),
                 report));

  EXPECT_EQ(butane.metadata.name, "99-worker-x");
  EXPECT_EQ(butane.openshift.kernel_arguments, std::vector<std::string>{"quiet"});
  EXPECT_TRUE(butane.openshift.fips);
  EXPECT_EQ(butane.config.storage.files[0].contents.source, "data:,a%20b%0A");
  EXPECT_EQ(butane.config.passwd.users[0].ssh_authorized_keys, std::vector<std::string>{"k"});
}

TEST(Butane, NamesTheFieldOfAProblemAsButaneDoes) {
  json::Report report;

  EXPECT_FALSE(ReadButane(Document(std::string(kWorker) + R"("storage": {"disks": [{"device": "/dev/a",
      "partitions": [{"number": 1, "type_guid": "x"}]}]}})"),
                          report));

  ASSERT_EQ(report.problems().size(), 1U);
  EXPECT_EQ(report.problems()[0].path, "$.storage.disks.0.partitions.0.type_guid");
}

TEST(Butane, NeedsTheNameAndTheRoleOfAMachineConfig) {
  json::Report report;

  EXPECT_FALSE(ReadButane(Document(R"({"variant": "openshift", "version": "4.16.0"})"), report));

  ASSERT_EQ(report.problems().size(), 2U);
  EXPECT_EQ(report.problems()[0].ToString(), "$.metadata.name: is required");
  EXPECT_EQ(report.problems()[1].path, "$.metadata.labels");
}

TEST(Butane, ReadsLocalFilesOnlyThroughItsCaller) {
  const auto document = [] {
    return Document(R"({"variant": "fcos", "version": "1.6.0",
                        "storage": {"files": [{"path": "/a", "contents": {"local": "a.txt"}}]}})");
  };
  json::Report refused;
  json::Report report;

  EXPECT_FALSE(ReadButane(document(), refused));
  const Butane butane = ValueOf(ReadButane(document(), report, [](std::string_view name) -> Result<std::string> {
    return "contents-of-" + std::string(name);
  }));

  EXPECT_EQ(butane.config.storage.files[0].contents.source, "data:,contents-of-a.txt");
}

TEST(Butane, AcceptsAModeInYaml12Octal) {
  json::Report report;

  const Butane butane = ValueOf(ReadButane(
      Document(R"({"variant": "fcos", "version": "1.5.0", "storage": {"files": [{"path": "/a", "mode": "0o600"}]}})"),
      report));

  EXPECT_EQ(butane.config.storage.files[0].mode, 0600);
}

TEST(Butane, WarnsOfAModeThatLooksLikeOctal) {
  json::Report report;

  EXPECT_TRUE(ReadButane(
      Document(R"({"variant": "fcos", "version": "1.5.0", "storage": {"files": [{"path": "/a", "mode": 644}]}})"),
      report));

  ASSERT_FALSE(report.problems().empty());
  EXPECT_EQ(report.problems()[0].what, "is 01204 in octal: did you mean 0644?");
}

TEST(Butane, KnowsWhichKeysLeadToStrings) {
  using Keys = std::vector<std::string_view>;
  for (const Keys& keys : {Keys{"version"}, Keys{"metadata", "name"}, Keys{"metadata", "labels", "mode"},
                           Keys{"openshift", "kernel_arguments"}, Keys{"openshift", "kernel_type"},
                           Keys{"storage", "files", "contents", "inline"}, Keys{"storage", "files", "user", "name"},
                           Keys{"storage", "disks", "partitions", "type_guid"}, Keys{"systemd", "units", "contents"},
                           Keys{"passwd", "users", "ssh_authorized_keys"}, Keys{"kernel_arguments", "should_exist"}}) {
    EXPECT_TRUE(IsPlaceOfText(keys)) << keys.back();
  }
  for (const Keys& keys :
       {Keys{}, Keys{"openshift", "fips"}, Keys{"storage", "files", "mode"}, Keys{"storage", "files", "user", "id"},
        Keys{"systemd", "units", "enabled"}, Keys{"storage", "disks", "partitions", "size_mib"},
        Keys{"storage", "filesystems", "with_mount_unit"}, Keys{"metadata"}, Keys{"something", "else"}}) {
    EXPECT_FALSE(IsPlaceOfText(keys));
  }
}

TEST(Butane, RefusesFieldsThatOnlyANewMachineCouldFollow) {
  json::Report report;

  EXPECT_FALSE(
      ReadButane(Document(R"({"variant": "fcos", "version": "1.5.0", "boot_device": {"mirror": {}}})"), report));

  EXPECT_EQ(report.problems()[0].path, "$.boot_device");
}

TEST(Butane, NamesTheVersionsThatItKnows) {
  json::Report report;

  EXPECT_FALSE(ReadButane(Document(R"({"variant": "fcos", "version": "9.9.9"})"), report));

  EXPECT_EQ(report.problems()[0].path, "$.version");
  EXPECT_EQ(report.problems()[0].what, "must be one of 1.0.0, 1.1.0, 1.2.0, 1.3.0, 1.4.0, 1.5.0, 1.6.0");
}

}  // namespace
}  // namespace pintle::ignition
