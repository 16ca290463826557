// SPDX-License-Identifier: Apache-2.0
#include "agent/stager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "agent/stage_ahead.h"
#include "change/claim.h"
#include "change/journal.h"
#include "change/staged_image.h"
#include "event/loop.h"
#include "ignition/config.h"
#include "support/small_machine.h"
#include "support/temporary_directory.h"
#include "support/tree.h"
#include "unit/event/patience.h"

namespace pintle::agent {
namespace {

using change::NoConfig;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kNewImage = "registry.example/os@sha256:" + std::string(64, '2');
const Goal kHave{"rendered-worker-1"};
const Goal kNext{"rendered-worker-2"};

// The calls that FakeImages has received, and the behaviour that a test has chosen for it.
struct Images {
  std::vector<std::string> calls = {};
  std::optional<Error> error = {};  // The error of a fetch.
  std::optional<Error> prune_error = {};
  bool has_unneeded = false;
  std::atomic<bool> has_begun = false;       // A fetch has begun.
  std::atomic<bool> waits_for_stop = false;  // A fetch does not end before it is asked to stop.
  std::optional<host::DeployedImage> pending = {};
};

class FakeImages final : public host::Deployments {
 public:
  explicit FakeImages(Images& images) : images_(images) {}

  Result<host::DeploymentsState> Observe() override {
    host::DeployedImage booted;
    booted.id = "os-1.0";
    booted.image = "registry.example/os@sha256:" + std::string(64, '1');
    return host::DeploymentsState{.booted = booted, .pending = images_.pending, .rollback = {}};
  }
  Result<host::FetchedImage> Fetch(const std::string& image, const std::stop_token& stop) override {
    images_.calls.push_back("fetch " + image);
    images_.has_begun = true;
    while (images_.waits_for_stop && !stop.stop_requested()) std::this_thread::yield();
    if (stop.stop_requested()) return Error(ErrorKind::kCancelled, "the fetch was stopped");
    if (images_.error) return *images_.error;
    return host::FetchedImage{image, ""};
  }
  bool LayersPackages() const override { return false; }
  Result<std::unique_ptr<host::OfferedPackages>> OfferPackages(const std::string&, const std::stop_token&) override {
    return std::make_unique<host::OfferedPackages>();
  }
  Result<host::PutEffect> Put(const host::WantedDeployment&) override { return Unexpected("put"); }
  Result<host::PutEffect> DropPending() override { return Unexpected("drop"); }
  Result<host::PutEffect> RollBack() override { return Unexpected("roll back"); }
  Result<host::PutEffect> FinalizeStaged(const std::function<Result<>(const Root& next)>&) override {
    return Unexpected("finalize");
  }
  Result<bool> HasUnneededImages() override { return images_.has_unneeded; }
  Result<> Prune() override {
    images_.calls.emplace_back("prune");
    if (images_.prune_error) return *images_.prune_error;
    images_.has_unneeded = false;
    return {};
  }

 private:
  Result<host::PutEffect> Unexpected(const char* call) {
    images_.calls.emplace_back(call);
    return host::PutEffect::kChanged;
  }

  Images& images_;
};

class NoPower final : public host::Power {
 public:
  Result<> Reboot(const std::string&) override { return {}; }
  Result<host::Inhibitor> InhibitShutdown(const std::string&) override { return host::Inhibitor(); }
};

// A machine that has kHave, and the inputs for a change to kNext with another image and another /etc/motd.
class StagingAhead : public testing::Test {
 protected:
  StagingAhead() {
    machine_.policy = {};
    machine_.Write("proc/sys/kernel/random/boot_id", "one\n");
    EXPECT_TRUE(Succeeded(machine_.GoFromTo(NoConfig(), ConfigFor(kHave, "", "data:,one"))));
    machine_.Write("proc/sys/kernel/random/boot_id", "two\n");
    EXPECT_TRUE(Succeeded(change::Recover(machine_.host(), {})));
    before_ = Tree();
  }

  static plan::TestConfig ConfigFor(const Goal& goal, const std::string& image, const std::string& motd) {
    plan::TestConfig config;
    config.metadata().name = goal.config;
    config.spec().os_image_url = image;
    config.WithFile("/etc/motd", motd);
    config.spec().config = ignition::Encode(config.ignition());
    return config;
  }

  SurveyRequest Request() const {
    const plan::TestConfig config = ConfigFor(kNext, image_, "data:,two");
    const plan::ParsedConfig parsed = config;
    change::CurrentConfig to{.object = parsed.object, .ignition = parsed.ignition, .writers = {}};
    return {.wanted = ProvidedConfig{kNext, [to]() -> Result<change::CurrentConfig> { return to; }}};
  }

  std::unique_ptr<host::ThisMachine> Open() {
    Root root = ValueOf(Root::Open(directory_.path().string()));
    auto systemd = std::make_unique<change::RecordingSystemd>(machine_.host().root);
    return std::make_unique<host::ThisMachine>(std::move(root), std::move(systemd), std::make_unique<NoPower>(),
                                               std::make_unique<FakeImages>(images_), host::Labels());
  }

  Result<StagingEnd> Stage() { return StageAhead(*Open(), Request(), kNext, {}); }

  std::string Tree() const { return DescribeTree(directory_ / "etc"); }
  std::optional<change::StagedImage> Record() const { return ValueOf(change::ReadStagedImage(machine_.host().root)); }

  TemporaryDirectory directory_;
  mutable change::SmallMachine machine_{directory_.path()};
  Images images_;
  std::string image_ = kNewImage;
  std::string before_;
};

TEST_F(StagingAhead, FetchesTheImageAndChangesNothingThatIsInUse) {
  EXPECT_EQ(ValueOf(Stage()), StagingEnd::kDone);
  EXPECT_THAT(images_.calls, ElementsAre("fetch " + kNewImage));
  EXPECT_EQ(Tree(), before_);
  EXPECT_EQ(ValueOf(change::PendingOn(machine_.host())), change::Pending::kNone);
  EXPECT_FALSE(machine_.Has("var/lib/pintle/change/contents"));
  ASSERT_TRUE(Record());
  EXPECT_EQ(Record()->config, kNext.config);
}

TEST_F(StagingAhead, RecordsAnImageAlsoIfItCannotBeFetched) {
  images_.error = Error(ErrorKind::kUnavailable, "the registry does not answer");
  EXPECT_THAT(MessageOf(Stage()), HasSubstr("the registry does not answer"));
  EXPECT_TRUE(Record());
  EXPECT_EQ(Tree(), before_);
}

TEST_F(StagingAhead, RecordsNothingIfOnlyFilesChange) {
  image_ = "";
  EXPECT_EQ(ValueOf(Stage()), StagingEnd::kDone);
  EXPECT_THAT(images_.calls, testing::IsEmpty());
  EXPECT_FALSE(Record());
}

TEST_F(StagingAhead, RefusesAnImageWithoutADigest) {
  image_ = "registry.example/os:latest";
  EXPECT_THAT(MessageOf(Stage()), HasSubstr("name the image by its digest"));
  EXPECT_THAT(images_.calls, testing::IsEmpty());
}

TEST_F(StagingAhead, RefusesAChangeThatWouldOverwriteAnEdit) {
  machine_.Write("etc/motd", "mine");
  EXPECT_THAT(MessageOf(Stage()), HasSubstr("/etc/motd"));
  EXPECT_THAT(images_.calls, testing::IsEmpty());
}

TEST_F(StagingAhead, RefusesAChangeWhoseDeploymentWouldReplaceADeploymentOfSomeoneElse) {
  images_.pending.emplace().id = "other-2.0";
  EXPECT_THAT(MessageOf(Stage()), HasSubstr("the deployment other-2.0 of someone else"));
}

TEST_F(StagingAhead, WaitsWhileSomeoneElseHoldsTheClaim) {
  const auto claim = ValueOf(change::Claim::Take(machine_.host().root));
  EXPECT_EQ(ValueOf(Stage()), StagingEnd::kBusy);
  EXPECT_EQ(ValueOf(RemoveStaged(*Open())), StagingEnd::kBusy);
  EXPECT_THAT(images_.calls, testing::IsEmpty());
}

TEST_F(StagingAhead, RemovesTheImageAndItsRecord) {
  ASSERT_EQ(ValueOf(Stage()), StagingEnd::kDone);
  images_.calls.clear();
  EXPECT_EQ(ValueOf(RemoveStaged(*Open())), StagingEnd::kDone);
  EXPECT_THAT(images_.calls, ElementsAre("prune"));
  EXPECT_FALSE(Record());
}

TEST_F(StagingAhead, RemovesTheRecordAlone) {
  ASSERT_EQ(ValueOf(Stage()), StagingEnd::kDone);
  images_.calls.clear();
  EXPECT_EQ(ValueOf(ForgetStaged(*Open())), StagingEnd::kDone);
  EXPECT_THAT(images_.calls, testing::IsEmpty());
  EXPECT_FALSE(Record());
}

// Runs a stager on the machine of StagingAhead, and stops the loop when a report of a given kind was made.
class StagerTest : public StagingAhead {
 protected:
  using How = StagingReport::How;

  StagerTest() { Start(); }

  void Start() {
    stager_ = std::make_unique<Stager>(
        *loop_, machine_.host().root, Stager::Images::kInOstree,
        [this]() -> Result<std::unique_ptr<host::ThisMachine>> { return Open(); },
        Stager::Listener{.fetch =
                             [this](const Goal&, std::function<void(Result<SurveyRequest>)> done) {
                               loop_->Post([this, done = std::move(done)] { done(Request()); });
                             },
                         .report =
                             [this](const StagingReport& report) {
                               reports_.push_back(report.how);
                               why_ = report.why;
                               if (report.how == awaited_) loop_->Stop();
                             }});
    stager_->Follow({.phase = phase::Settled{kHave}, .wanted = kHave});
  }

  void RunUntil(How how) {
    awaited_ = how;
    ASSERT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  }

  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  std::vector<How> reports_;
  std::string why_;
  std::optional<How> awaited_;
  std::unique_ptr<Stager> stager_;
};

TEST_F(StagerTest, ReportsNothingBeforeTheSourceHasReportedWhatItWants) {
  event::Settle(*loop_);
  EXPECT_THAT(reports_, testing::IsEmpty());
  stager_->Want(std::nullopt);
  event::Settle(*loop_);
  EXPECT_THAT(reports_, ElementsAre(How::kNothing));
  EXPECT_THAT(images_.calls, testing::IsEmpty());
}

TEST_F(StagerTest, StagesAGoalAndReportsIt) {
  stager_->Want(kNext);
  RunUntil(How::kStaged);
  EXPECT_THAT(reports_, ElementsAre(How::kUnderWay, How::kStaged));
  EXPECT_THAT(images_.calls, ElementsAre("fetch " + kNewImage));
}

TEST_F(StagerTest, ReportsAFailureAndTriesAgainWhenAPersonAsksForIt) {
  images_.error = Error(ErrorKind::kUnavailable, "the registry does not answer");
  stager_->Want(kNext);
  RunUntil(How::kUnstageable);
  EXPECT_THAT(why_, testing::AllOf(HasSubstr("the registry does not answer"), HasSubstr("pintle retry")));
  images_.error.reset();
  stager_->TryNow();
  RunUntil(How::kStaged);
}

TEST_F(StagerTest, RemovesAnImageThatIsNotWantedAnyMore) {
  stager_->Want(kNext);
  RunUntil(How::kStaged);
  images_.calls.clear();
  stager_->Want(std::nullopt);
  bool is_idle = false;
  stager_->WhenIdle([&] {
    is_idle = true;
    loop_->Stop();
  });
  ASSERT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_TRUE(is_idle);
  EXPECT_THAT(images_.calls, ElementsAre("prune"));
  EXPECT_FALSE(Record());
}

TEST_F(StagerTest, RemovesTheImagesOfEarlierChangesBeforeItFetchesAnotherImage) {
  images_.has_unneeded = true;
  stager_->Want(kNext);
  RunUntil(How::kStaged);
  EXPECT_THAT(images_.calls, ElementsAre("prune", "fetch " + kNewImage));
}

TEST_F(StagerTest, RemovesTheImageThatAChangeHasReplaced) {
  stager_->Want(std::nullopt);
  event::Settle(*loop_);
  const auto await_idle = [&] {
    stager_->WhenIdle([&] { loop_->Post([&] { loop_->Stop(); }); });
    ASSERT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  };
  await_idle();
  EXPECT_THAT(images_.calls, testing::IsEmpty());
  images_.has_unneeded = true;
  stager_->Follow({.phase = phase::Changing{kNext}, .wanted = kNext});
  await_idle();
  EXPECT_THAT(images_.calls, testing::IsEmpty());
  stager_->Follow({.phase = phase::Settled{kNext}, .wanted = kNext});
  await_idle();
  EXPECT_THAT(images_.calls, ElementsAre("prune"));
}

TEST_F(StagerTest, StagesAlsoIfTheImagesOfEarlierChangesCannotBeRemoved) {
  images_.has_unneeded = true;
  images_.prune_error = Error(ErrorKind::kUnavailable, "the sysroot is locked");
  stager_->Want(kNext);
  RunUntil(How::kStaged);
  EXPECT_THAT(images_.calls, ElementsAre("prune", "fetch " + kNewImage));
}

TEST_F(StagerTest, ReportsWhyTheImageOfAnEarlierTargetKeepsTheNextOneFromBeingStaged) {
  ASSERT_TRUE(
      Succeeded(change::KeepStagedImage(machine_.host().root, change::StagedImage{"rendered-worker-0", kNewImage})));
  Start();  // A stager reads the record when it is made.
  images_.prune_error = Error(ErrorKind::kUnavailable, "rpm-ostree is busy");
  stager_->Want(kNext);
  RunUntil(How::kUnstageable);
  EXPECT_THAT(why_, HasSubstr("removing an image that was fetched for an earlier target: rpm-ostree is busy"));
  images_.prune_error.reset();
  stager_->TryNow();
  RunUntil(How::kStaged);
}

TEST_F(StagerTest, StopsWhenTheMachineIsToHaveAnotherGoalAndLetsItsChangeBeginThen) {
  images_.waits_for_stop = true;
  stager_->Want(kNext);
  event::Timer round(
      *loop_, [&] { images_.has_begun ? loop_->Stop() : round.After(std::chrono::milliseconds(1)); },
      std::chrono::milliseconds(1));
  round.After(std::chrono::milliseconds(1));
  ASSERT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  const Goal other_goal{"rendered-worker-3"};
  stager_->Follow({.phase = phase::Changing{.goal = other_goal}, .wanted = other_goal});
  stager_->WhenIdle([&] { loop_->Stop(); });
  ASSERT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_THAT(reports_, ElementsAre(How::kUnderWay));
}

}  // namespace
}  // namespace pintle::agent
