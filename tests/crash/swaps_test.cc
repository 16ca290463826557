// SPDX-License-Identifier: Apache-2.0

// Tests the promise for directories that users own: while root changes files in such a directory, a user swaps entries
// in it.  Root must not read, write, chown or remove anything outside of the directory.

#include "crash/swaps.h"

#include <fmt/core.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/root.h"
#include "crash/histories.h"
#include "host/files/blob_store.h"
#include "host/files/file_changes.h"
#include "host/files/observer.h"
#include "support/expect.h"
#include "support/temporary_directory.h"
#include "support/tree.h"

namespace pintle::crash {
namespace {

using host::BlobStore;
using host::FileChanges;
using host::FilePut;
using resource::EntryKind;
using State = resource::FileEntry::State;

constexpr int kRounds = 1000;

class SwapsByAUser : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    UseMemoryFileSystem();
    if (::geteuid() != 0) FAIL() << "run this test as root: it checks that a user cannot misuse root's rights";
  }

  SwapsByAUser()
      : tree_(directory_.path()),
        root_(ValueOf(Root::Open(directory_.path().string()))),
        blobs_(ValueOf(BlobStore::Open(root_, "/blobs"))),
        before_(DescribeTree(tree_.etc)) {}

  State File(const std::string& contents, std::int64_t permissions, uid_t owner) {
    State state;
    state.sha256 = ValueOf(blobs_.Add(contents));
    state.permissions = permissions;
    state.user.id = state.group.id = owner;
    return state;
  }
  static State Directory(uid_t owner) {
    State state;
    state.kind = EntryKind::kDirectory;
    state.permissions = 0755;
    state.user.id = state.group.id = owner;
    return state;
  }
  static State Link() {
    State state;
    state.kind = EntryKind::kLink;
    state.target = "somewhere";
    state.user.id = state.group.id = UsersTree::kUser;
    return state;
  }

  // ConfigFiles() returns the files that a config has; RestoredFiles() returns those that come back when the config is
  // removed, with a user's own program among them.
  std::vector<FilePut> ConfigFiles() {
    return {{"/home/user/conf/app", File("ours", 0644, 0)},
            {"/home/user/conf/new", Directory(UsersTree::kUser)},
            {"/home/user/conf/new/deep", File("ours", 0600, 0)},
            {"/home/user/conf/link", Link()},
            {"/home/user/conf/sub", Directory(0)},
            {"/home/user/conf/sub/theirs", File("ours", 0644, 0)}};
  }
  std::vector<FilePut> RestoredFiles() {
    return {{"/home/user/conf/app", File("the user's", 04755, UsersTree::kUser)},
            {"/home/user/conf/new/deep", std::nullopt},
            {"/home/user/conf/new", std::nullopt},
            {"/home/user/conf/link", std::nullopt},
            {"/home/user/conf/sub/theirs", std::nullopt},
            {"/home/user/conf/sub", Directory(UsersTree::kUser)}};
  }

  // Puts each file as if it were the only one, and skips those that cannot be put.  Returns how many were put.
  int Put(const std::vector<FilePut>& puts) {
    int done = 0;
    FileChanges changes(root_, blobs_, host::Labels());
    std::vector<const FilePut*> prepared;
    for (const FilePut& put : puts) {
      if (changes.Prepare(put)) prepared.push_back(&put);
    }
    static_cast<void>(changes.Sync());
    for (const FilePut* put : prepared) done += changes.Commit(*put) ? 1 : 0;
    static_cast<void>(changes.Sync());
    return done;
  }

  // Reads the entries as root, and returns whether one of them led to root's own files.
  bool ReadsRootsFiles() {
    const std::string secret = Sha256("root's").hex();
    for (const char* path : {"/home/user/conf/theirs", "/home/user/conf/app", "/home/user/conf/sub/theirs"}) {
      host::Observer observer(root_);
      const auto state = observer.ObserveAndKeep(path, blobs_);
      if (state && *state && (*state)->sha256 == secret) return true;
    }
    return false;
  }

  TemporaryDirectory directory_;
  UsersTree tree_;
  Root root_;
  BlobStore blobs_;
  const std::string before_;
};

TEST_F(SwapsByAUser, NeverLeadOutOfTheDirectory) {
  const Swapper swapper(tree_);
  int done = 0;
  int refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t count = swapper.count();
    CountHistory();
    for (const auto& puts : {ConfigFiles(), RestoredFiles()}) {
      const int put = Put(puts);
      done += put;
      refused += static_cast<int>(puts.size()) - put;
    }
    ASSERT_FALSE(ReadsRootsFiles()) << "in round " << round;
    ASSERT_EQ(DescribeTree(tree_.etc), before_) << "in round " << round;
    // A round counts only if something was swapped in it.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (swapper.count() == count) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "nothing is swapped any more, in round " << round;
      ::sched_yield();
    }
  }
  fmt::print("{} rounds, {} swaps, {} puts, {} refused\n", kRounds, swapper.count(), done, refused);
  EXPECT_GT(done, kRounds);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace pintle::crash
