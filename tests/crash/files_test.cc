// SPDX-License-Identifier: Apache-2.0

// Tests the promise of a whole change of the file tree: wherever it is cut short or refused, it can be undone.  Putting
// back the observed states gives the old tree, even if the undoing is cut short, too.

#include "host/files/files.h"

#include <fmt/core.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/root.h"
#include "crash/faults.h"
#include "crash/histories.h"
#include "host/files/blob_store.h"
#include "host/files/file_changes.h"
#include "host/files/originals.h"
#include "json/fields.h"
#include "json/parse.h"
#include "support/expect.h"
#include "support/temporary_directory.h"
#include "support/tree.h"

namespace pintle::crash {
namespace {

namespace fs = std::filesystem;
using host::BlobStore;
using host::FileChanges;
using host::FilePut;
using resource::EntryKind;
using State = resource::FileEntry::State;

constexpr const char* kStore = "/var/blobs";
constexpr const char* kJournal = "/var/journal";

const int kStride = Stride(3);

struct OldTree : TemporaryDirectory {
  OldTree() {
    for (const char* directory : {"var", "etc/emptied.d", "etc/theirs.d", "etc/directory", "etc/adjusted"}) {
      fs::create_directories(path() / directory);
    }
    for (const char* file : {"overwritten", "removed", "motd", "unit", "emptied.d/file", "theirs.d/file"}) {
      Write(std::string("etc/") + file, std::string("old ") + file);
    }
    fs::create_symlink("overwritten", path() / "etc/link");
    fs::create_symlink("/nowhere", path() / "etc/file-next");
    fs::permissions(path() / "etc/overwritten", fs::perms::owner_all);
    fs::permissions(path() / "etc/removed", fs::perms::set_uid | fs::perms::owner_all);
    fs::permissions(path() / "etc/directory", fs::perms::owner_all);
    for (const char* marked : {"overwritten", "removed", "adjusted"}) {
      ::setxattr((path() / "etc" / marked).c_str(), "user.note", "old", 3, 0);
    }
  }

  Root root() const { return ValueOf(Root::Open(path().string())); }
  std::string Now() const { return DescribeTree(path() / "etc"); }
  // Removes the stored contents and the journal of a change.
  void Forget() const {
    fs::remove_all(path() / "var");
    fs::create_directory(path() / "var");
  }
};

// Returns the state of an entry that belongs to the user who runs the test.
State Mine(EntryKind kind, std::int64_t permissions) {
  State state;
  state.kind = kind;
  state.permissions = permissions;
  state.user.id = ::getuid();
  state.group.id = ::getgid();
  return state;
}

Result<State> File(BlobStore& blobs, std::string_view contents, std::int64_t permissions = 0644) {
  State state = Mine(EntryKind::kFile, permissions);
  state.sha256 = TRY(blobs.Add(contents));
  return state;
}

State Link(std::string target) {
  State state = Mine(EntryKind::kLink, 0777);
  state.target = std::move(target);
  return state;
}

// Returns steps of every kind.
Result<std::vector<FilePut>> Change(BlobStore& blobs) {
  State marked = TRY(File(blobs, std::string(200 << 10, 'x'), 04750));
  marked.attributes.emplace()["user.color"] = "cmVk";
  State adjusted = Mine(EntryKind::kDirectory, 0710);
  adjusted.attributes.emplace()["user.color"] = "cmVk";
  return std::vector<FilePut>{
      {"/etc/motd", TRY(File(blobs, "new motd"))},
      {"/etc/overwritten", TRY(File(blobs, "new overwritten", 0600))},
      {"/etc/tool", marked},
      {"/etc/new.d/sub/file", TRY(File(blobs, "new file"))},
      {"/etc/link", Link("motd")},
      {"/etc/unit", Link("/dev/null")},
      {"/etc/file-next", TRY(File(blobs, "no link any more"))},
      {"/etc/directory", TRY(File(blobs, "no directory any more"))},
      {"/etc/adjusted", adjusted},
      {"/etc/removed", std::nullopt},
      {"/etc/emptied.d/file", std::nullopt},
      {"/etc/emptied.d", std::nullopt},
      {"/etc/theirs.d", std::nullopt},
  };
}

Result<std::vector<FilePut>> StepsFor(const Root& root, BlobStore& blobs) {
  const auto puts = TRY(Change(blobs));
  auto made = TRY(host::MissingDirectories(root, puts));
  const std::vector<std::string> paths = {"/etc/motd", "/etc/new.d/sub/file"};
  auto steps = TRY(host::StepsToKeep(root, blobs, paths, made));
  steps.insert(steps.end(), made.begin(), made.end());
  steps.insert(steps.end(), puts.begin(), puts.end());
  for (FilePut& step : steps) {
    if (!step.want) continue;
    step.want->user.id = ::getuid();  // The files belong to the user who runs the test.
    step.want->group.id = ::getgid();
  }
  return steps;
}

Result<> PutAll(const Root& root, const BlobStore& blobs, const std::vector<FilePut>& puts) {
  FileChanges changes(root, blobs, host::Labels());
  for (const FilePut& put : puts) TRY(changes.Prepare(put));
  TRY(changes.Sync());
  for (const FilePut& put : puts) TRY(changes.Commit(put));
  return changes.Sync();
}

Result<> Apply(const Root& root) {
  BlobStore blobs = TRY(BlobStore::Open(root, kStore));
  const auto steps = TRY(StepsFor(root, blobs));
  std::vector<FilePut> undo;
  for (const FilePut& step : steps) undo.push_back({step.key, TRY(host::ObserveAndKeep(root, blobs, step.key))});
  std::reverse(undo.begin(), undo.end());
  TRY(blobs.Sync());
  TRY(root.WriteFile(kJournal, json::ToText(json::Encode(undo))));
  return PutAll(root, blobs, steps);
}

Result<> Undo(const Root& root) {
  const auto journal = root.ReadFile(kJournal);
  if (!journal) return {};  // The change was cut short before it changed anything.
  json::Report report;
  const auto undo = json::Decode<std::vector<FilePut>>(TRY(json::Parse(*journal)), report);
  EXPECT_TRUE(report.problems().empty());
  const BlobStore blobs = TRY(BlobStore::Open(root, kStore));
  return PutAll(root, blobs, undo);
}

class AWholeChange : public testing::Test {
 protected:
  static void SetUpTestSuite() { UseMemoryFileSystem(); }

  AWholeChange() : root_(tree_.root()), old_(tree_.Now()) {}

  History ApplyWith(const Fault& fault) {
    const History history = RunWith(fault, [&] { return Apply(root_).has_value(); });
    if (history.fault_met) CountHistory();
    return history;
  }
  History UndoWith(const Fault& fault) {
    return RunWith(fault, [&] { return Undo(root_).has_value(); });
  }

  // Undoes the change, which gives the old tree; the next history begins with this tree.
  void ExpectThatUndoGivesTheOldTree() {
    ASSERT_TRUE(Succeeded(Undo(root_)));
    ASSERT_EQ(tree_.Now(), old_);
    tree_.Forget();
  }

  static std::string New() {
    const OldTree tree;
    EXPECT_TRUE(Succeeded(Apply(tree.root())));
    return tree.Now();
  }

  OldTree tree_;
  Root root_;
  std::string old_;
};

TEST_F(AWholeChange, ChangesEverythingAndUndoesEverything) {
  ASSERT_TRUE(Succeeded(Apply(root_)));
  EXPECT_NE(tree_.Now(), old_);
  EXPECT_TRUE(fs::exists(tree_ / "etc/theirs.d/file"));
  EXPECT_FALSE(fs::exists(tree_ / "etc/emptied.d"));
  EXPECT_EQ(tree_.Read("etc/machine-config-daemon/orig/etc/motd.mcdorig"), "old motd");
  ExpectThatUndoGivesTheOldTree();
}

TEST_F(AWholeChange, CutShortAnywhereCanBeUndone) {
  int histories = 0;
  for (int at = 1; ApplyWith(CutAt(at)).fault_met; ++at, ++histories) {
    SCOPED_TRACE(fmt::format("cut at call {}", at));
    ASSERT_NO_FATAL_FAILURE(ExpectThatUndoGivesTheOldTree());
  }
  fmt::print("{} histories\n", histories);
  EXPECT_GT(histories, 80);
}

TEST_F(AWholeChange, CutShortAnywhereCanBeMadeAgain) {
  const std::string wanted = New();
  for (int at = 1; ApplyWith(CutAt(at)).fault_met; ++at) {
    SCOPED_TRACE(fmt::format("cut at call {}", at));
    ASSERT_NO_FATAL_FAILURE(ExpectThatUndoGivesTheOldTree());
    ASSERT_TRUE(Succeeded(Apply(root_)));
    ASSERT_EQ(tree_.Now(), wanted);
    ASSERT_NO_FATAL_FAILURE(ExpectThatUndoGivesTheOldTree());
  }
}

// Each call of the change is combined with every third call of the undoing, beginning at its first, second or third
// call in turns.
TEST_F(AWholeChange, CutShortAnywhereCanBeUndoneAfterTheUndoingWasCutShortAnywhere) {
  int histories = 0;
  for (int at = 1;; ++at) {
    for (int undo_at = 1 + at % kStride;; undo_at += kStride) {
      const bool was_change_cut = ApplyWith(CutAt(at)).fault_met;
      const bool was_undo_cut = UndoWith(CutAt(undo_at)).fault_met;
      SCOPED_TRACE(fmt::format("cut at call {}, its undoing at call {}", at, undo_at));
      ASSERT_NO_FATAL_FAILURE(ExpectThatUndoGivesTheOldTree());
      if (!was_change_cut) {
        fmt::print("{} histories\n", histories);
        return;
      }
      if (!was_undo_cut) break;
      ++histories;
    }
  }
}

TEST_F(AWholeChange, ThatTheDiskRefusesAnywhereCanBeUndone) {
  const std::string wanted = New();
  int histories = 0;
  for (const int errno_value : {ENOSPC, EIO, EROFS, EDQUOT, EINTR}) {
    for (int at = 1;; ++at, ++histories) {
      SCOPED_TRACE(fmt::format("errno {} at call {}", errno_value, at));
      const History history = ApplyWith({.at = at, .kind = FaultKind::kError, .errno_value = errno_value});
      if (history.ending == Ending::kSucceeded) {
        ASSERT_EQ(tree_.Now(), wanted);
      }
      ASSERT_NO_FATAL_FAILURE(ExpectThatUndoGivesTheOldTree());
      if (!history.fault_met) break;
    }
  }
  fmt::print("{} histories\n", histories);
}

TEST_F(AWholeChange, CanBeUndoneAgainAfterTheDiskHasRefusedAnyStepOfTheUndo) {
  int histories = 0;
  for (const int errno_value : {ENOSPC, EIO}) {
    for (int at = 1;; ++at, ++histories) {
      SCOPED_TRACE(fmt::format("errno {} at call {}", errno_value, at));
      ASSERT_TRUE(Succeeded(Apply(root_)));
      const History history = UndoWith({.at = at, .kind = FaultKind::kError, .errno_value = errno_value});
      if (history.fault_met) CountHistory();
      if (history.ending == Ending::kSucceeded) {
        ASSERT_EQ(tree_.Now(), old_);
      }
      ASSERT_NO_FATAL_FAILURE(ExpectThatUndoGivesTheOldTree());
      if (!history.fault_met) break;
    }
  }
  fmt::print("{} histories\n", histories);
}

TEST_F(AWholeChange, SucceedsWhenTheKernelTakesOneByteAtATime) {
  const std::string wanted = New();
  for (int at = 1;; ++at) {
    const History history = ApplyWith({.at = at, .kind = FaultKind::kShortWrite, .errno_value = 0});
    ASSERT_EQ(history.ending, Ending::kSucceeded) << "short at call " << at;
    ASSERT_EQ(tree_.Now(), wanted) << "short at call " << at;
    ASSERT_NO_FATAL_FAILURE(ExpectThatUndoGivesTheOldTree());
    if (!history.fault_met) break;
  }
}

}  // namespace
}  // namespace pintle::crash
