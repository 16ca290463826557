// SPDX-License-Identifier: Apache-2.0
#include "change/findings.h"

#include <sys/xattr.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "host/files/attributes.h"
#include "host/files/seen_files.h"
#include "host/files/selinux.h"
#include "support/small_machine.h"
#include "support/temporary_directory.h"

namespace pintle::change {
namespace {

using plan::TestConfig;
using testing::ElementsAre;
using testing::IsEmpty;

class Looking : public testing::Test {
 protected:
  // Returns the findings after the config was applied and `spoil` has changed the machine.
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

TEST_F(Looking, FindsNothingIfTheMachineMatchesItsConfig) {
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

TEST_F(Looking, ReportsADirectoryOrALinkInTheWayAsAnotherType) {
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

TEST_F(Looking, FindsOtherDifferencesWhenKeysOrOwnersCannotBeExamined) {
  TestConfig config;
  config.WithFile("/etc/a", "data:,1").WithFile("/etc/b", "data:,2").WithUser("core", {"key"});
  const auto found = FoundAfter(config, [&] {
    machine_.Write("etc/a", "changed");
    std::filesystem::remove_all(directory_ / "home/core/.ssh");
    std::filesystem::create_directory_symlink("/etc", directory_ / "home/core/.ssh");
    config.ignition().storage.files.back().user.name = "nobody-here";
  });
  EXPECT_THAT(found, ElementsAre("content mismatch for file \"/etc/a\"",
                                 testing::HasSubstr("failed to retrieve file ownership for file \"/etc/b\""),
                                 "could not read SSH keys of core: looking at the SSH keys of core: /home/core/.ssh: a "
                                 "link or a file is in the place of this folder; remove it"));
}

TEST_F(Looking, ReportsAUnitThatCannotBeExaminedAndOtherUnits) {
  TestConfig config;
  config.WithFile("/etc/a", "data:,1").WithUnit("odd.service", "[Install]\nWantedBy=a.target\n");
  config.WithUnit("ours.service", "[Install]\nWantedBy=a.target\n");
  for (ignition::Unit& unit : config.ignition().systemd.units) unit.enabled = true;
  EXPECT_THAT(FoundAfter(config,
                         [&] {
                           std::filesystem::remove(directory_ / "etc/systemd/system/a.target.wants/ours.service");
                           machine_.systemd.unseen = "odd.service";
                         }),
              ElementsAre("could not look up unit \"odd.service\": Too many levels of symbolic links",
                          "unit \"ours.service\" expected enabled=true, but systemd reports \"disabled\""));
}

TEST_F(Looking, FailsIfTheServiceManagerDoesNotAnswer) {
  TestConfig config;
  config.WithUnit("ours.service", "[Install]\nWantedBy=a.target\n");
  config.ignition().systemd.units.back().enabled = true;
  FoundAfter(config, [] {});
  machine_.systemd.is_away = true;
  const auto found = FindingsOn(machine_.host(), config);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind(), ErrorKind::kUnavailable);
}

TEST_F(Looking, CountsDifferentKeysWithoutNamingThem) {
  TestConfig config;
  config.WithUser("core", {"one", "two"});
  FoundAfter(config, [&] { machine_.Write("home/core/.ssh/authorized_keys.d/ignition", "two\nthree\nfour\n"); });
  EXPECT_EQ(ValueOf(FindingsOn(machine_.host(), config)).front().detail,
            "2 keys expected, 3 present: 1 missing, 2 too many");
}

TEST_F(Looking, ReportsThatAPasswordHashDiffersButNotTheHash) {
  TestConfig config;
  config.WithUser("core", {});
  config.ignition().passwd.users.back().password_hash = "$6$salt$wanted";
  EXPECT_THAT(FoundAfter(config, [&] { machine_.Write("etc/shadow", "core:$6$salt$other:19000:0:99999:7:::\n"); }),
              ElementsAre("password hash of core differs"));
  EXPECT_EQ(ValueOf(FindingsOn(machine_.host(), config)).front().detail, "");
}

TEST_F(Looking, NamesTheFirstDifferenceOfContents) {
  TestConfig config;
  config.WithFile("/etc/a", "data:,one%0Atwo%0A").WithFile("/etc/b", "data:,1").WithFile("/etc/c", "data:,token=1");
  FoundAfter(config, [&] {
    machine_.Write("etc/a", "one\nTWO\n");
    machine_.Write("etc/c", "token=2");
  });
  const auto findings = ValueOf(FindingsOn(machine_.host(), config));
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings.front().text, "content mismatch for file \"/etc/a\"");
  EXPECT_EQ(findings.front().detail, "line 2: expected \"two\", found \"TWO\"");
  EXPECT_EQ(findings.back().detail, "line 1 differs in a part that is not shown");
}

TEST_F(Looking, FindsAnUnwantedMask) {
  TestConfig config;
  ignition::Unit unit;
  unit.name = "shipped.service";
  unit.mask = false;
  config.ignition().systemd.units.push_back(unit);
  EXPECT_THAT(
      FoundAfter(
          config,
          [&] { std::filesystem::create_symlink("/dev/null", directory_ / "etc/systemd/system/shipped.service"); }),
      ElementsAre("state validation: invalid unit masked setting. path: "
                  "\"/etc/systemd/system/shipped.service\"; expected: not masked; received: /dev/null"));
}

TEST_F(Looking, FindsAMaskThatIsMissing) {
  TestConfig config;
  ignition::Unit unit;
  unit.name = "shipped.service";
  unit.mask = true;
  config.ignition().systemd.units.push_back(unit);
  EXPECT_THAT(FoundAfter(config, [&] { std::filesystem::remove(directory_ / "etc/systemd/system/shipped.service"); }),
              ElementsAre("state validation: error while evaluation symlink for path "
                          "\"/etc/systemd/system/shipped.service\": lstat /etc/systemd/system/shipped.service: no "
                          "such file or directory"));
}

// The Machine Config Operator does not write an empty drop-in.
TEST_F(Looking, AMissingDropinEqualsAnEmptyOne) {
  TestConfig config;
  ignition::Unit unit;
  unit.name = "shipped.service";
  ignition::Dropin& dropin = unit.dropins.emplace_back();
  dropin.name = "10-empty.conf";
  dropin.contents = "";
  config.ignition().systemd.units.push_back(unit);
  EXPECT_THAT(
      FoundAfter(config,
                 [&] { std::filesystem::remove(directory_ / "etc/systemd/system/shipped.service.d/10-empty.conf"); }),
      IsEmpty());
}

#ifdef PINTLE_HAS_SELINUX
TEST_F(Looking, FindsLabelsOfAnotherType) {
  machine_.Write("contexts", "/etc/.*  --  system_u:object_r:etc_t:s0\n");
  const host::Labels labels = host::Labels::FromFile((directory_ / "contexts").string());
  TestConfig config;
  config.WithFile("/etc/a", "data:,1").WithFile("/etc/b", "data:,2").WithFile("/etc/c", "data:,3");
  FoundAfter(config, [] {});
  const auto set_label = [&](const std::string& path, const std::string& label) {
    return ::setxattr((directory_ / path).c_str(), host::kSelinuxLabel, label.c_str(), label.size() + 1, 0);
  };
  // Files that an administrator makes have another SELinux user than the policy wants; that is no finding.
  ASSERT_EQ(set_label("etc/a", "unconfined_u:object_r:etc_t:s0"), 0);
  ASSERT_EQ(set_label("etc/b", "system_u:object_r:user_home_t:s0"), 0);
  host::Host host = machine_.host();
  EXPECT_THAT(ValueOf(FindingsOn(host, config)), IsEmpty());
  host.labels = labels;
  const auto findings = ValueOf(FindingsOn(host, config));
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings.front().text,
            "label mismatch for file \"/etc/b\"; expected: system_u:object_r:etc_t:s0; received: "
            "system_u:object_r:user_home_t:s0");
  EXPECT_EQ(findings.back().text,
            "label mismatch for file \"/etc/c\"; expected: system_u:object_r:etc_t:s0; received: none");
  // Restoring repairs everything that was found.
  const auto all = [](const plan::Step&) { return true; };
  EXPECT_EQ(ValueOf(Restore(host, config, plan::Make(config, config, machine_.policy, {}), all)), Ending::kDone);
  EXPECT_THAT(ValueOf(FindingsOn(host, config)), IsEmpty());
}
#endif

// The record of seen files has the state of a file, and not whether this state was correct.
TEST_F(Looking, FindsTheSameWithAnyRecordOfSeenFiles) {
  class Later final : public Clock {
   public:
    MonotonicTime Monotonic() const override { return std::chrono::steady_clock::now(); }
    WallTime Wall() const override { return std::chrono::system_clock::now() + 2 * host::kTimeAtRest; }
  };
  const Later later;
  host::SeenFiles seen(later);
  TestConfig config;
  config.WithFile("/etc/a", "data:,1").WithFile("/etc/b", "data:,2");
  FoundAfter(config, [] {});
  EXPECT_THAT(ValueOf(FindingsOn(machine_.host(), config, &seen)), IsEmpty());
  EXPECT_EQ(seen.size(), 2U);
  machine_.Write("etc/a", "x");
  TestConfig another;
  another.WithFile("/etc/a", "data:,1").WithFile("/etc/b", "data:,3");
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(TextOf(ValueOf(FindingsOn(machine_.host(), another, &seen)), "c"),
                testing::EndsWith("content mismatch for file \"/etc/a\"; content mismatch for file \"/etc/b\""));
  }
}

TEST_F(Looking, FindsNothingOnFilesThatOthersWrite) {
  EXPECT_THAT(FoundAfter(TestConfig().WithFile("/etc/kubernetes/kubelet-ca.crt", "data:,1"),
                         [&] { machine_.Write("etc/kubernetes/kubelet-ca.crt", "newer"); }),
              IsEmpty());
}

// A machine where rpm-ostree has layered packages on an image.
class LayeredDeployments final : public host::Deployments {
 public:
  Result<host::DeploymentsState> Observe() override { return state; }
  Result<host::FetchedImage> Fetch(const std::string& image, const std::stop_token&) override {
    return host::FetchedImage{image, ""};
  }
  bool LayersPackages() const override { return layers; }
  Result<std::unique_ptr<host::OfferedPackages>> OfferPackages(const std::string&, const std::stop_token&) override {
    return std::make_unique<host::OfferedPackages>();
  }
  Result<host::PutEffect> Put(const host::WantedDeployment&) override { return host::PutEffect::kAsWanted; }
  Result<host::PutEffect> DropPending() override { return host::PutEffect::kAsWanted; }
  Result<host::PutEffect> RollBack() override { return host::PutEffect::kAsWanted; }
  Result<host::PutEffect> FinalizeStaged(const std::function<Result<>(const Root& next)>&) override {
    return host::PutEffect::kAsWanted;
  }
  Result<> Prune() override { return {}; }

  bool layers = true;
  host::DeploymentsState state = {.booted = host::DeployedImage(), .pending = {}, .rollback = {}};
};

TEST_F(Looking, FindsMissingExtensionsAndAMissingKernel) {
  LayeredDeployments deployments;
  deployments.state.booted->packages = {"usbguard"};
  host::Host host = machine_.host();
  host.deployments = &deployments;
  TestConfig config;
  config.spec().extensions = {"usbguard", "sysstat"};
  config.spec().kernel_type = "realtime";
  const auto findings = ValueOf(FindingsOn(host, config));
  ASSERT_THAT(findings, testing::SizeIs(2));
  EXPECT_EQ(findings[0].about, kOs);
  EXPECT_THAT(findings[0].text, testing::HasSubstr("extension \"sysstat\" verification failed"));
  EXPECT_THAT(findings[1].text, testing::HasSubstr("kernel type \"realtime\" expected"));
  deployments.layers = false;
  EXPECT_THAT(ValueOf(FindingsOn(host, config)), IsEmpty()) << "nothing is known of packages there";
}

}  // namespace
}  // namespace pintle::change
