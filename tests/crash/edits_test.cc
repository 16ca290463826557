// SPDX-License-Identifier: Apache-2.0

// Tests the promise for edits: whenever someone edits a file during a change, the edit is there in the end.

#include <fmt/core.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <system_error>

#include "change/apply.h"
#include "change/findings.h"
#include "crash/faults.h"
#include "crash/histories.h"
#include "support/configs.h"
#include "support/expect.h"
#include "support/small_machine.h"
#include "support/temporary_directory.h"
#include "support/tree.h"

namespace pintle::crash {
namespace {

namespace fs = std::filesystem;
using change::Everything;
using change::NoConfig;
using change::Reworded;
using change::SmallMachine;

struct Edit {
  const char* name;
  std::function<void(const fs::path& file)> make;
};

const Edit kWrittenTo = {"written to",
                         [](const fs::path& file) { std::ofstream(file, std::ios::app) << " and edited"; }};

const Edit kEdits[] = {
    kWrittenTo,
    {"replaced",
     [](const fs::path& file) {
       std::ofstream(file.string() + "~") << " and edited";
       fs::rename(file.string() + "~", file);
     }},
};

// Selects whether the file system can exchange two names.
enum class Exchange { kPossible, kImpossible };

class AnEdit : public testing::Test {
 protected:
  static void SetUpTestSuite() { UseMemoryFileSystem(); }

  // Checks that an edit of a file survives.  Both configs have the file, or only the first one.
  static void IsThereInTheEnd(plan::TestConfig (*to)(), const std::string& path, std::span<const Edit> edits = kEdits,
                              Exchange exchange = Exchange::kPossible) {
    int histories = 0;
    for (const Edit& edit : edits) {
      for (int at = 1;; ++at, ++histories) {
        const TemporaryDirectory directory;
        SmallMachine machine(directory.path());
        ASSERT_TRUE(Succeeded(machine.GoFromTo(NoConfig(), Everything())));
        // The file `edited` records whether the edit was made, which is impossible if the file is already gone.  The
        // code under test makes some calls as a user, so a user must be able to write this record.
        machine.Write("edited", "");
        fs::permissions(directory / "edited", fs::perms(0666));
        const auto meanwhile = [&] {
          const bool is_there = fs::exists(directory / path);
          if (is_there) edit.make(directory / path);
          machine.Write("edited", is_there ? "yes" : "no");
        };
        const Fault fault = {.at = at,
                             .kind = FaultKind::kMeanwhile,
                             .errno_value = 0,
                             .meanwhile = meanwhile,
                             .cannot_exchange = exchange == Exchange::kImpossible};
        const History history = RunWith(fault, [&] { return machine.GoFromTo(Everything(), to()).has_value(); });
        if (!history.fault_met) break;
        CountHistory();
        SCOPED_TRACE(fmt::format("{} {} at call {}", path, edit.name, at));
        const bool is_made = history.ending == Ending::kSucceeded;
        if (machine.Read("edited") == "no") {
          ASSERT_TRUE(is_made);
          continue;
        }
        ASSERT_THAT(machine.Read(path), testing::HasSubstr("and edited"));
        ASSERT_THAT(ValueOf(change::FindingsOn(machine.host(), is_made ? to() : Everything())),
                    testing::Not(testing::IsEmpty()));
        ASSERT_EQ(ValueOf(change::Recover(machine.host())).how, change::Recovery::kNothingToDo);
      }
    }
    fmt::print("{} histories\n", histories);
    EXPECT_GT(histories, 25 * static_cast<int>(edits.size()));
  }
};

TEST_F(AnEdit, OfAChangedFileIsKept) {
  ASSERT_NO_FATAL_FAILURE(IsThereInTheEnd(Reworded, "etc/motd"));
  ASSERT_NO_FATAL_FAILURE(IsThereInTheEnd(Reworded, "etc/new/deep/file"));
}

TEST_F(AnEdit, OfAFileThatCannotBeExchangedIsKept) {
  ASSERT_NO_FATAL_FAILURE(IsThereInTheEnd(Reworded, "etc/motd", std::span(&kWrittenTo, 1), Exchange::kImpossible));
}

TEST_F(AnEdit, OfARemovedFileIsKept) { ASSERT_NO_FATAL_FAILURE(IsThereInTheEnd(NoConfig, "etc/new/deep/file")); }

TEST_F(AnEdit, BetweenACutAndTheRecoveryIsKeptAndLeavesNoOtherFile) {
  for (const Edit& edit : kEdits) {
    int histories = 0;
    for (int at = 1;; ++at, ++histories) {
      const TemporaryDirectory directory;
      SmallMachine machine(directory.path());
      ASSERT_TRUE(Succeeded(machine.GoFromTo(NoConfig(), Everything())));
      const auto change = [&] { return machine.GoFromTo(Everything(), Reworded()).has_value(); };
      if (!RunWith(CutAt(at), change).fault_met) break;
      CountHistory();
      SCOPED_TRACE(fmt::format("{} after a cut at call {}", edit.name, at));
      edit.make(directory / "etc/motd");
      static_cast<void>(change::Recover(machine.host()));  // Undoing reports its reason as an error.
      ASSERT_EQ(ValueOf(change::Recover(machine.host())).how, change::Recovery::kNothingToDo);
      ASSERT_THAT(machine.Read("etc/motd"), testing::HasSubstr("and edited"));
      for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory / "etc")) {
        ASSERT_FALSE(IsTemporaryName(entry.path().filename().string())) << entry.path();
      }
    }
    EXPECT_GT(histories, 30) << edit.name;
  }
}

// Obstacles for a change of a file: something in place of the file, or of its directory.
const Edit kObstacles[] = {
    {"removed", [](const fs::path& file) { fs::remove(file); }},
    {"made a pipe", [](const fs::path& file) { fs::remove(file), ::mkfifo(file.c_str(), 0666); }},
    {"made a directory that is not empty",
     [](const fs::path& file) {
       fs::remove(file);
       fs::create_directory(file);
       std::ofstream(file / "theirs") << "theirs";
     }},
    {"moved away with its directory",
     [](const fs::path& file) { fs::rename(file.parent_path(), file.parent_path().string() + "~"); }},
    {"under a pipe",
     [](const fs::path& file) {
       fs::rename(file.parent_path(), file.parent_path().string() + "~");
       ::mkfifo(file.parent_path().c_str(), 0666);
     }},
    {"under a link to itself",
     [](const fs::path& file) {
       fs::rename(file.parent_path(), file.parent_path().string() + "~");
       fs::create_symlink(file.parent_path().filename(), file.parent_path());
     }},
};

class AnObstacle : public AnEdit {
 protected:
  // Checks that the change ends whenever the obstacle comes, and that everything else is as in one of the two configs.
  static void HoldsUpNothingElse(plan::TestConfig (*to)()) {
    const std::string path = "etc/new/deep/file";
    for (const Edit& obstacle : kObstacles) {
      int histories = 0;
      for (int at = 1;; ++at, ++histories) {
        const TemporaryDirectory directory;
        SmallMachine machine(directory.path());
        ASSERT_TRUE(Succeeded(machine.GoFromTo(NoConfig(), Everything())));
        const auto meanwhile = [&] {
          if (fs::is_regular_file(directory / path)) obstacle.make(directory / path);
        };
        const Fault fault = {.at = at, .kind = FaultKind::kMeanwhile, .errno_value = 0, .meanwhile = meanwhile};
        const History history = RunWith(fault, [&] { return machine.GoFromTo(Everything(), to()).has_value(); });
        if (!history.fault_met) break;
        CountHistory();
        SCOPED_TRACE(fmt::format("{} at call {}", obstacle.name, at));
        ASSERT_EQ(ValueOf(change::Recover(machine.host())).how, change::Recovery::kNothingToDo);
        const bool is_made = history.ending == Ending::kSucceeded;
        for (const change::Finding& finding :
             ValueOf(change::FindingsOn(machine.host(), is_made ? to() : Everything()))) {
          ASSERT_THAT(finding.about, testing::StartsWith("/etc/new")) << finding.text;
        }
      }
      EXPECT_GT(histories, 30) << obstacle.name;
    }
  }
};

TEST_F(AnObstacle, ToAChangedFileDelaysNoOtherFile) { ASSERT_NO_FATAL_FAILURE(HoldsUpNothingElse(Reworded)); }

TEST_F(AnObstacle, ToARemovedFileDelaysNoOtherFile) { ASSERT_NO_FATAL_FAILURE(HoldsUpNothingElse(NoConfig)); }

TEST_F(AnObstacle, ToAnUndoDelaysNoOtherFile) {
  const std::string path = "etc/new/deep/file";
  for (const Edit& obstacle : kObstacles) {
    int histories = 0;
    for (int at = 1;; ++at, ++histories) {
      const TemporaryDirectory directory;
      SmallMachine machine(directory.path());
      ASSERT_TRUE(Succeeded(machine.GoFromTo(NoConfig(), Everything())));
      machine.systemd.failing = "watcher.service";
      const auto meanwhile = [&] {
        if (fs::is_regular_file(directory / path)) obstacle.make(directory / path);
      };
      const Fault fault = {.at = at, .kind = FaultKind::kMeanwhile, .errno_value = 0, .meanwhile = meanwhile};
      const auto change = [&] { return machine.GoFromTo(Everything(), Reworded()).has_value(); };
      if (!RunWith(fault, change).fault_met) break;
      CountHistory();
      SCOPED_TRACE(fmt::format("{} at call {}", obstacle.name, at));
      ASSERT_EQ(ValueOf(change::Recover(machine.host())).how, change::Recovery::kNothingToDo);
      for (const change::Finding& finding : ValueOf(change::FindingsOn(machine.host(), Everything()))) {
        ASSERT_THAT(finding.about, testing::StartsWith("/etc/new")) << finding.text;
      }
    }
    EXPECT_GT(histories, 40) << obstacle.name;
  }
}

// A file that was prepared in a new directory of Pintle is not lost if someone else creates this directory.
TEST_F(AnObstacle, InPlaceOfADirectoryThatAnUndoMakesLosesNoFile) {
  const std::string path = "etc/new/deep";
  for (const fs::perms permissions : {fs::perms(0755), fs::perms(0700)}) {
    int histories = 0;
    int made = 0;
    for (int at = 1;; ++at, ++histories) {
      const TemporaryDirectory directory;
      SmallMachine machine(directory.path());
      ASSERT_TRUE(Succeeded(machine.GoFromTo(NoConfig(), Everything())));
      machine.systemd.failing = "watcher.service";
      const auto meanwhile = [&] {
        if (fs::exists(directory / path)) return;
        std::error_code refused;  // Some calls are made as a user, who may not write.
        fs::create_directories(directory / path, refused);
        if (refused) return;
        fs::permissions(directory / path, permissions);
        machine.Write("made", "yes");
      };
      const Fault fault = {.at = at, .kind = FaultKind::kMeanwhile, .errno_value = 0, .meanwhile = meanwhile};
      const auto change = [&] { return machine.GoFromTo(Everything(), NoConfig()).has_value(); };
      if (!RunWith(fault, change).fault_met) break;
      CountHistory();
      SCOPED_TRACE(fmt::format("at call {}", at));
      if (machine.Has("made")) ++made;
      ASSERT_EQ(ValueOf(change::Recover(machine.host())).how, change::Recovery::kNothingToDo);
      ASSERT_EQ(machine.Read(path + "/file"), "new");
    }
    EXPECT_GT(made, 5) << histories;
  }
}

}  // namespace
}  // namespace pintle::crash
