// SPDX-License-Identifier: Apache-2.0
#include "agent/local_rollout.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::agent {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class LocalRolloutTest : public testing::Test {
 protected:
  Result<LocalRollout> Read(const std::string& spec) {
    std::ofstream(file_) << "apiVersion: pintle.io/v1alpha1\nkind: RolloutPolicy\nspec: " << spec << "\n";
    return ReadLocalRollout(file_);
  }

  static std::string WhyClosed(const LocalRollout& windows, const char* time) {
    return windows.WhyClosed(*FromRfc3339(time));
  }

  const TemporaryDirectory directory_;
  const std::string file_ = directory_ / "rollout.yaml";
};

TEST_F(LocalRolloutTest, AMachineWithoutTheFileMayBeChangedAtAnyTime) {
  EXPECT_EQ(WhyClosed(ValueOf(ReadLocalRollout(file_)), "2027-01-01T00:00:00Z"), "");
}

TEST_F(LocalRolloutTest, AMachineMayBeChangedInItsWindows) {
  const LocalRollout windows = ValueOf(Read(R"({windows: [{days: [Sun], start: "01:00", duration: 3h}]})"));
  EXPECT_EQ(WhyClosed(windows, "2027-01-02T12:00:00Z"), "the next window begins at 2027-01-03T01:00:00Z");
  EXPECT_EQ(WhyClosed(windows, "2027-01-03T01:00:00Z"), "");
  EXPECT_EQ(WhyClosed(windows, "2027-01-03T04:00:00Z"), "the next window begins at 2027-01-10T01:00:00Z");
}

TEST_F(LocalRolloutTest, AFreezeHoldsWithItsReason) {
  const LocalRollout windows = ValueOf(Read(R"({freeze: {until: "2027-01-07", reason: holidays}})"));
  EXPECT_EQ(WhyClosed(windows, "2027-01-06T23:59:59Z"),
            "the freeze (holidays) is not over, and the next window begins at 2027-01-07T00:00:00Z");
  EXPECT_EQ(WhyClosed(windows, "2027-01-07T00:00:00Z"), "");
}

TEST_F(LocalRolloutTest, FieldsThatNeedAClusterAndUnknownOnesAreRefusedTogether) {
  EXPECT_THAT(MessageOf(Read(R"({pool: worker, windos: [], windows: [{start: "1:00", duration: 1h, day: Sun}]})")),
              AllOf(HasSubstr("spec.pool has no effect on a machine without a cluster; remove it"),
                    HasSubstr("spec.windos is not known on a machine without a cluster; remove it"),
                    HasSubstr("spec.windows[0].day is not known; remove it"),
                    HasSubstr("spec.windows[0].start: \"1:00\" is not a time of the day")));
}

TEST_F(LocalRolloutTest, AnUnknownFieldIsReportedAlsoIfAValueHasTheWrongType) {
  EXPECT_THAT(MessageOf(Read(R"({windos: [], freeze: {until: 7}})")),
              AllOf(HasSubstr("spec.windos is not known on a machine without a cluster; remove it"),
                    HasSubstr("spec.freeze.until")));
}

TEST_F(LocalRolloutTest, GatesAreQuestionsToServersBeforeAChange) {
  const LocalRollout rollout = ValueOf(Read(R"({gates: [
      {name: backup, when: Before, http: {url: "https://backup/done"}, timeout: 1h, onTimeout: Halt},
      {name: alerts, when: Before, prometheus: {url: "http://prometheus:9090", query: ALERTS}}]})"));
  ASSERT_EQ(rollout.gates.size(), 2U);
  EXPECT_EQ(rollout.gates[0].name, "backup");
  EXPECT_EQ(rollout.gates[0].timeout, std::chrono::hours(1));
  EXPECT_EQ(rollout.gates[0].on_timeout, pool::GateTimeout::kHalt);
  EXPECT_EQ(std::get<api::GateQuery>(rollout.gates[1].test).query, "ALERTS");
  EXPECT_EQ(WhyClosed(rollout, "2027-01-02T12:00:00Z"), "");
}

TEST_F(LocalRolloutTest, GatesThatMakeNoSenseOnOneMachineAreRefusedTogether) {
  const std::string message = MessageOf(Read(R"({gates: [
      {name: a, when: Before, nodeCondition: {type: Ready}},
      {name: b, when: Before, nodeAnnotation: {key: pintle.io/gate-b}},
      {name: c, when: After, http: {url: "http://shop"}},
      {name: d, when: Later, http: {url: "http://shop", uri: x}, timeouts: 1h},
      {name: e, when: Before, prometheus: {url: "http://p", query: up, querry: up}, onTimeout: Halt},
      {name: e, when: Before, http: {url: "shop/s3cret"}, timeout: soon}]})"));
  for (const char* problem :
       {"spec.gates[0].nodeCondition is about a Node, which a machine without a cluster does not have; write http or "
        "prometheus instead",
        "spec.gates[1].nodeAnnotation is about a Node, which a machine without a cluster does not have",
        "spec.gates[2].when: \"After\" holds back the next nodes, which a machine without a cluster does not have; "
        "write Before, or check the machine's health after a reboot with a program in /etc/pintle/check.d",
        "spec.gates[3].when: \"Later\" is not known; write Before or After",
        "spec.gates[3].timeouts is not known; remove it", "spec.gates[3].http.uri is not known; remove it",
        "spec.gates[4].prometheus.querry is not known; remove it", "spec.gates[4].onTimeout: \"Halt\" needs a timeout",
        "spec.gates[5].http.url: is not a URL; write one that begins with http:// or https://",
        "spec.gates[5].timeout: \"soon\"", "spec.gates[5].name: \"e\" is the name of an earlier gate"}) {
    EXPECT_THAT(message, HasSubstr(problem));
  }
  EXPECT_THAT(message, Not(HasSubstr("s3cret")));
}

TEST_F(LocalRolloutTest, AUrlThatCannotBeUsedIsRefusedWithoutItsSecrets) {
  const std::string message = MessageOf(Read(R"({gates: [
      {name: a, when: Before, http: {url: "http://:80"}},
      {name: b, when: Before, prometheus: {url: "https://user:s3cret@prometheus", query: up}}]})"));
  EXPECT_THAT(message, AllOf(HasSubstr("spec.gates[0].http.url: not an http or https URL; write one such as https://"),
                             HasSubstr("spec.gates[1].prometheus.url: a URL must not have a user name or a password"),
                             Not(HasSubstr("s3cret"))));
}

TEST_F(LocalRolloutTest, AFileHasALimitedNumberOfGates) {
  std::string gates;
  for (int i = 0; i < 33; ++i) {
    gates += fmt::format("{}{{name: g{}, when: Before, http: {{url: \"http://shop\"}}}}", i == 0 ? "" : ", ", i);
  }
  EXPECT_THAT(MessageOf(Read("{gates: [" + gates + "]}")), HasSubstr("spec.gates: has 33 gates; write at most 32"));
}

TEST_F(LocalRolloutTest, AFieldBesideTheSpecIsRefused) {
  std::ofstream(file_) << "kind: RolloutPolicy\nmetadata: {name: a}\nspec: {windows: []}\n"
                          "gates:\n- {name: backup, when: Before, http: {url: 'https://backup/done'}}\nfrozen: true\n";
  EXPECT_THAT(MessageOf(ReadLocalRollout(file_)),
              AllOf(HasSubstr("gates is beside spec; indent it, so that it is below spec"),
                    HasSubstr("rollout.yaml: frozen is not known; remove it"), Not(HasSubstr("metadata"))));
}

TEST_F(LocalRolloutTest, AFieldThatIsWrittenTwiceIsRefused) {
  const std::string gate = R"({"name": "a", "when": "Before", "http": {"url": "http://shop"}})";
  EXPECT_THAT(MessageOf(Read("{gates: [" + gate + "], gates: []}")),
              HasSubstr("rollout.yaml: $.spec.gates occurs more than once; remove it, or all but one"));
  std::ofstream(file_) << R"({"spec": {"gates": [)" << gate << R"(]}, "spec": {"windows": []}})";
  EXPECT_THAT(MessageOf(ReadLocalRollout(file_)), HasSubstr("$.spec occurs more than once"));
}

TEST_F(LocalRolloutTest, AKeyThatMayBeAUrlIsNotRepeated) {
  // Without a space after the colon, all of this is a key.
  const std::string message =
      MessageOf(Read("{gates: [{name: a, when: Before, http: {url:https://shop?token=s3cret}}]}"));
  EXPECT_THAT(message, AllOf(HasSubstr("spec.gates[0].http.? is not known; remove it"), Not(HasSubstr("s3cret"))));
  EXPECT_THAT(MessageOf(Read("{gates: [{http: {url:https://s3cret: 1, url:https://s3cret: 2}}]}")),
              Not(HasSubstr("s3cret")));
}

TEST_F(LocalRolloutTest, AMissingQueryAndAPrometheusUrlWithAQueryOrFragmentAreRefused) {
  const std::string message = MessageOf(Read(R"({gates: [
      {name: a, when: Before, prometheus: {url: "http://prometheus:9090"}},
      {name: b, when: Before, prometheus: {url: "http://prometheus/?token=s3cret", query: up}},
      {name: c, when: Before, prometheus: {url: "http://prometheus/#/graph", query: up}}]})"));
  for (const char* problem :
       {"spec.gates[0].prometheus.query: is empty; write a query such as ALERTS{alertstate=\"firing\"}",
        "spec.gates[1].prometheus.url: has a ? or a #; write the URL of the server only, such as "
        "http://prometheus:9090",
        "spec.gates[2].prometheus.url: has a ? or a #"}) {
    EXPECT_THAT(message, HasSubstr(problem));
  }
  EXPECT_THAT(message, Not(HasSubstr("s3cret")));
}

TEST_F(LocalRolloutTest, AFileThatOthersMayWriteIsRefused) {
  static_cast<void>(Read("{windows: []}"));
  ASSERT_EQ(::chmod(file_.c_str(), 0666), 0);
  EXPECT_THAT(MessageOf(ReadLocalRollout(file_)), HasSubstr("rollout.yaml"));
}

TEST_F(LocalRolloutTest, AnotherKindAndAnEmptyFileAreRefused) {
  std::ofstream(file_) << "kind: MachineConfigPool\nspec: {}\n";
  EXPECT_THAT(MessageOf(ReadLocalRollout(file_)), HasSubstr("RolloutPolicy"));
  std::ofstream(file_, std::ios::trunc) << "";
  EXPECT_THAT(MessageOf(ReadLocalRollout(file_)), HasSubstr("the file has 0 documents, but must have exactly one"));
}

}  // namespace
}  // namespace pintle::agent
