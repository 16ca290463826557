// SPDX-License-Identifier: Apache-2.0
#include "agent/publisher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <string>

#include "event/loop.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::agent {
namespace {

using testing::HasSubstr;

class PublisherTest : public testing::Test {
 protected:
  static Settings SettingsWithMetrics() {
    Settings settings;
    settings.metrics_file = "/metrics";
    return settings;
  }

  std::string PublishedMetrics() {
    publisher_.Publish(State(), std::nullopt, "");
    return directory_.Read("metrics");
  }

  TemporaryDirectory directory_;
  const Root root_ = ValueOf(Root::Open(directory_.path().string()));
  SystemClock clock_;
  const Settings settings_ = SettingsWithMetrics();
  const std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  Publisher publisher_{*loop_, clock_, root_, settings_, {host::AgentSource::kLocal, "worker-1"}, Bus::Handlers()};
};

TEST_F(PublisherTest, WritesTheStateAndItsReasonToTheMetrics) {
  publisher_.SetState(host::AgentState::kDegraded, "the disk is full");
  EXPECT_THAT(PublishedMetrics(), HasSubstr("\nmcd_state{state=\"Degraded\",reason=\"the disk is full\"} "));
}

TEST_F(PublisherTest, RecognizesAReasonThatWasTooLongToBePublished) {
  const std::string reason(3000, 'x');
  publisher_.SetState(host::AgentState::kDegraded, reason);
  EXPECT_TRUE(publisher_.HasReason(reason));
  EXPECT_FALSE(publisher_.HasReason("y" + reason));
}

TEST_F(PublisherTest, CountsFailedChangesOfTheOsUntilOneSucceeds) {
  publisher_.CountFailedOsChange();
  publisher_.CountFailedOsChange();
  EXPECT_THAT(PublishedMetrics(), HasSubstr("\nmcd_pivot_errors_total 2\n"));
  publisher_.ClearFailedOsChanges();
  EXPECT_THAT(PublishedMetrics(), HasSubstr("\nmcd_pivot_errors_total 0\n"));
}

TEST_F(PublisherTest, ReplacesAnUpdateByTheErrorOfItsEnd) {
  publisher_.SetUpdate("rendered-worker-2");
  EXPECT_THAT(PublishedMetrics(), HasSubstr("\nmcd_update_state{config=\"rendered-worker-2\",err=\"\"} "));
  publisher_.SetFailedUpdate("failed to uncordon node: worker-1 after 10m");
  EXPECT_THAT(PublishedMetrics(),
              HasSubstr("\nmcd_update_state{config=\"\",err=\"failed to uncordon node: worker-1 after 10m\"} "));
}

TEST_F(PublisherTest, WritesFindingsOnlyIfTheyDifferAndForRootAlone) {
  Survey survey;
  survey.findings_text = "{\"text\":\"one\"}\n";
  publisher_.SetFindings(survey);
  EXPECT_EQ(directory_.Read("run/pintle/findings.json"), survey.findings_text);
  struct stat status = {};
  ASSERT_EQ(::stat((directory_ / "run/pintle/findings.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
  std::filesystem::remove(directory_ / "run/pintle/findings.json");
  publisher_.SetFindings(survey);
  EXPECT_FALSE(std::filesystem::exists(directory_ / "run/pintle/findings.json"));
  survey.findings_text = "{\"text\":\"two\"}\n";
  publisher_.SetFindings(survey);
  EXPECT_EQ(directory_.Read("run/pintle/findings.json"), survey.findings_text);
}

TEST_F(PublisherTest, ReportsWhetherWarningsHaveChanged) {
  EXPECT_TRUE(publisher_.SetWarnings(Warnings::Origin::kSource, {"a config was left out"}));
  EXPECT_FALSE(publisher_.SetWarnings(Warnings::Origin::kSource, {"a config was left out"}));
  EXPECT_TRUE(publisher_.SetWarnings(Warnings::Origin::kSource, {}));
}

}  // namespace
}  // namespace pintle::agent
