// SPDX-License-Identifier: Apache-2.0
#include "agent/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::agent {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

Result<Settings> Parsed(std::string_view text) {
  Settings settings;
  TRY(AddSettings(text, "a.conf", settings));
  return settings;
}

TEST(Settings, AreReadFromAllSections) {
  const Settings settings = ValueOf(Parsed(R"(# The node's agent.
[Agent]
Source = local
NodeName=worker-1.example.com
ConfigDirectory=/etc/configs
PolicyFile=/etc/policy.json
WatchLogins=off
FullCheckSec=30min

[Kubernetes]
; Both of them:
Kubeconfig=/etc/kubernetes/kubeconfig
DrainTimeoutSec=1h 30min
WaitForHandover=yes
[Health]
Units=kubelet.service  crio.service
Units=getty@tty1.service
CheckDirectory=/usr/lib/checks
LimitSec=90
[Metrics]
TextFile=/run/metrics/pintle.prom
Listen=127.0.0.1:9797)"));
  EXPECT_EQ(settings.source, SourceChoice::kLocal);
  EXPECT_EQ(settings.node_name, "worker-1.example.com");
  EXPECT_EQ(settings.config_directory, "/etc/configs");
  EXPECT_EQ(settings.policy_file, "/etc/policy.json");
  EXPECT_FALSE(settings.watch_logins);
  EXPECT_EQ(settings.full_check, minutes(30));
  EXPECT_EQ(settings.kubeconfig, "/etc/kubernetes/kubeconfig");
  EXPECT_EQ(settings.drain_timeout, minutes(90));
  EXPECT_TRUE(settings.wait_for_handover);
  EXPECT_THAT(*settings.health_units, ElementsAre("kubelet.service", "crio.service", "getty@tty1.service"));
  EXPECT_EQ(settings.check_directory, "/usr/lib/checks");
  EXPECT_EQ(settings.health_limit, seconds(90));
  EXPECT_EQ(settings.metrics_file, "/run/metrics/pintle.prom");
  EXPECT_EQ(settings.metrics_listen, (ListenAddress{"127.0.0.1", 9797}));
}

TEST(Settings, HaveDefaults) {
  const Settings settings = ValueOf(Parsed("\n\n[Agent]\n#Source=local\n"));
  EXPECT_EQ(settings, Settings());
  EXPECT_EQ(settings.source, SourceChoice::kAuto);
  EXPECT_EQ(settings.full_check, hours(1));
  EXPECT_FALSE(settings.health_units);
  EXPECT_FALSE(settings.metrics_listen);
}

TEST(Settings, AnEmptyKeyRestoresTheDefault) {
  Settings settings = ValueOf(Parsed("[Agent]\nSource=local\nFullCheckSec=0\n[Kubernetes]\nDrainTimeoutSec=5s\n"));
  EXPECT_FALSE(settings.full_check);
  ASSERT_TRUE(
      Succeeded(AddSettings("[Agent]\nSource=\nFullCheckSec=\n[Kubernetes]\nDrainTimeoutSec=\n", "b.conf", settings)));
  EXPECT_EQ(settings, Settings());
}

TEST(Settings, AnEmptyKeyClearsAList) {
  const Settings settings = ValueOf(Parsed("[Health]\nUnits=a.service\nUnits=\n[Metrics]\nTextFile=\n"));
  ASSERT_TRUE(settings.health_units);
  EXPECT_TRUE(settings.health_units->empty());
  EXPECT_EQ(settings.metrics_file, "");
}

TEST(Settings, ListAllProblemsWithTheirLines) {
  EXPECT_EQ(MessageOf(Parsed("[Agent]\nSource=cluster\nWatchLogins=maybe\n")),
            "a.conf:2: Source=: must be auto, kubernetes or local; "
            "a.conf:3: WatchLogins=: must be yes or no (true, false, on, off, 1, 0)");
}

TEST(Settings, NameTheKnownKeysAndSections) {
  EXPECT_EQ(MessageOf(Parsed("[Health]\nUnit=a.service\n")),
            "a.conf:2: unknown key in [Health]; the keys are Units=, CheckDirectory=, LimitSec=");
  EXPECT_EQ(MessageOf(Parsed("[agent]\nSource=local\n")),
            "a.conf:1: unknown section; the sections are [Agent], [Kubernetes], [Health], [Metrics]");
  EXPECT_THAT(MessageOf(Parsed("Source=local\n")), HasSubstr("a.conf:1: must be in a section"));
  EXPECT_THAT(MessageOf(Parsed("[Agent\n")), HasSubstr("a.conf:1: unknown section; the sections are"));
  EXPECT_THAT(MessageOf(Parsed("[Agent]\nSource\n")), HasSubstr("a.conf:2: must be Key=value"));
}

TEST(Settings, RefuseInvalidValues) {
  for (const std::string_view line : {
           "[Agent]\nNodeName=Worker1",
           "[Agent]\nNodeName=-a",
           "[Agent]\nNodeName=a b",
           "[Agent]\nConfigDirectory=configs",
           "[Agent]\nPolicyFile=\"/etc/policy\"",
           "[Agent]\nFullCheckSec=infinity",
           "[Kubernetes]\nDrainTimeoutSec=0",
           "[Health]\nUnits=kubelet",
           "[Health]\nUnits=getty@.service",
           "[Health]\nLimitSec=-5",
           "[Metrics]\nListen=0.0.0.0:80",
           "[Metrics]\nListen=127.0.0.1",
           "[Metrics]\nListen=127.0.0.1:0",
           "[Metrics]\nListen=127.0.0.1:65536",
           "[Metrics]\nListen=127.0.0.1:80x",
           "[Metrics]\nListen=::1:80",
           "[Metrics]\nListen=[127.0.0.1]:80",
           "[Metrics]\nListen=[::2]:80",
           "[Metrics]\nListen=localhost:80",
       }) {
    EXPECT_THAT(MessageOf(Parsed(line)), HasSubstr("must be ")) << line;
  }
}

TEST(Settings, ListenOnEveryLoopbackAddress) {
  EXPECT_EQ(ValueOf(Parsed("[Metrics]\nListen=[::1]:1\n")).metrics_listen, (ListenAddress{"::1", 1}));
  EXPECT_EQ(ValueOf(Parsed("[Metrics]\nListen=127.8.0.1:65535\n")).metrics_listen, (ListenAddress{"127.8.0.1", 65535}));
}

TEST(Settings, RefuseBytesThatAreNotUtf8) {
  EXPECT_EQ(MessageOf(Parsed(std::string_view("[Agent]\n\0", 9))), "a.conf: must be text in UTF-8");
  EXPECT_EQ(MessageOf(Parsed("[Agent]\nPolicyFile=/\xff\n")), "a.conf: must be text in UTF-8");
  EXPECT_EQ(ValueOf(Parsed("\xef\xbb\xbf[Agent]\r\nSource=local\r\n")).source, SourceChoice::kLocal);
}

class ReadSettingsTest : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& contents) {
    std::filesystem::create_directories((directory_ / name).parent_path());
    directory_.Write(name, contents);
  }
  Result<Settings> Read() { return ReadSettings(ValueOf(Root::Open(directory_.path()))); }
  std::string PolicyFile() { return ValueOf(Read()).policy_file; }

  TemporaryDirectory directory_;
};

std::string Policy(const std::string& path) { return "[Agent]\nPolicyFile=" + path + "\n"; }

TEST_F(ReadSettingsTest, AreTheDefaultsWithoutAFile) { EXPECT_EQ(ValueOf(Read()), Settings()); }

TEST_F(ReadSettingsTest, UsesTheVendorsFileOnlyIfTheAdminHasNone) {
  Write("usr/lib/pintle/pintled.conf", Policy("/vendor") + "WatchLogins=no\n");
  EXPECT_EQ(PolicyFile(), "/vendor");
  Write("etc/pintle/pintled.conf", Policy("/admin"));
  EXPECT_EQ(PolicyFile(), "/admin");
  EXPECT_TRUE(ValueOf(Read()).watch_logins);
}

TEST_F(ReadSettingsTest, AppliesDropInsInTheOrderOfTheirNames) {
  Write("etc/pintle/pintled.conf", Policy("/main") + "WatchLogins=no\n");
  Write("usr/lib/pintle/pintled.conf.d/20-b.conf", Policy("/last"));
  Write("etc/pintle/pintled.conf.d/10-a.conf", Policy("/first"));
  Write("etc/pintle/pintled.conf.d/30-c.txt", "not ours");
  EXPECT_EQ(PolicyFile(), "/last");
  EXPECT_FALSE(ValueOf(Read()).watch_logins);
}

TEST_F(ReadSettingsTest, ADropInHidesDropInsOfTheSameNameBelowRunAndUsr) {
  Write("usr/lib/pintle/pintled.conf.d/a.conf", Policy("/usr") + "WatchLogins=no\n");
  EXPECT_EQ(PolicyFile(), "/usr");
  Write("run/pintle/pintled.conf.d/a.conf", Policy("/run"));
  EXPECT_EQ(PolicyFile(), "/run");
  Write("etc/pintle/pintled.conf.d/a.conf", Policy("/etc"));
  EXPECT_EQ(PolicyFile(), "/etc");
  EXPECT_TRUE(ValueOf(Read()).watch_logins);
}

TEST_F(ReadSettingsTest, ALinkToDevNullCountsAsAnEmptyFile) {
  Write("usr/lib/pintle/pintled.conf", Policy("/vendor"));
  Write("usr/lib/pintle/pintled.conf.d/a.conf", Policy("/usr"));
  std::filesystem::create_directories(directory_ / "etc/pintle/pintled.conf.d");
  std::filesystem::create_symlink("/dev/null", directory_ / "etc/pintle/pintled.conf.d/a.conf");
  EXPECT_EQ(PolicyFile(), "/vendor");
  std::filesystem::create_symlink("/dev/null", directory_ / "etc/pintle/pintled.conf");
  EXPECT_EQ(PolicyFile(), "");
}

TEST_F(ReadSettingsTest, ListsTheProblemsOfAllFiles) {
  Write("etc/pintle/pintled.conf", "[Agent]\nSource=x\n");
  Write("etc/pintle/pintled.conf.d/a.conf", "[Agent]\nSources=local\n");
  EXPECT_THAT(MessageOf(Read()), testing::AllOf(HasSubstr("/etc/pintle/pintled.conf:2: Source=: "),
                                                HasSubstr("; /etc/pintle/pintled.conf.d/a.conf:2: unknown key")));
}

TEST_F(ReadSettingsTest, FailsIfAFileCannotBeRead) {
  std::filesystem::create_directories(directory_ / "etc/pintle/pintled.conf");
  EXPECT_EQ(MessageOf(Read()), "reading /etc/pintle/pintled.conf: not a regular file");
}

}  // namespace
}  // namespace pintle::agent
