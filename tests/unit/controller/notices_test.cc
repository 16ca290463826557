// SPDX-License-Identifier: Apache-2.0
#include "controller/notices.h"

#include <gmock/gmock.h>

#include <deque>

#include "json/parse.h"
#include "support/expect.h"
#include "unit/pool/sample.h"

namespace pintle::controller {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const WallTime kToday = ValueOf(FromRfc3339("2027-01-04T12:00:00Z"));

// A cluster with one pool, which has replaced pool::kOld by pool::kNew.
struct SmallPool {
  SmallPool() {
    pool.metadata.name = "worker";
    pool.metadata.uid = "pool-uid";
    pool.metadata.annotations[std::string(api::kTargetSinceAnnotation)] = "2027-01-04T11:00:00Z";
    pool.spec.configuration.name = pool::kNew;
    policy.name = "policy";
  }

  std::vector<Notice> Notices() const {
    View view;
    view.pools = {&pool};
    for (const auto& report : reports) view.machine_config_nodes.push_back(&report);
    PoolMembers members;
    for (const api::Node& node : nodes) members.nodes["worker"].emplace_back(node);
    PoolPolicies policies;
    if (rollout) policies["worker"] = {.policy = &policy, .before = &*rollout};
    return NoticesOf({.view = view,
                      .members = members,
                      .policies = policies,
                      .pause_of = [this](const std::string&) { return &pause; },
                      .now = now});
  }
  std::vector<std::string> Types() const {
    std::vector<std::string> types;
    for (const Notice& notice : Notices()) types.push_back(notice.type);
    return types;
  }
  Notice OnlyNotice() const {
    const std::vector<Notice> notices = Notices();
    EXPECT_EQ(notices.size(), 1U);
    return notices.empty() ? Notice() : notices.front();
  }

  // Makes the node report a fault in its MachineConfigNode.
  void Report(const std::string& node, const char* status, WallTime since) {
    api::MachineConfigNode report;
    report.metadata.name = node;
    report.status.conditions = {{.type = "NodeDegraded",
                                 .status = status,
                                 .last_transition_time = api::Time{since},
                                 .reason = "",
                                 .message = ""}};
    reports = {report};
  }

  api::MachineConfigPool pool;
  std::deque<api::Node> nodes;
  std::deque<api::MachineConfigNode> reports;
  pool::Policy policy;
  std::optional<api::RolloutPoolStatus> rollout;
  PauseReport pause;
  WallTime now = kToday;
};

struct RolloutCase {
  const char* about;
  std::vector<api::Node> nodes;
  bool is_paused;
  std::vector<std::string> types;
};

TEST(NoticesOf, FollowTheRolloutOfAPool) {
  const std::vector<RolloutCase> cases = {
      {"no node", {}, false, {}},
      {"no node has the target", {pool::NodeAt("a", pool::kOld)}, false, {kRolloutBegun}},
      {"a pause holds all nodes", {pool::NodeAt("a", pool::kOld)}, true, {}},
      {"a pause holds the rest", {pool::NodeAt("a", pool::kNew), pool::NodeAt("b", pool::kOld)}, true, {kRolloutBegun}},
      {"a node is on the way",
       {pool::NodeBetween("a", pool::kOld, pool::kNew, api::kStateWorking), pool::NodeAt("b", pool::kNew)},
       false,
       {kRolloutBegun}},
      {"all nodes have the target", {pool::NodeAt("a", pool::kNew)}, false, {kRolloutBegun, kRolloutFinished}},
  };
  for (const RolloutCase& row : cases) {
    SmallPool cluster;
    cluster.nodes.assign(row.nodes.begin(), row.nodes.end());
    cluster.pool.spec.paused = row.is_paused;
    EXPECT_EQ(cluster.Types(), row.types) << row.about;
    // A pool that has its first target has no rollout.
    cluster.pool.metadata.annotations.clear();
    EXPECT_THAT(cluster.Types(), IsEmpty()) << row.about;
  }
}

TEST(NoticesOf, ARolloutHaveTheSameIdOnAllReplicasAndAnotherIdTheNextTime) {
  SmallPool cluster;
  cluster.nodes = {pool::NodeAt("a", pool::kOld)};
  const Notice begun = cluster.OnlyNotice();
  EXPECT_EQ(begun.subject, "machineconfigpools/worker");
  EXPECT_EQ(begun.at, ValueOf(FromRfc3339("2027-01-04T11:00:00Z")));
  EXPECT_EQ(begun.data.TextAt({"config"}), pool::kNew);
  EXPECT_EQ(begun.data.TextAt({"message"}), "Pool worker: the rollout of rendered-worker-new has begun");
  cluster.now += std::chrono::hours(1);
  cluster.pool.metadata.generation = 5;
  EXPECT_EQ(cluster.OnlyNotice().id, begun.id);
  cluster.pool.metadata.annotations[std::string(api::kTargetSinceAnnotation)] = "2027-01-04T11:00:01Z";
  EXPECT_NE(cluster.OnlyNotice().id, begun.id);
}

TEST(NoticesOf, HaveTheStepsOfARolloutByAPolicyInTheirOrder) {
  SmallPool cluster;
  cluster.nodes = {pool::NodeAt("a", pool::kNew), pool::NodeAt("b", pool::kOld)};
  api::RolloutPoolStatus& rollout = cluster.rollout.emplace();
  rollout.name = "worker";
  rollout.waves = 3;
  rollout.memory.target = pool::kNew;
  rollout.memory.began = api::Time{kToday};
  rollout.memory.wave_index = 2;
  rollout.memory.ended = {{.wave = 1, .at = api::Time{kToday}}, {.wave = 2, .at = std::nullopt}};
  rollout.memory.halt = {
      .reason = "Gate", .gate = "g", .message = "gate g is not met: password hunter2", .since = api::Time{kToday}};
  EXPECT_THAT(cluster.Types(), ElementsAre(kRolloutBegun, kRolloutWaveDone, kRolloutWaveDone, kRolloutHalted));
  const std::vector<Notice> notices = cluster.Notices();
  EXPECT_EQ(notices[1].at, kToday);
  EXPECT_EQ(notices[1].data["wave"], 1);
  EXPECT_EQ(notices[1].data["waves"], 3);
  EXPECT_EQ(notices[1].data.TextAt({"policy"}), "policy");
  EXPECT_NE(notices[1].id, notices[2].id);
  EXPECT_EQ(notices[3].data.TextAt({"cause"}), "Gate");
  EXPECT_THAT(json::ToText(notices[3].data), Not(HasSubstr("hunter2")));
  // All nodes have the target, but the last wave is not over.
  rollout.memory.halt.reset();
  cluster.nodes = {pool::NodeAt("a", pool::kNew)};
  EXPECT_THAT(cluster.Types(), ElementsAre(kRolloutBegun, kRolloutWaveDone, kRolloutWaveDone));
  rollout.memory.wave_index = 3;
  rollout.memory.ended.push_back({.wave = 3, .at = std::nullopt});
  EXPECT_THAT(cluster.Types(),
              ElementsAre(kRolloutBegun, kRolloutWaveDone, kRolloutWaveDone, kRolloutWaveDone, kRolloutFinished));
}

TEST(NoticesOf, ANodeTellFaultsApartByTheTimeOfTheirCondition) {
  SmallPool cluster;
  cluster.pool.metadata.annotations.clear();
  cluster.nodes = {pool::NodeBetween("a", pool::kOld, pool::kNew, api::kStateDegraded)};
  cluster.nodes[0].metadata.annotations[std::string(api::kReasonAnnotation)] = "the disk is full";
  const Notice without = cluster.OnlyNotice();
  EXPECT_EQ(without.type, kNodeDegraded);
  EXPECT_EQ(without.subject, "nodes/a");
  EXPECT_EQ(without.data.TextAt({"reason"}), "the disk is full");
  EXPECT_EQ(without.data.TextAt({"config"}), pool::kNew);
  // The agent has written the annotations and will write the condition.
  cluster.Report("a", "False", kToday - std::chrono::hours(1));
  EXPECT_THAT(cluster.Types(), IsEmpty());
  cluster.Report("a", "True", kToday);
  const Notice first = cluster.OnlyNotice();
  EXPECT_EQ(first.at, kToday);
  cluster.nodes[0].metadata.annotations[std::string(api::kReasonAnnotation)] = "the disk is still full";
  EXPECT_EQ(cluster.OnlyNotice().id, first.id);
  cluster.Report("a", "True", kToday + std::chrono::hours(1));
  EXPECT_NE(cluster.OnlyNotice().id, first.id);
}

TEST(NoticesOf, ANodeThatCannotReconcileIsARejection) {
  SmallPool cluster;
  cluster.pool.metadata.annotations.clear();
  cluster.nodes = {pool::NodeBetween("a", pool::kOld, pool::kNew, api::kStateUnreconcilable)};
  const Notice notice = cluster.OnlyNotice();
  EXPECT_EQ(notice.type, kNodeRejected);
  EXPECT_EQ(notice.data.TextAt({"message"}), "Node a cannot be changed to rendered-worker-new");
}

struct CertificateCase {
  std::chrono::seconds left;
  bool is_paused;
  std::vector<std::string> types;
};

TEST(NoticesOf, APauseReportACertificateThatExpiredCenturiesAgo) {
  SmallPool cluster;
  cluster.pause.is_paused = true;
  cluster.pause.waiting_nodes = 1;
  // Agents report such times, and a node may report any time.
  const WallTime long_ago = ValueOf(FromRfc3339("1700-01-01T00:00:00Z"));
  cluster.pause.bundles = {{.path = "/etc/ca.crt", .valid_until = long_ago, .subject = "CN=ca"}};
  EXPECT_EQ(cluster.Types(), std::vector<std::string>{kCertificateExpired});
}

TEST(NoticesOf, APauseReportItsCertificatesWhenTheyBecomeUrgentAndWhenTheyExpire) {
  const std::vector<CertificateCase> cases = {
      {std::chrono::days(15), true, {}},
      {std::chrono::days(13), true, {kCertificateExpiring}},
      {std::chrono::days(13), false, {}},
      {std::chrono::seconds(0), true, {kCertificateExpiring}},
      {std::chrono::seconds(-1), true, {kCertificateExpired}},
  };
  for (const CertificateCase& row : cases) {
    SmallPool cluster;
    cluster.pause.is_paused = row.is_paused;
    cluster.pause.waiting_nodes = 1;
    cluster.pause.bundles = {{.path = "/etc/ca.crt", .valid_until = kToday + row.left, .subject = "CN=ca"},
                             {.path = "/etc/new.crt", .valid_until = {}, .subject = ""}};
    EXPECT_EQ(cluster.Types(), row.types) << row.left.count();
    for (const Notice& notice : cluster.Notices()) EXPECT_EQ(notice.data.TextAt({"path"}), "/etc/ca.crt");
  }
}

std::vector<std::string> Ids(const std::vector<Notice>& notices) {
  std::vector<std::string> ids;
  for (const Notice& notice : notices) ids.push_back(notice.id);
  return ids;
}

TEST(NewNotices, AreThoseThatWereAbsentForADay) {
  Notice a;
  a.id = "a";
  Notice b;
  b.id = "b";
  KnownNotices known;
  MonotonicTime now = {};
  EXPECT_THAT(Ids(NewNotices(known, {a}, now)), ElementsAre("a"));
  EXPECT_THAT(Ids(NewNotices(known, {a, b}, now)), ElementsAre("b"));
  // "b" is interrupted for a while.
  now += std::chrono::hours(23);
  EXPECT_THAT(NewNotices(known, {a}, now), IsEmpty());
  EXPECT_THAT(NewNotices(known, {a, b}, now), IsEmpty());
  now += std::chrono::hours(25);
  EXPECT_THAT(NewNotices(known, {a}, now), IsEmpty());
  EXPECT_THAT(Ids(NewNotices(known, {a, b}, now)), ElementsAre("b"));
}

TEST(NewNotices, RememberALimitedNumberAndAlwaysThePresentNotices) {
  Notice lasting;
  lasting.id = "lasting";
  const auto with_faults = [&](const std::string& prefix) {
    std::vector<Notice> notices(15'000, lasting);
    for (std::size_t i = 1; i < notices.size(); ++i) notices[i].id = prefix + std::to_string(i);
    return notices;
  };
  KnownNotices known;
  MonotonicTime now = {};
  EXPECT_EQ(NewNotices(known, with_faults("a"), now).size(), 15'000U);
  now += std::chrono::minutes(1);
  EXPECT_EQ(NewNotices(known, with_faults("b"), now).size(), 14'999U);
  EXPECT_LE(known.size(), 20'000U);
  now += std::chrono::minutes(1);
  EXPECT_THAT(NewNotices(known, with_faults("b"), now), IsEmpty());
}

}  // namespace
}  // namespace pintle::controller
