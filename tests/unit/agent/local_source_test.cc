// SPDX-License-Identifier: Apache-2.0
#include "agent/local_source.h"

#include <filesystem>

#include "unit/event/patience.h"
#include "unit/expect.h"
#include "unit/temporary_directory.h"

namespace pintle::agent {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

// The real thing on real files.  The directory is read by its name, so that the machine is the one that the test runs
// on.
class LocalSourceTest : public testing::Test {
 protected:
  LocalSourceTest() { fs::create_directories(configs_); }

  void Begin() {
    source_ = ValueOf(LocalSource::Create(*loop_, root_, clock_, {.directory = configs_, .policy_file = ""}));
    source_->Begin({.wanted =
                        [this](const Goal& goal) {
                          wanted_.push_back(goal.config);
                          loop_->Stop();
                        },
                    .drained = [this] { loop_->Stop(); },
                    .failed = [](const std::string& why) { ADD_FAILURE() << why; },
                    .unusable =
                        [this](const std::string& why) {
                          unusable_.push_back(why);
                          loop_->Stop();
                        },
                    .held = [](const std::string&) {}});
  }

  // Until something is told.
  void Run() { EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_))); }

  void WriteConfig(const std::string& name, const std::string& contents) const {
    std::ofstream(configs_ / name)
        << R"({"apiVersion":"machineconfiguration.openshift.io/v1","kind":"MachineConfig","metadata":{"name":")" << name
        << R"(","labels":{"machineconfiguration.openshift.io/role":"worker"}},"spec":{"config":{"ignition":)"
        << R"({"version":"3.4.0"},"storage":{"files":[{"path":"/etc/a","contents":{"source":"data:,)" << contents
        << R"("}}]}}}})";
  }

  Result<SurveyRequest> Fetch(const Goal& wanted) {
    std::optional<Result<SurveyRequest>> answer;
    source_->Fetch(std::nullopt, wanted, [&](Result<SurveyRequest> request) {
      answer = std::move(request);
      loop_->Stop();
    });
    Run();
    return *std::move(answer);
  }

  TemporaryDirectory directory_;
  const fs::path configs_ = directory_ / "config.d";
  const SystemClock clock_;
  Root root_ = ValueOf(Root::Open("/"));
  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  std::vector<std::string> wanted_;
  std::vector<std::string> unusable_;
  std::unique_ptr<LocalSource> source_;
};

TEST_F(LocalSourceTest, TellsWhatTheFilesSayAndTellsItAnewWhenTheyChange) {
  WriteConfig("50-a.json", "1");
  Begin();
  Run();
  ASSERT_EQ(wanted_.size(), 1u);
  EXPECT_THAT(wanted_[0], StartsWith("rendered-local-"));
  WriteConfig("50-a.json", "2");
  Run();
  ASSERT_EQ(wanted_.size(), 2u);
  EXPECT_NE(wanted_[0], wanted_[1]);
  // Written in another way it says the same, and is no news; what it says next is.
  WriteConfig("60-a.json", "2");
  fs::remove(configs_ / "60-a.json");
  WriteConfig("50-a.json", "1");
  Run();
  EXPECT_EQ(wanted_.back(), wanted_[0]);
}

TEST_F(LocalSourceTest, AFileThatIsMovedThereOrLinkedToCounts) {
  Begin();
  Run();
  EXPECT_EQ(wanted_, std::vector<std::string>{"mco-empty-mc"});
  WriteConfig("50-a.json", "1");
  fs::rename(configs_ / "50-a.json", directory_ / "elsewhere.json");
  fs::create_symlink(directory_ / "elsewhere.json", configs_ / "50-a.json");
  Run();
  const std::string first = wanted_.back();
  EXPECT_THAT(first, StartsWith("rendered-local-"));
  // What happens to it happens in another directory.
  WriteConfig("new", "2");
  fs::rename(configs_ / "new", directory_ / "elsewhere.json");
  Run();
  EXPECT_NE(wanted_.back(), first);
}

TEST_F(LocalSourceTest, ADirectoryThatIsMadeLaterOrReplacedIsSeen) {
  fs::remove(configs_);
  Begin();
  event::Settle(*loop_);
  EXPECT_TRUE(wanted_.empty());
  fs::create_directories(configs_);
  WriteConfig("50-a.json", "1");
  Run();
  EXPECT_THAT(wanted_.back(), StartsWith("rendered-local-"));
  fs::rename(configs_, directory_ / "old");
  fs::create_directories(configs_);
  WriteConfig("50-a.json", "2");
  Run();
  EXPECT_EQ(wanted_.size(), 2u);
}

TEST_F(LocalSourceTest, WhatCannotBeReadIsToldUntilItIsMendedAndChangesNothing) {
  WriteConfig("50-a.json", "1");
  Begin();
  Run();
  std::ofstream(configs_ / "60-b.json") << "{";
  Run();
  ASSERT_EQ(unusable_.size(), 1u);
  EXPECT_THAT(unusable_[0], HasSubstr("60-b.json"));
  fs::remove(configs_ / "60-b.json");
  Run();
  EXPECT_EQ(unusable_.back(), "");
  EXPECT_EQ(wanted_.size(), 1u);
}

TEST_F(LocalSourceTest, HandsOutWhatItHasToldAndNothingElse) {
  WriteConfig("50-a.json", "1");
  Begin();
  Run();
  const auto request = Fetch({wanted_[0]});
  ASSERT_TRUE(Succeeded(request));
  ASSERT_TRUE(request->wanted);
  EXPECT_EQ(ValueOf(request->wanted->read()).ignition.storage.files.size(), 1u);
  EXPECT_EQ(Fetch({"rendered-local-gone"}).error().kind(), ErrorKind::kUnavailable);
}

TEST_F(LocalSourceTest, NobodyHasToMovePods) {
  Begin();
  Run();
  source_->AskForDrain({"rendered-local-1"});
  Run();
}

}  // namespace
}  // namespace pintle::agent
