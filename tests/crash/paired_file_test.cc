// SPDX-License-Identifier: Apache-2.0

// Tests the promise of a file that can be replaced on a full disk: wherever the writing is cut short or refused, the
// file is the old one or the new one.  A write that returns succeeds exactly if the file is the new one.

#include "host/files/paired_file.h"

#include <fmt/core.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "base/root.h"
#include "crash/faults.h"
#include "crash/histories.h"
#include "support/expect.h"
#include "support/temporary_directory.h"
#include "support/tree.h"

namespace pintle::crash {
namespace {

using host::PairedFile;

class APairedFile : public testing::Test {
 protected:
  static void SetUpTestSuite() { UseMemoryFileSystem(); }

  History WriteWith(const Fault& fault, const std::string& contents) const {
    const History history = RunWith(fault, [&] { return file_.Write(contents).has_value(); });
    if (history.fault_met) CountHistory();
    return history;
  }
  void WriteWell(const std::string& contents) const { ASSERT_TRUE(Succeeded(file_.Write(contents))); }

  // Returns "" if there is no file.
  std::string Now() const {
    const std::string text = directory_.Read("file");
    return text.substr(0, text.find_last_not_of(' ') + 1);
  }
  bool IsEmptyDirectory() const { return std::filesystem::is_empty(directory_.path()); }

  TemporaryDirectory directory_;
  Root root_ = ValueOf(Root::Open(directory_.path().string()));
  PairedFile file_{root_, "/file"};
};

TEST_F(APairedFile, IsReplacedAgainAndAgainOnAFullDisk) {
  WriteWell("one");
  for (const std::string& contents :
       {std::string("two"), std::string(PairedFile::kRoomToGrow, 'x'), std::string("3")}) {
    const History history = WriteWith({.at = 1, .kind = FaultKind::kDiskFull, .errno_value = ENOSPC}, contents);
    ASSERT_EQ(history.ending, Ending::kSucceeded);
    ASSERT_FALSE(history.fault_met);
    ASSERT_EQ(Now(), contents);
  }
}

TEST_F(APairedFile, IsNotCreatedWithoutSpaceForItsSpare) {
  for (int at = 1;; ++at) {
    SCOPED_TRACE(fmt::format("full from call {} on", at));
    const History history = WriteWith({.at = at, .kind = FaultKind::kDiskFull, .errno_value = ENOSPC}, "one");
    if (!history.fault_met) break;
    ASSERT_EQ(history.ending, Ending::kFailed);
    ASSERT_TRUE(IsEmptyDirectory());
  }
  EXPECT_EQ(Now(), "one");
}

TEST_F(APairedFile, CutShortAnywhereIsTheOldOneOrTheNewOne) {
  for (const std::string old : {"", "old"}) {
    bool was_new = false;
    for (int at = 1;; ++at) {
      SCOPED_TRACE(fmt::format("\"{}\", cut at call {}", old, at));
      ASSERT_TRUE(Succeeded(file_.Remove()));
      if (!old.empty()) WriteWell(old);
      const bool was_cut = WriteWith(CutAt(at), "new").fault_met;
      ASSERT_THAT(Now(), testing::AnyOf(old, "new"));
      was_new = was_new || Now() == "new";
      // Leftovers do not make the next write fail.
      WriteWell("newer");
      ASSERT_EQ(Now(), "newer");
      if (!was_cut) break;
    }
    EXPECT_TRUE(was_new);
  }
}

TEST_F(APairedFile, ThatCouldNotBeWrittenIsTheOldOne) {
  struct Start {
    std::string old;
    bool has_spare;
  };
  for (const Start& start : {Start{"", false}, Start{"old", true}, Start{"old", false}}) {
    for (const int errno_value : {ENOSPC, EIO, EROFS, EINTR, EOPNOTSUPP}) {
      for (int at = 1;; ++at) {
        SCOPED_TRACE(
            fmt::format("\"{}\", spare: {}, errno {} at call {}", start.old, start.has_spare, errno_value, at));
        ASSERT_TRUE(Succeeded(file_.Remove()));
        if (!start.old.empty()) WriteWell(start.old);
        if (!start.has_spare) std::filesystem::remove(directory_ / "file.spare");
        const Fault fault = {.at = at, .kind = FaultKind::kError, .errno_value = errno_value};
        const History history = WriteWith(fault, "new");
        ASSERT_EQ(Now(), history.ending == Ending::kSucceeded ? "new" : start.old);
        if (!history.fault_met) break;
      }
    }
  }
}

TEST_F(APairedFile, IsWrittenWhenTheKernelTakesOneByteAtATime) {
  for (int at = 1;; ++at) {
    const std::string contents = fmt::format("contents {}", at);
    const History history = WriteWith({.at = at, .kind = FaultKind::kShortWrite, .errno_value = 0}, contents);
    ASSERT_EQ(history.ending, Ending::kSucceeded);
    ASSERT_EQ(Now(), contents);
    if (!history.fault_met) break;
  }
}

TEST_F(APairedFile, IsReplacedEvenIfSomeoneHasRemovedTheSpare) {
  WriteWell("one");
  std::filesystem::remove(directory_ / "file.spare");
  WriteWell("two");
  EXPECT_EQ(Now(), "two");
  EXPECT_TRUE(std::filesystem::exists(directory_ / "file.spare"));
}

TEST_F(APairedFile, LeavesNoOtherFile) {
  WriteWell("one");
  ASSERT_TRUE(Succeeded(file_.Remove()));
  EXPECT_TRUE(IsEmptyDirectory());
  EXPECT_TRUE(Succeeded(file_.Remove()));
}

}  // namespace
}  // namespace pintle::crash
