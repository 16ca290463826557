// SPDX-License-Identifier: Apache-2.0
#include "controller/pause_report.h"

#include <iterator>
#include <list>

#include "api/annotations.h"
#include "api/waiting_files.h"
#include "base/base64.h"
#include "controller/pause_condition.h"
#include "plan/plan.h"
#include "pool/rollout.h"
#include "support/configs.h"
#include "support/expect.h"
#include "unit/net/made_certificate.h"

namespace pintle::controller {
namespace {

using plan::TestConfig;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr const char* kKubeletCa = "/etc/kubernetes/kubelet-ca.crt";
constexpr const char* kUserCa = "/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt";
constexpr const char* kSigner = "openshift-kube-apiserver-operator_kube-apiserver-to-kubelet-signer@";

WallTime At(std::string_view text) { return ValueOf(FromRfc3339(text)); }
std::string DataUrl(const std::string& contents) { return "data:;base64," + EncodeBase64(contents); }

// A paused pool of workers, and the configs that were rendered for it.
class PauseTest : public testing::Test {
 protected:
  PauseTest() {
    pool_.metadata.name = "worker";
    pool_.spec.paused = true;
    policy_.files.push_back({.path = kKubeletCa, .actions = {{.type = "None", .reload = {}, .restart = {}}}});
  }

  TestConfig& AddConfig(const std::string& name, const std::string& created) {
    TestConfig& config = *configs_.emplace(configs_.end());
    config.metadata().name = name;
    known_.push_back({name, At(created)});
    return config;
  }

  void AddNode(const std::string& current, const std::string& desired, const std::string& state = "Done") {
    api::Node& node = *nodes_.emplace(nodes_.end());
    node.metadata.name = "worker-" + std::to_string(nodes_.size());
    node.metadata.annotations = {{std::string(api::kCurrentConfigAnnotation), current},
                                 {std::string(api::kDesiredConfigAnnotation), desired},
                                 {std::string(api::kStateAnnotation), state}};
  }

  std::vector<pool::NodeState> States() const {
    std::vector<pool::NodeState> states;
    for (const api::Node& node : nodes_) states.emplace_back(node);
    return states;
  }

  PauseReport Report() {
    WholeConfigs whole;
    for (const TestConfig& config : configs_) {
      const machineconfig::ParsedConfig parsed = config;
      whole.emplace(parsed.object.metadata.name, parsed);
    }
    const auto states = States();
    return ReportPause({.pool = pool_,
                        .nodes = states,
                        .layering = {},
                        .configs = whole,
                        .renders = known_,
                        .policy = policy_,
                        .overrides = {},
                        .now = now_,
                        .has_controller_config = has_controller_config_});
  }

  // Returns the condition, and sets it in the pool's status, as the controller does.
  api::Condition Condition() {
    SetPausedPending(Report(), now_, pool_.status.conditions);
    for (const api::Condition& condition : pool_.status.conditions) {
      if (condition.type == kPausedPending) return condition;
    }
    return {};
  }

  // Two nodes have a kubelet CA that expires at this time, and a new kubelet CA waits.
  void WaitWithKubeletCa(const std::string& not_after) {
    const std::string before = MadeCertificate(std::string(kSigner) + "1", not_after);
    AddConfig("a", "2026-01-01T00:00:00Z").WithFile(kKubeletCa, DataUrl(before));
    AddConfig("b", "2026-11-20T00:00:00Z")
        .WithFile(kKubeletCa, DataUrl(before + MadeCertificate(std::string(kSigner) + "2", "20280101000000Z")));
    pool_.spec.configuration.name = "b";
    AddNode("a", "a");
    AddNode("a", "a");
  }

  api::MachineConfigPool pool_;
  std::list<TestConfig> configs_;
  std::vector<KnownRender> known_;
  std::list<api::Node> nodes_;
  api::NodeDisruptionPolicy policy_;
  WallTime now_ = At("2026-11-21T12:00:00Z");
  bool has_controller_config_ = false;
};

TEST_F(PauseTest, CountsTheWaitingRendersAndSetsTheirTime) {
  AddConfig("a", "2026-01-01T00:00:00Z");
  AddConfig("older", "2025-01-01T00:00:00Z");
  AddConfig("d", "2026-11-20T00:00:00Z").WithFile("/etc/x", "data:,1").WithUnit("x.service", "[Unit]\n");
  AddConfig("b", "2026-11-10T08:00:00Z");
  AddConfig("c", "2026-11-15T00:00:00Z");
  AddConfig("taken-back", "2026-11-21T00:00:00Z");
  pool_.spec.configuration.name = "d";
  AddNode("a", "a");
  AddNode("a", "a");
  AddNode("d", "d");
  const PauseReport report = Report();
  EXPECT_THAT(report.renders, ElementsAre("b", "c", "d"));
  EXPECT_EQ(report.waits_since, At("2026-11-10T08:00:00Z"));
  EXPECT_EQ(report.waiting_nodes, 2U);
  EXPECT_THAT(report.files, ElementsAre("/etc/x"));
  EXPECT_THAT(report.units, ElementsAre("x.service"));
  EXPECT_TRUE(report.reboots);
  const api::Condition condition = Condition();
  EXPECT_EQ(condition.status, "True");
  EXPECT_EQ(condition.reason, "RebootWaits");
  EXPECT_EQ(condition.message,
            "3 renders up to d wait for 2 of 3 nodes, since 2026-11-10T08:00:00Z. Files: /etc/x. Units: x.service. "
            "Unpausing drains and reboots the nodes (/etc/x: no policy covers it; x.service: no policy covers it). "
            "Pause policy Strict: nothing passes, not even certificates.");
}

TEST_F(PauseTest, ReportsTheActionsOfThePlanner) {
  policy_.files.push_back({.path = "/etc/x", .actions = {{.type = "None", .reload = {}, .restart = {}}}});
  policy_.files.push_back({.path = "/etc/drained", .actions = {{.type = "Drain", .reload = {}, .restart = {}}}});
  AddConfig("a", "2026-01-01T00:00:00Z");
  pool_.spec.configuration.name = "b";
  AddNode("a", "a");
  AddConfig("b", "2026-02-01T00:00:00Z").WithFile("/etc/x", "data:,1");
  for (const char* const path : {"", "/etc/drained", "/etc/else"}) {
    if (*path != 0) configs_.back().WithFile(path, "data:,1");
    const PauseReport report = Report();
    const plan::Plan plan = plan::Make(configs_.front(), configs_.back(), policy_, {});
    EXPECT_EQ(report.reboots, plan.Reboots()) << path;
    EXPECT_EQ(report.drains, plan.drain.is_needed) << path;
  }
  EXPECT_TRUE(Report().reboots);
}

TEST_F(PauseTest, LetsBusyNodesContinue) {
  AddConfig("a", "2026-01-01T00:00:00Z");
  AddConfig("b", "2026-02-01T00:00:00Z").WithFile("/etc/b", "data:,");
  AddConfig("c", "2026-03-01T00:00:00Z").WithFile("/etc/c", "data:,");
  pool_.spec.configuration.name = "b";
  AddNode("a", "b", "Working");
  EXPECT_FALSE(Report().waits());
  EXPECT_EQ(Condition().reason, "NothingWaits");
}

TEST_F(PauseTest, ComparesWithTheConfigThatABusyNodeWillHave) {
  AddConfig("a", "2026-01-01T00:00:00Z");
  AddConfig("b", "2026-02-01T00:00:00Z").WithFile("/etc/b", "data:,");
  AddConfig("c", "2026-03-01T00:00:00Z").WithFile("/etc/b", "data:,").WithFile("/etc/c", "data:,");
  pool_.spec.configuration.name = "c";
  AddNode("a", "b", "Working");
  EXPECT_THAT(ConfigsToCompare(pool_, States(), {}), ElementsAre("b", "c"));
  EXPECT_THAT(Report().files, ElementsAre("/etc/c"));
  EXPECT_THAT(Condition().message, HasSubstr("1 node continues with the config that it got before."));
  nodes_.clear();
  AddNode("a", "b", "Degraded");
  EXPECT_THAT(Report().files, ElementsAre("/etc/b", "/etc/c")) << "a node that failed keeps its config";
}

TEST_F(PauseTest, MergesTheDifferencesOfUnlikeNodes) {
  AddConfig("a", "2026-01-01T00:00:00Z").WithFile("/etc/a", "data:,");
  AddConfig("b", "2026-02-01T00:00:00Z").WithFile("/etc/b", "data:,");
  AddConfig("c", "2026-03-01T00:00:00Z");
  pool_.spec.configuration.name = "c";
  AddNode("a", "a");
  AddNode("b", "b");
  EXPECT_THAT(Report().files, ElementsAre("/etc/a", "/etc/b"));
  EXPECT_THAT(Report().renders, ElementsAre("c"));
}

TEST_F(PauseTest, AnOlderConfigThatWasChosenAgainWaitsSinceTheConditionChanged) {
  AddConfig("a", "2026-01-01T00:00:00Z");
  AddConfig("b", "2026-02-01T00:00:00Z").WithFile("/etc/b", "data:,");
  pool_.spec.configuration.name = "a";
  AddNode("b", "b");
  EXPECT_EQ(Report().waits_since, now_);
  const api::Condition first = Condition();
  now_ += std::chrono::hours(1);
  EXPECT_EQ(Report().waits_since, At("2026-11-21T12:00:00Z"));
  const api::Condition second = Condition();
  EXPECT_EQ(second.message, first.message) << "otherwise, the status would be written at each look";
  EXPECT_EQ(second.last_transition_time, first.last_transition_time);
}

TEST_F(PauseTest, ReportsThatADifferenceIsUnknown) {
  AddConfig("b", "2026-02-01T00:00:00Z");
  pool_.spec.configuration.name = "b";
  AddNode("gone", "gone");
  EXPECT_THAT(Report().unknown, ElementsAre("gone"));
  const std::string message = Condition().message;
  EXPECT_THAT(message, HasSubstr("This list is incomplete, as these configs cannot be read: gone."));
  EXPECT_THAT(message, Not(HasSubstr("Unpausing")));
}

TEST_F(PauseTest, ReportsThatNodesCannotReachTheTarget) {
  AddConfig("a", "2026-01-01T00:00:00Z");
  AddConfig("b", "2026-02-01T00:00:00Z").spec().fips = true;
  pool_.spec.configuration.name = "b";
  AddNode("a", "a");
  EXPECT_THAT(Condition().message,
              AllOf(HasSubstr("Changing FIPS mode."), HasSubstr("Nodes cannot reach the target: ")));
}

TEST_F(PauseTest, BoundsTheNamesInTheMessage) {
  AddConfig("a", "2026-01-01T00:00:00Z");
  TestConfig& next = AddConfig("b", "2026-02-01T00:00:00Z");
  for (int i = 0; i < 1000; ++i) next.WithFile("/etc/" + std::string(3000, 'x') + std::to_string(i), "data:,");
  next.WithFile("/etc/0\nline", "data:,");
  pool_.spec.configuration.name = "b";
  AddNode("a", "a");
  const std::string message = Condition().message;
  EXPECT_LT(message.size(), 6000U);
  EXPECT_THAT(message, AllOf(HasSubstr("and 991 more"), HasSubstr(R"("/etc/0\nline")"), Not(HasSubstr("\n"))));
}

TEST_F(PauseTest, HasNoConditionForAPoolThatWasNeverPaused) {
  AddConfig("a", "2026-01-01T00:00:00Z");
  AddConfig("b", "2026-02-01T00:00:00Z").WithFile("/etc/b", "data:,");
  pool_.spec.configuration.name = "b";
  pool_.spec.paused = false;
  AddNode("a", "a");
  EXPECT_EQ(Condition().type, "");
  pool_.spec.paused = true;
  EXPECT_EQ(Condition().status, "True");
  pool_.spec.paused = false;
  EXPECT_EQ(Condition().status, "False");
  EXPECT_EQ(Condition().reason, "NotPaused");
}

TEST_F(PauseTest, ClearsTheConditionWhenNothingWaitsAnyMore) {
  AddConfig("a", "2026-01-01T00:00:00Z");
  AddConfig("b", "2026-02-01T00:00:00Z").WithFile("/etc/b", "data:,");
  pool_.spec.configuration.name = "b";
  AddNode("a", "a");
  EXPECT_EQ(Condition().status, "True");
  pool_.spec.configuration.name = "a";
  const api::Condition condition = Condition();
  EXPECT_EQ(condition.status, "False");
  EXPECT_EQ(condition.reason, "NothingWaits");
  EXPECT_THAT(ConfigsToCompare(pool_, States(), {}), IsEmpty());
}

TEST_F(PauseTest, ReportsTheExpiryOfTheKubeletCaOnTheNodes) {
  WaitWithKubeletCa("20261206120000Z");
  const PauseReport report = Report();
  EXPECT_EQ(report.kubelet_authority_until(), At("2026-12-06T12:00:00Z"));
  EXPECT_TRUE(report.has_only_bundles);
  const api::Condition condition = Condition();
  EXPECT_EQ(condition.reason, "CertificatesWait");
  EXPECT_THAT(condition.message,
              HasSubstr("Certificates wait: those of the nodes in /etc/kubernetes/kubelet-ca.crt are valid until "
                        "2026-12-06T12:00:00Z (CN=openshift-kube-apiserver-operator_kube-apiserver-to-kubelet-signer@1,"
                        "OU=openshift)."));
}

TEST_F(PauseTest, IsUrgentFourteenDaysBeforeTheExpiryAndNoSooner) {
  WaitWithKubeletCa("20261206120000Z");
  const WallTime end = At("2026-12-06T12:00:00Z");
  const auto reason_at = [&](WallTime now) {
    now_ = now;
    return Condition().reason;
  };
  const auto second = std::chrono::seconds(1);
  const WallTime urgent = end - std::chrono::days(14);
  EXPECT_EQ(reason_at(urgent), "CertificatesWait");
  EXPECT_EQ(NextChange(Report(), urgent), urgent + second);
  EXPECT_EQ(reason_at(urgent + second), "CertificateExpiresSoon");
  EXPECT_EQ(reason_at(end), "CertificateExpiresSoon") << "its last second counts";
  EXPECT_EQ(NextChange(Report(), end), end + second);
  EXPECT_EQ(reason_at(end + second), "CertificateExpired");
  EXPECT_EQ(NextChange(Report(), end + second), std::nullopt);
}

TEST_F(PauseTest, OfTheKubeApiserverSignersInAKubeletCaTheLastToExpireCounts) {
  const std::string before = MadeCertificate(std::string(kSigner) + "1", "20261201000000Z") +
                             MadeCertificate("kube-apiserver-to-kubelet-signer", "20261211000000Z") +
                             MadeCertificate("kubelet-signer", "20300101000000Z");
  AddConfig("a", "2026-01-01T00:00:00Z").WithFile(kKubeletCa, DataUrl(before));
  AddConfig("b", "2026-11-20T00:00:00Z").WithFile(kKubeletCa, DataUrl(MadeCertificate("new", "20280101000000Z")));
  pool_.spec.configuration.name = "b";
  AddNode("a", "a");
  EXPECT_EQ(Report().kubelet_authority_until(), At("2026-12-11T00:00:00Z"));
}

TEST_F(PauseTest, WithoutAKubeApiserverSignerAnyCertificateOfTheKubeletCaCounts) {
  AddConfig("a", "2026-01-01T00:00:00Z")
      .WithFile(kKubeletCa, DataUrl(MadeCertificate("kubernetes", "20261201000000Z")));
  AddConfig("b", "2026-11-20T00:00:00Z").WithFile(kKubeletCa, DataUrl(MadeCertificate("new", "20280101000000Z")));
  pool_.spec.configuration.name = "b";
  AddNode("a", "a");
  EXPECT_EQ(Report().kubelet_authority_until(), At("2026-12-01T00:00:00Z"));
}

TEST_F(PauseTest, TheExpiryOfTheKubeletCaIsReportedOnlyWhileAPausedPoolWaitsForANewOne) {
  WaitWithKubeletCa("20261206120000Z");
  pool_.spec.paused = false;
  EXPECT_EQ(Report().kubelet_authority_until(), std::nullopt);
  pool_.spec.paused = true;
  pool_.spec.configuration.name = "a";
  EXPECT_EQ(Report().kubelet_authority_until(), std::nullopt);
}

TEST_F(PauseTest, ReportsOtherBundles) {
  AddConfig("a", "2026-01-01T00:00:00Z").WithFile(kUserCa, DataUrl(MadeCertificate("ours", "20261201000000Z")));
  AddConfig("b", "2026-11-20T00:00:00Z")
      .WithFile(kUserCa, DataUrl(MadeCertificate("ours", "20280101000000Z")))
      .WithFile("/etc/docker/certs.d/registry.example/ca.crt", DataUrl(MadeCertificate("r", "20280101000000Z")));
  pool_.spec.configuration.name = "b";
  AddNode("a", "a");
  const PauseReport report = Report();
  ASSERT_THAT(report.bundles, SizeIs(2));
  EXPECT_EQ(report.bundles[0].valid_until, std::nullopt) << "the nodes have none yet";
  EXPECT_EQ(report.bundles[1].valid_until, At("2026-12-01T00:00:00Z"));
  EXPECT_EQ(report.kubelet_authority_until(), std::nullopt);
}

// In a cluster with a ControllerConfig, nodes write its files, and report which of these files wait.
class FilesOfTheControllerConfig : public PauseTest {
 protected:
  FilesOfTheControllerConfig() {
    has_controller_config_ = true;
    AddConfig("a", "2026-01-01T00:00:00Z");
    pool_.spec.configuration.name = "a";
    for (int i = 0; i < 3; ++i) AddNode("a", "a");
  }

  void ReportFiles(std::size_t node, const std::string& files) {
    auto which = nodes_.begin();
    std::advance(which, node);
    which->metadata.annotations[std::string(api::kWaitingFilesAnnotation)] = files;
  }
};

TEST_F(FilesOfTheControllerConfig, WaitWithTheExpiryOfTheNodesCertificates) {
  EXPECT_EQ(Condition().reason, "NothingWaits");
  ReportFiles(0,
              R"([{"path":"/etc/kubernetes/kubelet-ca.crt","validUntil":"2026-12-06T12:00:00Z","subject":"CN=one"}])");
  ReportFiles(2,
              R"([{"path":"/etc/docker/certs.d/a/ca.crt"},)"
              R"({"path":"/etc/kubernetes/kubelet-ca.crt","validUntil":"2026-12-01T12:00:00Z","subject":"CN=first"}])");
  const PauseReport report = Report();
  EXPECT_TRUE(report.waits());
  EXPECT_EQ(report.kubelet_authority_until(), At("2026-12-01T12:00:00Z"));
  EXPECT_EQ(report.waits_since, now_);
  const api::Condition condition = Condition();
  EXPECT_EQ(condition.reason, "CertificateExpiresSoon");
  EXPECT_EQ(condition.message,
            "Files of the ControllerConfig wait on 2 of 3 nodes: /etc/docker/certs.d/a/ca.crt, "
            "/etc/kubernetes/kubelet-ca.crt; since 2026-11-21T12:00:00Z. Unpausing needs no drain and no reboot. "
            "Certificates wait: those of the nodes in /etc/kubernetes/kubelet-ca.crt are valid until "
            "2026-12-01T12:00:00Z (CN=first). Pause policy Strict: nothing passes, not even certificates.");
}

TEST_F(FilesOfTheControllerConfig, ReplaceFilesOfARenderedConfig) {
  nodes_.clear();
  WaitWithKubeletCa("20261206120000Z");
  EXPECT_THAT(Report().files, ElementsAre(kKubeletCa));
  EXPECT_EQ(Report().kubelet_authority_until(), std::nullopt) << "no node reports a waiting file";
  EXPECT_EQ(Condition().reason, "ChangeWaits");
  ReportFiles(1, R"([{"path":"/etc/kubernetes/kubelet-ca.crt","validUntil":"2026-12-01T12:00:00Z"}])");
  EXPECT_EQ(Report().kubelet_authority_until(), At("2026-12-01T12:00:00Z"));
}

TEST_F(FilesOfTheControllerConfig, PassWithThePolicyCertificatesPass) {
  ReportFiles(0,
              R"([{"path":"/etc/kubernetes/kubelet-ca.crt","validUntil":"2026-12-06T12:00:00Z","subject":"CN=one"}])");
  pool_.metadata.annotations.emplace(std::string(kPausePolicyAnnotation), "CertificatesPass");
  EXPECT_FALSE(Report().waits());
  EXPECT_EQ(Report().kubelet_authority_until(), std::nullopt);
  EXPECT_EQ(Condition().reason, "NothingWaits");
}

TEST_F(FilesOfTheControllerConfig, IgnoreANodeWithAMalformedAnnotation) {
  for (const char* annotation : {"", "?", "{}", "[1]", "null", "[]"}) {
    ReportFiles(0, annotation);
    EXPECT_FALSE(Report().waits()) << annotation;
  }
}

class CertificatesPass : public PauseTest {
 protected:
  CertificatesPass() {
    pool_.metadata.annotations.emplace(std::string(kPausePolicyAnnotation), "CertificatesPass");
    WaitWithKubeletCa("20261206120000Z");
  }

  // Returns how many nodes the rollout updates in a paused pool if certificates pass.
  std::size_t CountUpdated() {
    api::MachineConfigPool pool = pool_;
    if (Report().passes) pool.spec.paused = false;
    const auto states = States();
    const pool::Rollout rollout = pool::Decide({.pool = pool,
                                                .nodes = states,
                                                .machine_config_nodes = {},
                                                .layering = {},
                                                .features = {},
                                                .cert_expirys = {},
                                                .operator_node = {},
                                                .configs = {},
                                                .all_pools = {},
                                                .os_image_streams = {},
                                                .unavailable_arbiters = 0,
                                                .masters = {},
                                                .now = {}});
    return rollout.updates.size();
  }
};

TEST_F(CertificatesPass, LetsBundlesPassThatNeedNoDrain) {
  EXPECT_EQ(CountUpdated(), 1U);
  EXPECT_FALSE(Report().waits());
  EXPECT_EQ(Report().kubelet_authority_until(), std::nullopt);
  EXPECT_EQ(Condition().reason, "CertificatesPass");
  EXPECT_EQ(Condition().status, "False");
}

TEST_F(CertificatesPass, FollowsNodesUntilTheyHaveTheBundle) {
  nodes_.clear();
  AddNode("a", "b", "Working");
  EXPECT_TRUE(Report().passes);
  nodes_.clear();
  AddNode("b", "b");
  EXPECT_FALSE(Report().passes);
}

TEST_F(CertificatesPass, DoesNotFollowNodesThatAreBusyWithAnotherChange) {
  nodes_.clear();
  AddNode("a", "b", "Working");
  EXPECT_THAT(ConfigsToCompare(pool_, States(), {}), ElementsAre("a", "b"));
  configs_.back().WithFile("/etc/x", "data:,");
  EXPECT_FALSE(Report().passes);
  EXPECT_EQ(Condition().reason, "NothingWaits");
  configs_.back().ignition().storage.files.pop_back();
  EXPECT_TRUE(Report().passes);
  policy_.files.clear();
  EXPECT_FALSE(Report().passes) << "the node is drained and rebooted";
}

TEST_F(CertificatesPass, DoesNotFollowANodeThatIsBusyWithItsPresentConfig) {
  nodes_.clear();
  AddNode("b", "b", "Working");
  EXPECT_FALSE(Report().passes);
}

TEST_F(CertificatesPass, LetsNothingPassThatNeedsAReboot) {
  policy_.files.clear();
  EXPECT_EQ(CountUpdated(), 0U);
  EXPECT_THAT(Condition().message, HasSubstr("a node disruption policy for their files lets them pass"));
  EXPECT_EQ(Report().kubelet_authority_until(), At("2026-12-06T12:00:00Z"));
}

TEST_F(CertificatesPass, LetsNoOtherFilePassWithCertificates) {
  policy_.files.push_back({.path = "/etc/x", .actions = {{.type = "None", .reload = {}, .restart = {}}}});
  configs_.back().WithFile("/etc/x", "data:,");
  EXPECT_EQ(CountUpdated(), 0U);
  EXPECT_THAT(Condition().message, HasSubstr("they were rendered together with other changes"));
}

TEST_F(CertificatesPass, LetsNoUnitUserOrKernelArgumentPass) {
  policy_.units.push_back({.name = "x.service", .actions = {{.type = "None", .reload = {}, .restart = {}}}});
  configs_.back().WithUnit("x.service", "");
  EXPECT_FALSE(Report().reboots);
  EXPECT_EQ(CountUpdated(), 0U);
  configs_.back().ignition().systemd.units.clear();
  EXPECT_EQ(CountUpdated(), 1U);
  configs_.back().WithUser("core", {"key"});
  EXPECT_EQ(CountUpdated(), 0U);
  configs_.back().ignition().passwd.users.clear();
  configs_.back().spec().kernel_arguments = {"quiet"};
  EXPECT_EQ(CountUpdated(), 0U);
}

TEST_F(CertificatesPass, RequiresABundleOfCertificatesOnly) {
  const std::string kKey = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
  auto& file = configs_.back().ignition().storage.files.front();
  const auto whole = file;
  for (const std::string& contents :
       {std::string(), std::string("ca"), MadeCertificate("x", "20280101000000Z") + kKey}) {
    file.contents.source = DataUrl(contents);
    EXPECT_EQ(CountUpdated(), 0U) << contents;
  }
  file = whole;
  file.mode = 0777;
  EXPECT_EQ(CountUpdated(), 0U) << "a change of the mode is no new certificate";
  file = whole;
  EXPECT_EQ(CountUpdated(), 1U);
  configs_.back().ignition().storage.files.clear();
  EXPECT_EQ(CountUpdated(), 0U) << "a removed bundle is no new certificate";
}

TEST_F(CertificatesPass, IsStrictWithoutAValidAnnotation) {
  pool_.metadata.annotations[std::string(kPausePolicyAnnotation)] = "certificatespass";
  EXPECT_EQ(CountUpdated(), 0U);
  EXPECT_THAT(
      Condition().message,
      HasSubstr(R"(is "certificatespass", which is neither Strict nor CertificatesPass; the policy is Strict)"));
  pool_.metadata.annotations.clear();
  EXPECT_EQ(CountUpdated(), 0U);
  EXPECT_THAT(Condition().message, HasSubstr("Pause policy Strict: nothing passes"));
}

}  // namespace
}  // namespace pintle::controller
