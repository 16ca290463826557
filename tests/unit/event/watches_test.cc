// SPDX-License-Identifier: Apache-2.0
#include "event/watches.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <optional>
#include <vector>

#include "event/loop.h"
#include "support/expect.h"
#include "support/temporary_directory.h"
#include "unit/event/patience.h"

namespace pintle::event {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

class Watches : public testing::Test {
 protected:
  std::unique_ptr<Loop> loop_ = ValueOf(Loop::Create());
};

struct Pipe {
  Pipe() {
    std::array<int, 2> ends;
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) std::abort();
    out.Reset(ends[0]);
    in.Reset(ends[1]);
  }
  void Write() const { EXPECT_EQ(::write(in.get(), "x", 1), 1); }
  void Read() const {
    char byte;
    EXPECT_EQ(::read(out.get(), &byte, 1), 1);
  }

  UniqueFd out;
  UniqueFd in;
};

using TimerTest = Watches;

TEST_F(TimerTest, FiresOnceForEachTimeItIsSet) {
  int fired = 0;
  Timer timer(*loop_, [&] {
    ++fired;
    loop_->Stop();
  });
  timer.After(milliseconds(0));
  EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
  EXPECT_FALSE(timer.armed());
  Settle(*loop_);
  EXPECT_EQ(fired, 1);
  timer.After(milliseconds(0));
  EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
  EXPECT_EQ(fired, 2);
}

TEST_F(TimerTest, MayBeSetAgainInItsCallback) {
  int left = 3;
  std::optional<Timer> timer;
  timer.emplace(
      *loop_, [&] { --left == 0 ? loop_->Stop() : timer->After(milliseconds(0)); }, Slack(1));
  timer->After(milliseconds(0));
  EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
}

TEST_F(TimerTest, FiresInTheOrderOfTheTimesAndNotBeforeThem) {
  std::vector<int> fired;
  const MonotonicTime start = std::chrono::steady_clock::now();
  Timer later(
      *loop_, [&] { loop_->Stop(); }, Slack(1));
  Timer sooner(
      *loop_, [&] { fired.push_back(1); }, Slack(1));
  later.At(start + milliseconds(20));
  sooner.At(start + milliseconds(10));
  EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
  EXPECT_EQ(fired, std::vector{1});
  EXPECT_GE(std::chrono::steady_clock::now(), start + milliseconds(20));
}

TEST_F(TimerTest, FiresAtOnceForATimeThatHasPassed) {
  Timer timer(*loop_, [&] { loop_->Stop(); });
  timer.At(MonotonicTime() - hours(1));
  EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
}

TEST_F(TimerTest, CanBeSetToATimeThatNeverComes) {
  Timer timer(*loop_, [&] { FAIL() << "the end of time"; });
  timer.At(MonotonicTime::max());
  EXPECT_TRUE(timer.armed());
  Settle(*loop_);
}

TEST_F(TimerTest, DoesNotFireWhenItIsCancelledNorBeforeItIsSet) {
  Timer never_set(*loop_, [&] { FAIL() << "it was not set"; });
  Timer cancelled(*loop_, [&] { FAIL() << "it was cancelled"; });
  cancelled.After(milliseconds(0));
  cancelled.Cancel();
  EXPECT_FALSE(cancelled.armed());
  Settle(*loop_);
}

TEST_F(TimerTest, MayBeDestroyedInItsOwnCallback) {
  std::optional<Timer> timer;
  timer.emplace(*loop_, [this, &timer, held = std::make_shared<int>(7)] {
    timer.reset();
    EXPECT_EQ(*held, 7);
    loop_->Stop();
  });
  timer->After(milliseconds(0));
  EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
}

TEST_F(TimerTest, FiresAfterItWasMoved) {
  Timer first(*loop_, [&] { loop_->Stop(); });
  first.After(milliseconds(0));
  Timer second = std::move(first);
  Timer third(*loop_, [] { FAIL() << "another took its place"; });
  third.After(milliseconds(0));
  third = std::move(second);
  EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
}

TEST_F(TimerTest, MayUseWallTime) {
  const WallTime start = std::chrono::system_clock::now();
  WallTimer timer(
      *loop_, [&] { loop_->Stop(); }, Slack(1));
  timer.At(start + milliseconds(10));
  EXPECT_TRUE(timer.armed());
  EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
  EXPECT_GE(std::chrono::system_clock::now(), start + milliseconds(10));
}

TEST_F(TimerTest, OfWallTimeDoesNotFireWhenItIsCancelled) {
  WallTimer timer(*loop_, [&] { FAIL() << "it was cancelled"; });
  timer.At(WallTime());
  timer.Cancel();
  Settle(*loop_);
}

using FdWatchTest = Watches;

TEST_F(FdWatchTest, CallsWhileTheDescriptorIsReadable) {
  const Pipe pipe;
  int calls = 0;
  const FdWatch watch = ValueOf(FdWatch::Create(*loop_, pipe.out.get(), {.readable = true}, [&](FdReadiness ready) {
    EXPECT_TRUE(ready.readable);
    EXPECT_FALSE(ready.writable);
    pipe.Read();
    if (++calls == 2) loop_->Stop();
  }));
  pipe.Write();
  pipe.Write();
  EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
  Settle(*loop_);
  EXPECT_EQ(calls, 2);
}

TEST_F(FdWatchTest, WaitsForTheWantedEvents) {
  const Pipe pipe;
  FdWatch watch = ValueOf(FdWatch::Create(*loop_, pipe.in.get(), {}, [&](FdReadiness ready) {
    EXPECT_TRUE(ready.writable);
    loop_->Stop(Error(ErrorKind::kInvalid, "writable"));
  }));
  Settle(*loop_);
  watch.WaitFor({.writable = true});
  EXPECT_EQ(MessageOf(RunPatiently(*loop_)), "writable");
  watch.WaitFor({});
  Settle(*loop_);
}

TEST_F(FdWatchTest, ReportsThatTheOtherEndIsClosed) {
  Pipe pipe;
  const FdWatch watch = ValueOf(FdWatch::Create(*loop_, pipe.in.get(), {}, [&](FdReadiness ready) {
    EXPECT_TRUE(ready.broken);
    loop_->Stop();
  }));
  pipe.out.Reset();
  EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
}

TEST_F(FdWatchTest, MayBeDestroyedInTheCallbackOfAnother) {
  const Pipe first;
  const Pipe second;
  std::array<std::optional<FdWatch>, 2> watches;
  int calls = 0;
  const auto destroy_both = [&](FdReadiness) {
    ++calls;
    for (auto& watch : watches) watch.reset();
  };
  watches[0] = ValueOf(FdWatch::Create(*loop_, first.out.get(), {.readable = true}, destroy_both));
  watches[1] = ValueOf(FdWatch::Create(*loop_, second.out.get(), {.readable = true}, destroy_both));
  first.Write();
  second.Write();
  Settle(*loop_);
  EXPECT_EQ(calls, 1);
}

TEST_F(FdWatchTest, CannotWatchAFile) {
  const TemporaryDirectory directory;
  directory.Write("file", "");
  const UniqueFd file(::open((directory / "file").c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(MessageOf(FdWatch::Create(*loop_, file.get(), {.readable = true}, [](FdReadiness) {})),
            "watching a descriptor: sd_event_add_io: Operation not permitted");
}

using SignalWatchTest = Watches;

TEST_F(SignalWatchTest, ReceivesASignalThatWouldEndTheProcess) {
  std::vector<int> got;
  const auto take = [&](int signal) {
    got.push_back(signal);
    if (got.size() == 2) loop_->Stop();
  };
  const SignalWatch terminate = ValueOf(SignalWatch::Create(*loop_, SIGTERM, take));
  const SignalWatch interrupt = ValueOf(SignalWatch::Create(*loop_, SIGINT, take));
  ::kill(::getpid(), SIGTERM);
  ::kill(::getpid(), SIGINT);
  EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
  EXPECT_THAT(got, testing::UnorderedElementsAre(SIGTERM, SIGINT));
}

TEST_F(SignalWatchTest, ReceivesABlockedSignalThatCameBeforeIt) {
  BlockSignals({SIGUSR1});
  ::kill(::getpid(), SIGUSR1);
  int received = 0;
  const SignalWatch watch = ValueOf(SignalWatch::Create(*loop_, SIGUSR1, [&](int signal) {
    received = signal;
    loop_->Stop();
  }));
  EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
  EXPECT_EQ(received, SIGUSR1);
}

TEST_F(SignalWatchTest, LeavesTheSignalBlockedAtItsEnd) {
  {
    const SignalWatch watch = ValueOf(SignalWatch::Create(*loop_, SIGUSR1, [](int) { FAIL() << "it is gone"; }));
  }
  ::kill(::getpid(), SIGUSR1);
  Settle(*loop_);
  int received = 0;
  const SignalWatch next = ValueOf(SignalWatch::Create(*loop_, SIGUSR1, [&](int signal) {
    received = signal;
    loop_->Stop();
  }));
  EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
  EXPECT_EQ(received, SIGUSR1);
}

TEST_F(SignalWatchTest, RefusesASecondOwnerOfASignal) {
  const SignalWatch watch = ValueOf(SignalWatch::Create(*loop_, SIGUSR2, [](int) {}));
  EXPECT_EQ(MessageOf(SignalWatch::Create(*loop_, SIGUSR2, [](int) {})),
            "watching for SIGUSR2: sd_event_add_signal: Device or resource busy");
}

class InotifyWatchTest : public Watches {
 protected:
  std::function<void(const FileEvent&)> Collect() {
    return [this](const FileEvent& happening) { happenings_.push_back(happening); };
  }
  std::vector<std::string> ChangedNames() const {
    std::vector<std::string> names;
    for (const FileEvent& happening : happenings_) {
      if (const auto* changed = std::get_if<FileChanged>(&happening)) names.push_back(changed->name);
    }
    return names;
  }
  // The loop stops when this file appears: by then it has delivered all earlier changes.
  void RunToTheEndOfChanges() {
    const TemporaryDirectory other_directory;
    const InotifyWatch end = ValueOf(
        InotifyWatch::Create(*loop_, other_directory.path(), IN_CREATE, [this](const FileEvent&) { loop_->Stop(); }));
    other_directory.Write("end", "");
    EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
  }

  TemporaryDirectory directory_;
  std::vector<FileEvent> happenings_;
};

TEST_F(InotifyWatchTest, ReportsWhichFileInADirectoryChangedAndHow) {
  const InotifyWatch watch =
      ValueOf(InotifyWatch::Create(*loop_, directory_.path(), IN_CLOSE_WRITE | IN_DELETE, Collect()));
  directory_.Write("a", "1");
  std::filesystem::remove(directory_ / "a");
  RunToTheEndOfChanges();
  ASSERT_EQ(ChangedNames(), (std::vector<std::string>{"a", "a"}));
  EXPECT_EQ(std::get<FileChanged>(happenings_[0]).mask, IN_CLOSE_WRITE);
  EXPECT_EQ(std::get<FileChanged>(happenings_[1]).mask, IN_DELETE);
}

TEST_F(InotifyWatchTest, ReportsNoNameForAWatchedFileItself) {
  directory_.Write("a", "1");
  const InotifyWatch watch = ValueOf(InotifyWatch::Create(*loop_, directory_ / "a", IN_CLOSE_WRITE, Collect()));
  directory_.Write("a", "2");
  RunToTheEndOfChanges();
  EXPECT_EQ(ChangedNames(), std::vector<std::string>{""});
}

TEST_F(InotifyWatchTest, FollowsAnOpenedFileThroughRenames) {
  std::filesystem::create_directory(directory_ / "before");
  std::optional<InotifyWatch> watch;
  {
    const UniqueFd opened(::open((directory_ / "before").c_str(), O_PATH | O_CLOEXEC));
    watch = ValueOf(InotifyWatch::Create(*loop_, opened, IN_CREATE, Collect()));
  }
  std::filesystem::rename(directory_ / "before", directory_ / "after");
  directory_.Write("after/new", "");
  RunToTheEndOfChanges();
  EXPECT_EQ(ChangedNames(), std::vector<std::string>{"new"});
}

TEST_F(InotifyWatchTest, ReportsItsEnd) {
  std::filesystem::create_directory(directory_ / "short-lived");
  const InotifyWatch watch =
      ValueOf(InotifyWatch::Create(*loop_, directory_ / "short-lived", IN_CREATE, [&](const FileEvent& happening) {
        EXPECT_TRUE(std::holds_alternative<FileWatchEnded>(happening));
        loop_->Stop();
      }));
  std::filesystem::remove(directory_ / "short-lived");
  EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
}

TEST_F(InotifyWatchTest, ReportsLostChanges) {
  int limit = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> limit;
  ASSERT_GT(limit, 0);
  directory_.Write("a", "");
  directory_.Write("b", "");
  const InotifyWatch watch =
      ValueOf(InotifyWatch::Create(*loop_, directory_.path(), IN_ATTRIB, [&](const FileEvent& happening) {
        if (std::holds_alternative<FileChangesLost>(happening)) loop_->Stop();
      }));
  // The files take turns, since the kernel merges two equal events in a row.
  for (int i = 0; i <= limit; ++i) ASSERT_EQ(::chmod((directory_ / (i % 2 == 0 ? "a" : "b")).c_str(), 0600), 0);
  EXPECT_TRUE(Succeeded(RunPatiently(*loop_)));
}

TEST_F(InotifyWatchTest, MayBeDestroyedInItsCallbackBeforeMoreEvents) {
  std::optional<InotifyWatch> watch;
  int calls = 0;
  watch = ValueOf(InotifyWatch::Create(*loop_, directory_.path(), IN_CREATE, [&](const FileEvent&) {
    ++calls;
    watch.reset();
  }));
  directory_.Write("a", "");
  directory_.Write("b", "");
  RunToTheEndOfChanges();
  EXPECT_EQ(calls, 1);
}

TEST_F(InotifyWatchTest, MayBeDestroyedWhileAnotherWatchOfTheSameFileHasEvents) {
  const InotifyWatch narrow = ValueOf(InotifyWatch::Create(*loop_, directory_.path(), IN_DELETE, Collect()));
  std::optional<InotifyWatch> wide =
      ValueOf(InotifyWatch::Create(*loop_, directory_.path(), IN_CLOSE_WRITE, Collect()));
  directory_.Write("a", "1");
  wide.reset();
  RunToTheEndOfChanges();
  EXPECT_TRUE(happenings_.empty());
}

// Runs in a process of its own, in a user namespace in which nobody may watch anything; prints the error.
[[noreturn]] void WatchWhereNothingMayBeWatched(const std::string& path) {
  std::string message = "no user namespaces here";
  if (::unshare(CLONE_NEWUSER) == 0 && (std::ofstream("/proc/sys/user/max_inotify_watches") << 0).flush()) {
    const auto loop = ValueOf(Loop::Create());  // A loop that was made before belongs to the parent process.
    message = MessageOf(InotifyWatch::Create(*loop, path, IN_CREATE, [](const FileEvent&) {}));
  }
  std::fputs(message.c_str(), stderr);
  ::_exit(0);
}

TEST_F(InotifyWatchTest, NamesTheSettingWhenThereAreTooFewWatches) {
  EXPECT_EXIT(WatchWhereNothingMayBeWatched(directory_.path()), testing::ExitedWithCode(0),
              "raise the sysctl fs.inotify.max_user_watches: No space|no user namespaces here");
}

TEST_F(InotifyWatchTest, IsAnErrorForAMissingFile) {
  EXPECT_EQ(MessageOf(InotifyWatch::Create(*loop_, "/nonexistent", IN_CREATE, Collect())),
            "watching /nonexistent: inotify: No such file or directory");
}

}  // namespace
}  // namespace pintle::event
