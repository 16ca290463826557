// SPDX-License-Identifier: Apache-2.0
#include "change/findings.h"

#include <filesystem>

#include "unit/change/small_machine.h"
#include "unit/temporary_directory.h"

namespace pintle::change {
namespace {

using plan::TestConfig;
using testing::ElementsAre;
using testing::IsEmpty;

class Looking : public testing::Test {
 protected:
  // What is found once the config is applied and something is done to the machine.
  template <typename Spoil>
  std::vector<std::string> FoundAfter(const TestConfig& config, Spoil&& spoil) {
    EXPECT_TRUE(Succeeded(machine_.GoFromTo(NoConfig(), config)));
    spoil();
    std::vector<std::string> texts;
    for (const Finding& finding : ValueOf(FindingsOn(machine_.host(), config))) texts.push_back(finding.text);
    return texts;
  }

  TemporaryDirectory directory_;
  SmallMachine machine_{directory_.path()};
};

TEST_F(Looking, FindsNothingOnAMachineThatIsAsItsConfigSays) {
  EXPECT_THAT(FoundAfter(TestConfig().WithFile("/etc/a", "data:,1").WithUser("core", {"key"}), [] {}), IsEmpty());
}

TEST_F(Looking, FindsContentsModesAndMissingFilesAtOnce) {
  TestConfig config;
  config.WithFile("/etc/a", "data:,1").WithFile("/etc/b", "data:,2").WithFile("/etc/c", "data:,3");
  EXPECT_THAT(FoundAfter(config,
                         [&] {
                           machine_.Write("etc/a", "changed");
                           std::filesystem::permissions(directory_ / "etc/b", std::filesystem::perms(0755));
                           std::filesystem::remove(directory_ / "etc/c");
                         }),
              ElementsAre("content mismatch for file \"/etc/a\"",
                          "mode mismatch for file: \"/etc/b\"; expected: -rw-r--r--/420/0644; received: "
                          "-rwxr-xr-x/493/0755",
                          "could not stat file \"/etc/c\": lstat /etc/c: no such file or directory"));
}

TEST_F(Looking, TakesADirectoryOrALinkInTheWayForAnotherMode) {
  TestConfig config;
  config.WithFile("/etc/a", "data:,1").WithFile("/etc/b", "data:,2");
  EXPECT_THAT(FoundAfter(config,
                         [&] {
                           std::filesystem::remove(directory_ / "etc/a");
                           std::filesystem::create_directory(directory_ / "etc/a");
                           std::filesystem::remove(directory_ / "etc/b");
                           std::filesystem::create_symlink("a", directory_ / "etc/b");
                         }),
              ElementsAre("mode mismatch for file: \"/etc/a\"; expected: -rw-r--r--/420/0644; received: "
                          "drwxr-xr-x/2147484141/020000000755",
                          "mode mismatch for file: \"/etc/b\"; expected: -rw-r--r--/420/0644; received: "
                          "Lrwxrwxrwx/134218239/01000000777"));
}

TEST_F(Looking, FindsAUnitThatWasDisabledByHand) {
  TestConfig config;
  config.WithUnit("ours.service", "[Install]\nWantedBy=a.target\n");
  config.ignition().systemd.units.back().enabled = true;
  EXPECT_THAT(
      FoundAfter(config,
                 [&] { std::filesystem::remove(directory_ / "etc/systemd/system/a.target.wants/ours.service"); }),
      ElementsAre("unit \"ours.service\" expected enabled=true, but systemd reports \"disabled\""));
}

TEST_F(Looking, FindsAMaskThatIsGone) {
  TestConfig config;
  ignition::Unit unit;
  unit.name = "shipped.service";
  unit.mask = true;
  config.ignition().systemd.units.push_back(unit);
  EXPECT_THAT(FoundAfter(config,
                         [&] {
                           std::filesystem::remove(directory_ / "etc/systemd/system/shipped.service");
                           machine_.Write("etc/systemd/system/shipped.service", "[Service]\n");
                         }),
              ElementsAre("state validation: invalid unit masked setting. path: "
                          "\"/etc/systemd/system/shipped.service\"; expected: /dev/null; received: "
                          "/etc/systemd/system/shipped.service"));
}

TEST_F(Looking, FindsKeysThatWereAdded) {
  EXPECT_THAT(FoundAfter(TestConfig().WithUser("core", {"key"}),
                         [&] { machine_.Write("home/core/.ssh/authorized_keys.d/ignition", "key\nanother\n"); }),
              ElementsAre("SSH keys of core differ"));
}

TEST_F(Looking, LeavesFilesAloneThatOthersWrite) {
  EXPECT_THAT(FoundAfter(TestConfig().WithFile("/etc/kubernetes/kubelet-ca.crt", "data:,1"),
                         [&] { machine_.Write("etc/kubernetes/kubelet-ca.crt", "newer"); }),
              IsEmpty());
}

}  // namespace
}  // namespace pintle::change
