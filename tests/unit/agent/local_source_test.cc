// SPDX-License-Identifier: Apache-2.0
#include "agent/local_source.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "base/unique_fd.h"
#include "support/expect.h"
#include "support/temporary_directory.h"
#include "unit/event/patience.h"
#include "unit/gates/answering_server.h"

namespace pintle::agent {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

// A real LocalSource on real files.  The source opens its directory by an absolute path, so its root is the root
// directory of the machine that runs the test.
class LocalSourceTest : public testing::Test {
 protected:
  LocalSourceTest() { fs::create_directories(configs_); }

  void Begin() { Begin(clock_); }
  void Begin(const Clock& clock) {
    source_ = ValueOf(LocalSource::Create(*loop_, root_, clock,
                                          {.directory = configs_, .policy_file = "", .rollout_file = rollout_file_}));
    source_->Begin({.wanted =
                        [this](const Goal& goal) {
                          wanted_.push_back(goal.config);
                          if (on_wanted_) on_wanted_(goal);
                          loop_->Stop();
                        },
                    .drained = [this] { loop_->Stop(); },
                    .failed = [](const std::string& why) { ADD_FAILURE() << why; },
                    .unusable =
                        [this](const std::string& why) {
                          unusable_.push_back(why);
                          loop_->Stop();
                        },
                    .held =
                        [this](const std::string& what) {
                          held_.push_back(what);
                          loop_->Stop();
                        },
                    .warned =
                        [this](const std::vector<std::string>& warnings) {
                          warnings_ = warnings;
                          if (stops_at_warnings_) loop_->Stop();
                        }});
  }

  // Runs until the source has called its listener.
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
  const fs::path rollout_file_ = directory_ / "rollout.yaml";
  const SystemClock clock_;
  Root root_ = ValueOf(Root::Open("/"));
  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  std::vector<std::string> wanted_;
  std::function<void(const Goal& goal)> on_wanted_;
  std::vector<std::string> unusable_;
  std::vector<std::string> held_;
  std::vector<std::string> warnings_;
  bool stops_at_warnings_ = false;
  std::unique_ptr<LocalSource> source_;
};

// A clock that stands still until Pass().  It is far behind the real clock, so a timer that is set to its time fires at
// once.
class PassingClock final : public Clock {
 public:
  MonotonicTime Monotonic() const override { return now_; }
  WallTime Wall() const override { return {}; }
  void Pass(MonotonicTime::duration time) { now_ += time; }

 private:
  MonotonicTime now_{std::chrono::seconds(1)};
};

// Counts how often files in a directory are opened.
class OpenCounter {
 public:
  explicit OpenCounter(const fs::path& directory) : fd_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    // The kernel would merge two equal events in a row, so closing is watched as well.
    EXPECT_GE(::inotify_add_watch(fd_.get(), directory.c_str(), IN_OPEN | IN_CLOSE), 0);
  }

  int OpenCount(const std::string& name) const {
    int times = 0;
    alignas(inotify_event) std::array<char, 1 << 16> buffer;
    for (ssize_t length; (length = ::read(fd_.get(), buffer.data(), buffer.size())) > 0;) {
      for (ssize_t at = 0; at < length;) {
        const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
        if ((event->mask & IN_OPEN) != 0 && event->len > 0 && name == event->name) ++times;
        at += static_cast<ssize_t>(sizeof *event + event->len);
      }
    }
    return times;
  }

 private:
  UniqueFd fd_;
};

TEST_F(LocalSourceTest, AnnouncesTheGoalOfTheFilesAndEachNewOne) {
  WriteConfig("50-a.json", "1");
  Begin();
  Run();
  ASSERT_EQ(wanted_.size(), 1u);
  EXPECT_THAT(wanted_[0], StartsWith("rendered-local-"));
  WriteConfig("50-a.json", "2");
  Run();
  ASSERT_EQ(wanted_.size(), 2u);
  EXPECT_NE(wanted_[0], wanted_[1]);
  // The same config in another file is not announced; a new config is.
  WriteConfig("60-a.json", "2");
  fs::remove(configs_ / "60-a.json");
  WriteConfig("50-a.json", "1");
  Run();
  EXPECT_EQ(wanted_.back(), wanted_[0]);
}

TEST_F(LocalSourceTest, NoticesALinkAndTheReplacementOfItsTarget) {
  Begin();
  Run();
  EXPECT_EQ(wanted_, std::vector<std::string>{"mco-empty-mc"});
  WriteConfig("50-a.json", "1");
  fs::rename(configs_ / "50-a.json", directory_ / "elsewhere.json");
  fs::create_symlink(directory_ / "elsewhere.json", configs_ / "50-a.json");
  Run();
  const std::string first = wanted_.back();
  EXPECT_THAT(first, StartsWith("rendered-local-"));
  // The target of the link, which is in another directory, is replaced.
  WriteConfig("new", "2");
  fs::rename(configs_ / "new", directory_ / "elsewhere.json");
  Run();
  EXPECT_NE(wanted_.back(), first);
}

TEST_F(LocalSourceTest, ADirectoryThatIsMadeLaterOrReplacedIsNoticed) {
  fs::remove(configs_);
  Begin();
  event::Settle(*loop_);
  EXPECT_TRUE(wanted_.empty());
  fs::create_directories(configs_);
  WriteConfig("50-a.json", "1");
  // The source may read before the directory is made, and while the file is written.
  while (!HasFailure() && (wanted_.empty() || wanted_.back() == "mco-empty-mc")) Run();
  ASSERT_FALSE(wanted_.empty());
  const std::string first = wanted_.back();
  EXPECT_THAT(first, StartsWith("rendered-local-"));
  fs::rename(configs_, directory_ / "old");
  fs::create_directories(configs_);
  WriteConfig("50-a.json", "2");
  while (!HasFailure() && (wanted_.back() == first || wanted_.back() == "mco-empty-mc")) Run();
  EXPECT_THAT(wanted_.back(), StartsWith("rendered-local-"));
}

TEST_F(LocalSourceTest, AnUnreadableFileIsReportedUntilItIsMendedAndChangesNothing) {
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

TEST_F(LocalSourceTest, AnUnreachableDirectoryRemovesNoConfig) {
  WriteConfig("50-a.json", "1");
  Begin();
  Run();
  ASSERT_EQ(wanted_.size(), 1u);
  fs::rename(configs_, directory_ / "unmounted");
  fs::create_symlink(directory_ / "mounted", configs_);
  Run();
  ASSERT_EQ(unusable_.size(), 1u);
  EXPECT_THAT(unusable_[0], HasSubstr("its target does not exist"));
  // Nothing happens in the watched directory: the kernel reports no mounts.
  fs::rename(directory_ / "unmounted", directory_ / "mounted");
  Run();
  EXPECT_EQ(unusable_.back(), "");
  EXPECT_EQ(wanted_.size(), 1u);
}

TEST_F(LocalSourceTest, ALinkIsFollowedWhenItsTargetIsCreated) {
  fs::create_symlink(directory_ / "mounted/50-a.json", configs_ / "50-a.json");
  Begin();
  Run();
  EXPECT_THAT(unusable_.back(), HasSubstr("50-a.json"));
  EXPECT_TRUE(wanted_.empty());
  WriteConfig("elsewhere", "1");
  fs::create_directory(directory_ / "made");
  fs::rename(configs_ / "elsewhere", directory_ / "made/50-a.json");
  fs::rename(directory_ / "made", directory_ / "mounted");
  Run();
  EXPECT_EQ(unusable_.back(), "");
  if (wanted_.empty()) Run();
  EXPECT_THAT(wanted_.back(), StartsWith("rendered-local-"));
}

TEST_F(LocalSourceTest, APipeIsReportedAndBlocksNothing) {
  WriteConfig("50-a.json", "1");
  ASSERT_EQ(::mkfifo((configs_ / "10-pipe.json").c_str(), 0644), 0);
  Begin();
  Run();
  ASSERT_EQ(wanted_.size(), 1u);
  EXPECT_THAT(wanted_[0], StartsWith("rendered-local-"));
  EXPECT_THAT(warnings_, testing::ElementsAre(HasSubstr("10-pipe.json is a pipe")));
}

TEST_F(LocalSourceTest, FilesThatAlwaysChangeAreRenderedAtIntervals) {
  std::string files;
  for (int i = 0; i < 2000; ++i) {
    files += fmt::format(R"({}{{"path":"/etc/{}","contents":{{"source":"data:,1"}}}})", i == 0 ? "" : ",", i);
  }
  for (const char* name : {"0", "1"}) {
    directory_.Write(name, R"({"ignition":{"version":"3.4.0"},"storage":{"files":[)" + files + "]}}");
  }
  int changes = 0;
  const auto change = [&] {
    // The two files take turns, since rename(2) does nothing if both names are of one inode.
    fs::create_hard_link(directory_ / std::to_string(++changes % 2), directory_ / "next");
    fs::rename(directory_ / "next", configs_ / "50-many.ign");
  };
  change();
  const OpenCounter opened(configs_);
  PassingClock clock;
  Begin(clock);
  std::function<void()> keep_changing = [&] {
    if (!wanted_.empty()) return;
    change();
    // The clock stops after a while, so that it stays far behind the real clock.
    if (changes <= 100) clock.Pass(std::chrono::milliseconds(50));
    loop_->Post(keep_changing);
  };
  loop_->Post(keep_changing);
  Run();
  ASSERT_EQ(wanted_.size(), 1u) << unusable_.back();
  // When the source reports this last config, all earlier work has ended.
  WriteConfig("60-last.json", "1");
  Run();
  ASSERT_EQ(wanted_.size(), 2u);
  ASSERT_GE(changes, 60);  // Sixty changes take three seconds by this clock.
  EXPECT_LT(opened.OpenCount("50-many.ign"), changes / 4);
}

// A clock whose wall time a test sets.
class SettableClock final : public Clock {
 public:
  explicit SettableClock(WallTime wall) : wall_(wall) {}
  MonotonicTime Monotonic() const override { return SystemClock().Monotonic(); }
  WallTime Wall() const override { return wall_; }
  void SetWallTime(WallTime wall) { wall_ = wall; }

 private:
  WallTime wall_;
};

constexpr const char* kNightly = R"(
apiVersion: pintle.io/v1alpha1
kind: RolloutPolicy
spec:
  windows: [{start: "02:00", duration: 1h}]
)";

TEST_F(LocalSourceTest, AGoalWaitsForTheNextWindow) {
  const WallTime opens = *FromRfc3339("2027-01-02T02:00:00Z");
  SettableClock clock(opens - std::chrono::milliseconds(50));
  std::ofstream(rollout_file_) << kNightly;
  WriteConfig("a.json", "1");
  Begin(clock);
  Run();
  EXPECT_THAT(held_, testing::ElementsAre(testing::MatchesRegex(
                         "the change to rendered-local-.* waits: the next window begins at 2027-01-02T02:00:00Z")));
  EXPECT_THAT(wanted_, testing::IsEmpty());
  clock.SetWallTime(opens);
  Run();
  EXPECT_EQ(wanted_.size(), 1U);
  EXPECT_THAT(held_.back(), "");
}

TEST_F(LocalSourceTest, AGoalThatWaitsForAWindowIsAnnouncedWhenTheWindowsAreRemoved) {
  SettableClock clock(*FromRfc3339("2027-01-02T12:00:00Z"));
  std::ofstream(rollout_file_) << kNightly;
  WriteConfig("a.json", "1");
  Begin(clock);
  Run();
  EXPECT_THAT(held_, testing::ElementsAre(HasSubstr("2027-01-03T02:00:00Z")));
  fs::remove(rollout_file_);
  Run();
  EXPECT_EQ(wanted_.size(), 1U);
}

TEST_F(LocalSourceTest, NothingIsAnnouncedWhileTheWindowsCannotBeRead) {
  std::ofstream(rollout_file_) << "kind: RolloutPolicy\nspec: {windwos: []}\n";
  WriteConfig("a.json", "1");
  Begin();
  Run();
  EXPECT_THAT(unusable_, testing::ElementsAre(HasSubstr(
                             "rollout.yaml: spec.windwos is not known on a machine without a cluster; remove it")));
  EXPECT_THAT(wanted_, testing::IsEmpty());
}

// A clock that runs as fast as the real one, from noon on, and that a test puts forward.
class LateClock final : public Clock {
 public:
  MonotonicTime Monotonic() const override { return MonotonicTime(std::chrono::seconds(1) + Elapsed()); }
  WallTime Wall() const override { return *FromRfc3339("2027-01-02T12:00:00Z") + Elapsed(); }
  void Pass(std::chrono::seconds time) { passed_ += time; }

 private:
  std::chrono::nanoseconds Elapsed() const { return SystemClock().Monotonic() - began_ + passed_; }

  const MonotonicTime began_ = SystemClock().Monotonic();
  std::chrono::seconds passed_{0};
};

// If files must be read again after Pass(), its time must be short: timers run by the machine's own monotonic clock,
// and LateClock must not get ahead of it.
class LocalSourceGateTest : public LocalSourceTest {
 protected:
  void WriteGate(const std::string& more = "", const std::string& windows = "") {
    std::ofstream(rollout_file_) << "kind: RolloutPolicy\nspec:\n  gates: [{name: backup, when: Before, http: {url: \""
                                 << server_.Url() << "\"}" << more << "}]\n"
                                 << windows;
  }
  // Lets time pass, and makes the source notice that by a change of a file.
  void Pass(std::chrono::seconds time) {
    clock_.Pass(time);
    ASSERT_EQ(::utimensat(AT_FDCWD, rollout_file_.c_str(), nullptr, 0), 0);
  }
  // Returns "" if there is no text.
  static std::string Last(const std::vector<std::string>& texts) { return texts.empty() ? "" : texts.back(); }
  // Runs until the last report about a change that waits has this text.
  void RunUntilHeld(const std::string& text) {
    while (!HasFailure() && Last(held_).find(text) == std::string::npos) Run();
  }
  // Runs until the source has read the files again.
  void RunUntilRead() {
    const fs::path pipe = configs_ / "10-pipe.json";  // It leads to a warning, and is no config.
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    stops_at_warnings_ = true;
    while (!HasFailure() && warnings_.empty()) Run();
  }
  void RunUntilWanted(std::size_t count) {
    while (!HasFailure() && wanted_.size() < count) Run();
  }
  // Asks for the first goal; the answer may have to wait for the gate.
  void BeginFetch() {
    source_->Fetch(std::nullopt, {wanted_[0]}, [this](Result<SurveyRequest> request) {
      answer_ = std::move(request);
      loop_->Stop();
    });
  }

  LateClock clock_;
  gates::AnsweringServer server_{503};
  std::optional<Result<SurveyRequest>> answer_;
};

TEST_F(LocalSourceGateTest, AGoalWaitsUntilTheGateIsMet) {
  WriteGate();
  WriteConfig("a.json", "1");
  Begin(clock_);
  RunUntilHeld("503");
  EXPECT_THAT(Last(held_), testing::MatchesRegex("the change to rendered-local-.* waits: gate backup is not met: the "
                                                 "server answers 503; it has not been met since 2027-01-02T12:.*Z"));
  EXPECT_THAT(wanted_, testing::IsEmpty());
  server_.Answer(200);
  Pass(std::chrono::seconds(30));
  RunUntilWanted(1);
  EXPECT_EQ(Last(held_), "");
  EXPECT_THAT(unusable_, testing::IsEmpty());
}

TEST_F(LocalSourceGateTest, AMachineThatHasItsGoalAsksNoGate) {
  WriteGate();
  Begin(clock_);
  RunUntilWanted(1);
  EXPECT_EQ(Last(wanted_), "mco-empty-mc");
  EXPECT_THAT(held_, testing::IsEmpty());
  event::Settle(*loop_);
  EXPECT_EQ(server_.requests(), 0);
}

TEST_F(LocalSourceGateTest, NoGateIsAskedOutsideOfTheWindows) {
  WriteGate("", "  windows: [{start: \"02:00\", duration: 1h}]\n");
  WriteConfig("a.json", "1");
  Begin(clock_);
  RunUntilHeld("the next window begins at 2027-01-03T02:00:00Z");
  Pass(std::chrono::hours(13));
  RunUntilHeld("the next window begins at 2027-01-03T02:00:00Z");
  event::Settle(*loop_);
  EXPECT_EQ(server_.requests(), 0);
  Pass(std::chrono::hours(1));
  RunUntilHeld("the server answers 503; it has not been met since 2027-01-03T02:");
  // When the window has closed, the gate does not block any more.
  Pass(std::chrono::hours(1));
  RunUntilHeld("the next window begins at 2027-01-04T02:00:00Z");
  Pass(std::chrono::hours(23));
  RunUntilHeld("the server answers 503; it has not been met since 2027-01-04T02:");
}

TEST_F(LocalSourceGateTest, AGateThatCannotBeReadKeepsTheChangeWaiting) {
  WriteGate(", timeout: soon");
  WriteConfig("a.json", "1");
  Begin(clock_);
  Run();
  EXPECT_THAT(unusable_, testing::ElementsAre(HasSubstr("rollout.yaml: spec.gates[0].timeout: \"soon\"")));
  EXPECT_THAT(wanted_, testing::IsEmpty());
}

TEST_F(LocalSourceGateTest, AGateHaltsTheChangeAfterItsTimeout) {
  WriteGate(", timeout: 1h, onTimeout: Halt");
  WriteConfig("a.json", "1");
  Begin(clock_);
  RunUntilHeld("503");
  EXPECT_THAT(unusable_, testing::IsEmpty());
  Pass(std::chrono::hours(1));
  RunUntilHeld("its timeout of 1 hour has passed");
  while (!HasFailure() && unusable_.empty()) Run();
  EXPECT_THAT(Last(unusable_),
              testing::MatchesRegex("the change to rendered-local-.* is halted: gate backup is not met: .*, and its "
                                    "timeout of 1 hour has passed; the change begins when the gate is met, or when you "
                                    "remove the gate from .*rollout.yaml"));
  EXPECT_THAT(wanted_, testing::IsEmpty());
  server_.Answer(200);
  Pass(std::chrono::seconds(30));
  RunUntilWanted(1);
  EXPECT_EQ(Last(unusable_), "");
  EXPECT_EQ(Last(held_), "");
}

TEST_F(LocalSourceGateTest, AGateLetsTheChangeBeginAfterItsTimeout) {
  WriteGate(", timeout: 1h, onTimeout: Continue");
  WriteConfig("a.json", "1");
  Begin(clock_);
  RunUntilHeld("503");
  Pass(std::chrono::minutes(59));
  event::Settle(*loop_);
  EXPECT_THAT(wanted_, testing::IsEmpty());
  Pass(std::chrono::minutes(1));
  RunUntilWanted(1);
}

TEST_F(LocalSourceGateTest, AChangeThatIsTakenBackNoLongerWaitsAndItsAnswersAreDropped) {
  WriteGate();
  Begin(clock_);
  RunUntilWanted(1);
  WriteConfig("a.json", "1");
  RunUntilHeld("503");
  fs::remove(configs_ / "a.json");
  while (!HasFailure() && Last(held_) != "") Run();
  EXPECT_EQ(wanted_.size(), 1U);
  // The answer from before was dropped, so the gate is asked anew for the next change.
  WriteConfig("a.json", "1");
  RunUntilHeld("there is no result yet");
}

TEST_F(LocalSourceGateTest, ATimeoutBeginsAgainIfTheChangeWasTakenBack) {
  WriteGate(", timeout: 1min, onTimeout: Continue");
  Begin(clock_);
  RunUntilWanted(1);
  WriteConfig("a.json", "1");
  RunUntilHeld("503");
  fs::remove(configs_ / "a.json");
  while (!HasFailure() && Last(held_) != "") Run();
  Pass(std::chrono::minutes(2));
  WriteConfig("a.json", "1");
  while (!HasFailure() && Last(held_) == "" && wanted_.size() == 1) Run();
  EXPECT_THAT(Last(held_), HasSubstr("it has not been met since 2027-01-02T12:02:"));
  EXPECT_EQ(wanted_.size(), 1U);
}

TEST_F(LocalSourceGateTest, ATimeoutBeginsAgainIfTheGateWasRemovedMeanwhile) {
  WriteGate(", timeout: 1min, onTimeout: Continue");
  WriteConfig("a.json", "1");
  Begin(clock_);
  RunUntilHeld("503");
  std::ofstream(rollout_file_) << "spec: {}\n";
  RunUntilWanted(1);
  // The change does not begin, for example because the agent has found an edit.  Meanwhile the gate is written again.
  Pass(std::chrono::minutes(2));
  WriteGate(", timeout: 1min, onTimeout: Continue");
  RunUntilRead();
  BeginFetch();
  while (!HasFailure() && Last(held_) == "" && !answer_) Run();
  EXPECT_THAT(Last(held_), HasSubstr("it has not been met since 2027-01-02T12:02:"));
  EXPECT_FALSE(answer_);
}

TEST_F(LocalSourceGateTest, AChangeThatFailedIsNotTriedAgainWhileTheRulesCannotBeRead) {
  server_.Answer(200);
  WriteGate();
  WriteConfig("a.json", "1");
  Begin(clock_);
  RunUntilWanted(1);
  WriteGate(", timeout: soon");
  while (!HasFailure() && Last(unusable_).empty()) Run();
  BeginFetch();
  while (!HasFailure() && Last(held_) == "" && !answer_) Run();
  EXPECT_THAT(Last(held_), testing::MatchesRegex("the change to rendered-local-.* waits: .*rollout.yaml: "
                                                 "spec.gates.0..timeout: \"soon\" .*"));
  EXPECT_FALSE(answer_);
  WriteGate();
  while (!HasFailure() && !answer_) Run();
  EXPECT_TRUE(Succeeded(*answer_));
  EXPECT_EQ(Last(held_), "");
  EXPECT_EQ(Last(unusable_), "");
}

TEST_F(LocalSourceGateTest, TheRulesAreReadAlsoIfTheConfigsCannotBeRead) {
  WriteConfig("a.json", "1");
  Begin(clock_);
  RunUntilWanted(1);
  std::ofstream(configs_ / "b.json") << "{";
  std::ofstream(rollout_file_) << "spec: {freeze: {until: \"2027-01-07\", reason: holidays}}\n";
  while (!HasFailure() && Last(unusable_).empty()) Run();
  BeginFetch();
  while (!HasFailure() && Last(held_) == "" && !answer_) Run();
  EXPECT_THAT(Last(held_), HasSubstr("the freeze (holidays) is not over"));
  EXPECT_FALSE(answer_);
}

TEST_F(LocalSourceGateTest, TheTargetOfALinkToTheRulesIsWatched) {
  fs::create_symlink(directory_ / "linked.yaml", rollout_file_);
  WriteGate();
  WriteConfig("a.json", "1");
  Begin(clock_);
  RunUntilHeld("503");
  event::Settle(*loop_);
  std::ofstream(directory_ / "new.yaml") << "spec: {}\n";
  fs::rename(directory_ / "new.yaml", directory_ / "linked.yaml");
  RunUntilWanted(1);
}

TEST_F(LocalSourceGateTest, AGoalThatAPersonHasAppliedMeanwhileDoesNotWait) {
  server_.Answer(200);
  WriteGate();
  WriteConfig("a.json", "1");
  Begin(clock_);
  RunUntilWanted(1);
  source_->ReportSettled({wanted_[0]});
  server_.Answer(503);
  WriteConfig("a.json", "2");
  RunUntilHeld("503");
  const std::size_t begin = Last(held_).find("rendered-local-");
  const std::string second = Last(held_).substr(begin, Last(held_).find(' ', begin) - begin);
  ASSERT_NE(second, wanted_[0]);
  // The agent still looks at the first goal, and has found that the machine has the second one.
  on_wanted_ = [&](const Goal& goal) { source_->Fetch(Goal{second}, goal, [](const Result<SurveyRequest>&) {}); };
  source_->Fetch(Goal{second}, {wanted_[0]}, [](const Result<SurveyRequest>&) {});
  RunUntilWanted(2);
  EXPECT_EQ(Last(wanted_), second);
  EXPECT_EQ(Last(held_), "");
}

TEST_F(LocalSourceGateTest, AChangeThatFailedWaitsForTheGateBeforeItIsTriedAgain) {
  server_.Answer(200);
  WriteGate();
  WriteConfig("a.json", "1");
  Begin(clock_);
  RunUntilWanted(1);
  server_.Answer(503);
  Pass(std::chrono::minutes(2));  // The first answer no longer counts.
  BeginFetch();
  RunUntilHeld("503");
  EXPECT_FALSE(answer_);
  server_.Answer(200);
  Pass(std::chrono::seconds(30));
  while (!HasFailure() && !answer_) Run();
  EXPECT_TRUE(Succeeded(*answer_));
  EXPECT_EQ(Last(held_), "");
}

TEST_F(LocalSourceTest, FetchesOnlyTheAnnouncedGoal) {
  WriteConfig("50-a.json", "1");
  Begin();
  Run();
  const auto request = Fetch({wanted_[0]});
  ASSERT_TRUE(Succeeded(request));
  ASSERT_TRUE(request->wanted);
  EXPECT_EQ(ValueOf(request->wanted->read()).ignition.storage.files.size(), 1u);
  EXPECT_EQ(Fetch({"rendered-local-gone"}).error().kind(), ErrorKind::kUnavailable);
}

TEST_F(LocalSourceTest, NeedsNoDrain) {
  Begin();
  Run();
  source_->AskForDrain({"rendered-local-1"});
  Run();
}

}  // namespace
}  // namespace pintle::agent
