// SPDX-License-Identifier: Apache-2.0
#include "agent/drift_watch.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "event/loop.h"
#include "support/expect.h"
#include "support/temporary_directory.h"
#include "unit/event/patience.h"

namespace pintle::agent {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

class DriftWatchTest : public testing::Test {
 protected:
  void Watch(std::vector<std::string> paths) {
    watch_ = ValueOf(DriftWatch::Create(*loop_, root_, std::move(paths), [this] { ++calls_; }));
  }

  // Returns how often the watch reported a change because of `happening`.
  int CallsAfter(const std::function<void()>& happening) {
    calls_ = 0;
    happening();
    RunToTheEndOfChanges();
    RunPastTheDelay();
    return calls_;
  }

  // Makes one more change and waits for it.  Changes are delivered in order, so all earlier ones have arrived then.
  void RunToTheEndOfChanges() {
    end_directory_.Write("end", "");
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  }

  // Sets a timer to the delay and waits for it.  Timers that were set to the delay earlier fire before it.
  void RunPastTheDelay() {
    event::Timer past(
        *loop_, [this] { loop_->Stop(); }, event::Slack(1));
    past.After(kDriftDelay + milliseconds(1));
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  }

  void MakeDirectory(const std::string& name) { fs::create_directories(directory_ / name); }
  void Write(const std::string& name, const std::string& contents = "1") {
    MakeDirectory(fs::path(name).parent_path());
    directory_.Write(name, contents);
  }
  void Rename(const std::string& from, const std::string& to) { fs::rename(directory_ / from, directory_ / to); }

  TemporaryDirectory directory_;
  Root root_ = ValueOf(Root::Open(directory_.path()));
  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  // This directory is created first, so that it cannot reuse the inode number of a deleted directory.
  TemporaryDirectory end_directory_;
  event::InotifyWatch end_ = ValueOf(event::InotifyWatch::Create(*loop_, end_directory_.path(), IN_CLOSE_WRITE,
                                                                 [this](const event::FileEvent&) { loop_->Stop(); }));
  std::unique_ptr<DriftWatch> watch_;
  int calls_ = 0;
};

struct Change {
  const char* name;
  void (*make)(const std::string& file);
};

class ChangeOfAFile : public DriftWatchTest, public testing::WithParamInterface<Change> {};

TEST_P(ChangeOfAFile, IsReported) {
  Write("etc/managed");
  Write("etc/managed-not", "2");
  Watch({"/etc/managed"});
  ASSERT_FALSE(watch_->problem());
  EXPECT_GE(CallsAfter([&] { GetParam().make(directory_ / "etc/managed"); }), 1);
}

const Change kChanges[] = {
    {"Contents", [](const std::string& file) { std::ofstream(file) << "other"; }},
    {"Truncation", [](const std::string& file) { EXPECT_EQ(::truncate(file.c_str(), 0), 0); }},
    {"RenameAway", [](const std::string& file) { fs::rename(file, file + "-old"); }},
    {"RenameOver", [](const std::string& file) { fs::rename(file + "-not", file); }},
    {"Removal", [](const std::string& file) { fs::remove(file); }},
    {"Mode", [](const std::string& file) { EXPECT_EQ(::chmod(file.c_str(), 0600), 0); }},
    {"Owner",
     [](const std::string& file) {
       // Only root may give the file away; a user may give it to itself, which the kernel reports as well.
       const bool is_root = ::geteuid() == 0;
       EXPECT_EQ(::chown(file.c_str(), is_root ? 1 : ::geteuid(), is_root ? 1 : ::getegid()), 0);
     }},
    {"Attribute",
     [](const std::string& file) {
       EXPECT_EQ(::setxattr(file.c_str(), "user.a", "1", 1, 0), 0) << std::strerror(errno);
     }},
    {"Replacement",
     [](const std::string& file) {
       fs::remove(file);
       fs::create_directory(file);
     }},
};
INSTANTIATE_TEST_SUITE_P(DriftWatch, ChangeOfAFile, testing::ValuesIn(kChanges),
                         [](const auto& change) { return change.param.name; });

TEST_F(DriftWatchTest, ReportsEachFurtherChange) {
  Write("etc/managed");
  Watch({"/etc/managed"});
  for (int i = 0; i < 3; ++i) EXPECT_GE(CallsAfter([&] { Write("etc/managed"); }), 1);
}

TEST_F(DriftWatchTest, ReportsABurstOnce) {
  Write("etc/managed");
  Watch({"/etc/managed"});
  const int calls = CallsAfter([&] {
    for (int i = 0; i < 100; ++i) Write("etc/managed", std::to_string(i));
  });
  EXPECT_GE(calls, 1);
  EXPECT_LT(calls, 10);  // There is more than one call if the machine is very slow.
}

TEST_F(DriftWatchTest, ReportsNothingWithoutAChange) {
  Write("etc/managed");
  Watch({"/etc/managed"});
  EXPECT_EQ(CallsAfter([] {}), 0);
}

TEST_F(DriftWatchTest, IgnoresOtherNames) {
  Write("etc/managed");
  Write("etc/other");
  Write("etc/managed.d/deep");
  MakeDirectory("var/log");
  Watch({"/etc/managed", "/var/log/journal/size"});
  EXPECT_EQ(CallsAfter([&] {
              Write("etc/other", "2");
              Rename("etc/other", "etc/another");
              fs::remove(directory_ / "etc/another");
              Write("etc/managed.d/deep", "2");
              Write("new/managed");
              Write("var/log/messages");
              EXPECT_EQ(::chmod((directory_ / "var/log").c_str(), 0700), 0);
            }),
            0);
}

TEST_F(DriftWatchTest, ReportsAChangeInAManagedDirectory) {
  Write("etc/directory/file");
  Watch({"/etc/directory", "/etc/directory/file"});
  EXPECT_GE(CallsAfter([&] { EXPECT_EQ(::chmod((directory_ / "etc/directory").c_str(), 0700), 0); }), 1);
  EXPECT_GE(CallsAfter([&] { Write("etc/directory/file", "2"); }), 1);
  EXPECT_EQ(CallsAfter([&] { Write("etc/directory/other"); }), 0);
}

TEST_F(DriftWatchTest, FindsAParentThatWasRenamedAwayAndBack) {
  Write("a/b/managed");
  Watch({"/a/b/managed"});
  EXPECT_GE(CallsAfter([&] { Rename("a/b", "a/away"); }), 1);
  EXPECT_EQ(CallsAfter([&] { Write("a/away/managed", "2"); }), 0);
  EXPECT_GE(CallsAfter([&] { Rename("a/away", "a/b"); }), 1);
  EXPECT_GE(CallsAfter([&] { Write("a/b/managed", "3"); }), 1);
}

TEST_F(DriftWatchTest, FollowsTheReplacementOfADirectoryHighUp) {
  Write("a/b/c/managed");
  Write("other/b/c/managed");
  Watch({"/a/b/c/managed"});
  EXPECT_GE(CallsAfter([&] {
              Rename("a", "away");
              Rename("other", "a");
            }),
            1);
  EXPECT_EQ(CallsAfter([&] { Write("away/b/c/managed", "2"); }), 0);
  EXPECT_GE(CallsAfter([&] { Write("a/b/c/managed", "2"); }), 1);
}

// The new directory often has the inode number of the old one.
TEST_F(DriftWatchTest, FindsAParentThatWasRemovedAndMadeAgain) {
  Write("a/b/managed");
  Watch({"/a/b/managed"});
  for (int i = 0; i < 5; ++i) {
    EXPECT_GE(CallsAfter([&] {
                fs::remove_all(directory_ / "a");
                MakeDirectory("a/b");
              }),
              1);
    RunPastTheDelay();
    EXPECT_GE(CallsAfter([&] { Write("a/b/managed"); }), 1);
  }
}

TEST_F(DriftWatchTest, FindsAPathThatDidNotExist) {
  Watch({"/a/b/c/managed"});
  EXPECT_GE(CallsAfter([&] { MakeDirectory("a"); }), 1);
  EXPECT_GE(CallsAfter([&] { MakeDirectory("a/b/c"); }), 1);
  EXPECT_GE(CallsAfter([&] { Write("a/b/c/managed"); }), 1);
  EXPECT_GE(CallsAfter([&] { Write("a/b/c/managed", "2"); }), 1);
}

TEST_F(DriftWatchTest, ReportsAFileThatReplacesADirectory) {
  Write("a/b");
  Watch({"/a/b/managed"});
  EXPECT_GE(CallsAfter([&] {
              fs::remove(directory_ / "a/b");
              Write("a/b/managed");
            }),
            1);
  EXPECT_GE(CallsAfter([&] { Write("a/b/managed", "2"); }), 1);
}

TEST_F(DriftWatchTest, FollowsSymlinksOnTheWayWithinTheRoot) {
  Write("var/home/core/managed");
  Write("srv/core/managed");
  fs::create_symlink("../../../var/home", directory_ / "home");
  fs::create_symlink("/home/core", directory_ / "user");
  Watch({"/user/managed"});
  EXPECT_GE(CallsAfter([&] { Write("var/home/core/managed", "2"); }), 1);
  EXPECT_GE(CallsAfter([&] {
              fs::remove(directory_ / "home");
              fs::create_symlink("/srv", directory_ / "home");
            }),
            1);
  EXPECT_EQ(CallsAfter([&] { Write("var/home/core/managed", "3"); }), 0);
  EXPECT_GE(CallsAfter([&] { Write("srv/core/managed", "2"); }), 1);
}

TEST_F(DriftWatchTest, GivesUpOnSymlinksThatLeadInACircle) {
  fs::create_symlink("b", directory_ / "a");
  fs::create_symlink("a", directory_ / "b");
  Watch({"/a/managed"});
  EXPECT_FALSE(watch_->problem());
  EXPECT_GE(CallsAfter([&] {
              fs::remove(directory_ / "b");
              Write("b/managed");
            }),
            1);
  EXPECT_GE(CallsAfter([&] { Write("b/managed", "2"); }), 1);
}

TEST_F(DriftWatchTest, ReportsASymlinkButNotItsTarget) {
  Write("etc/target");
  fs::create_symlink("target", directory_ / "etc/managed");
  Watch({"/etc/managed"});
  EXPECT_EQ(CallsAfter([&] { Write("etc/target", "2"); }), 0);
  EXPECT_GE(CallsAfter([&] { fs::remove(directory_ / "etc/managed"); }), 1);
}

TEST_F(DriftWatchTest, AcceptsPathsInAnySpelling) {
  Write("etc/a/managed");
  Watch({"//etc/./a/../a//managed/", "/etc/a/managed", "/etc/a/managed"});
  EXPECT_GE(CallsAfter([&] { Write("etc/a/managed", "2"); }), 1);
}

TEST_F(DriftWatchTest, ReportsAnOverflowOfTheQueue) {
  int limit = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> limit;
  ASSERT_GT(limit, 0);
  for (const char* name : {"etc/managed", "etc/a", "etc/b"}) Write(name);
  Watch({"/etc/managed"});
  calls_ = 0;
  // The files take turns, since the kernel merges two equal events in a row.
  for (int i = 0; i <= limit; ++i) ASSERT_EQ(::chmod((directory_ / (i % 2 == 0 ? "etc/a" : "etc/b")).c_str(), 0600), 0);
  // The kernel reports the overflow behind the last event that fits into the queue.
  event::Settle(*loop_);
  while (calls_ == 0 && !HasFailure()) RunPastTheDelay();
  EXPECT_GE(CallsAfter([&] { Write("etc/managed", "2"); }), 1);
}

TEST_F(DriftWatchTest, WatchesManyDirectoriesInSeveralTurns) {
  std::vector<std::string> paths;
  for (int i = 0; i < 300; ++i) {
    MakeDirectory(fmt::format("etc/{}", i));
    paths.push_back(fmt::format("/etc/{}/managed", i));
  }
  Watch(paths);
  while (calls_ == 0 && !HasFailure()) RunPastTheDelay();  // Waits until all of them are watched.
  EXPECT_FALSE(watch_->problem());
  for (const int i : {0, 150, 299}) EXPECT_GE(CallsAfter([&] { Write(fmt::format("etc/{}/managed", i)); }), 1) << i;
}

TEST_F(DriftWatchTest, TakesLittleMemory) {
  std::vector<std::string> paths;
  for (int i = 0; i < 2000; ++i) {
    if (i < 100) MakeDirectory(fmt::format("etc/directory-{}", i));
    paths.push_back(fmt::format("/etc/directory-{}/some-managed-file-{}.conf", i % 100, i));
  }
  const std::size_t before = ::mallinfo2().uordblks;
  Watch(std::move(paths));
  const std::size_t taken = ::mallinfo2().uordblks - before;
  RecordProperty("bytes", std::to_string(taken));
  EXPECT_LT(taken, 512U << 10);  // The list of paths was allocated before, so it does not count.
}

// Lets the process open only `more` further descriptors.
class FewDescriptors {
 public:
  explicit FewDescriptors(int more) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    std::vector<UniqueFd> room;
    for (int i = 0; i < more; ++i) room.emplace_back(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0));
    const rlimit few = {static_cast<rlim_t>(room.back().get()) + 1, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_ = {};
};

TEST_F(DriftWatchTest, ReportsAWatchThatFailedAndRetries) {
  Write("a/b/managed");
  const event::Timer opens_timerfd(*loop_, [] {});  // Makes sd-event open its timerfd while descriptors are not few.
  {
    RunPastTheDelay();            // Closes what sd-event has opened so far.
    const FewDescriptors few(2);  // This is enough for the topmost directory only.
    Watch({"/a/b/managed"});
    EXPECT_FALSE(watch_->problem());
    RunPastTheDelay();
  }
  ASSERT_TRUE(watch_->problem());
  EXPECT_EQ(watch_->problem()->errno_value(), EMFILE) << watch_->problem()->message();
  EXPECT_FALSE(watch_->is_armed());
  ASSERT_EQ(WarningsOf(*watch_).size(), 1U);
  EXPECT_NE(WarningsOf(*watch_).front().find("found only after 60 s"), std::string::npos);
  EXPECT_GE(CallsAfter([&] {
              Rename("a", "away");
              Rename("away", "a");
            }),
            1);
  EXPECT_TRUE(watch_->is_armed());
  EXPECT_TRUE(WarningsOf(*watch_).empty());
  EXPECT_GE(CallsAfter([&] { Write("a/b/managed", "2"); }), 1);
}

TEST_F(DriftWatchTest, MayBeDestroyedInItsCallback) {
  Write("etc/managed");
  watch_ = ValueOf(DriftWatch::Create(*loop_, root_, {"/etc/managed"}, [this, held = std::make_shared<int>(7)] {
    watch_.reset();
    calls_ += *held;
  }));
  EXPECT_EQ(CallsAfter([&] { Write("etc/managed", "2"); }), 7);
}

TEST_F(DriftWatchTest, RefusesAPathWithoutADirectory) {
  EXPECT_EQ(MessageOf(DriftWatch::Create(*loop_, root_, {"etc/managed"}, [] {})),
            "watching \"etc/managed\": it is not an absolute path");
  EXPECT_EQ(MessageOf(DriftWatch::Create(*loop_, root_, {"/./"}, [] {})), "watching \"/\": it has no parent directory");
}

TEST_F(DriftWatchTest, MayHaveNoPaths) {
  Watch({});
  EXPECT_EQ(CallsAfter([&] { Write("etc/managed"); }), 0);
}

}  // namespace
}  // namespace pintle::agent
