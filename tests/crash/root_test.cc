// SPDX-License-Identifier: Apache-2.0

// Tests Root's promise: whatever happens during a change, the thing is the old one or the new one, and no mixture.

#include "base/root.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>

#include "crash/faults.h"
#include "crash/histories.h"
#include "support/expect.h"
#include "support/temporary_directory.h"
#include "support/tree.h"

namespace pintle::crash {
namespace {

namespace fs = std::filesystem;

struct Change {
  std::string name;
  std::function<bool(const Root&)> make;
};

const FileMode kTool = {.permissions = 04755, .owner = Owner{::getuid(), ::getgid()}};

const Change kChanges[] = {
    {"WriteANewFile", [](const Root& root) { return root.WriteFile("/etc/new", "new\n", kTool).has_value(); }},
    {"ReplaceAFile", [](const Root& root) { return root.WriteFile("/etc/file", "a longer text", kTool).has_value(); }},
    {"ReplaceALinkByAFile", [](const Root& root) { return root.WriteFile("/etc/link", "text").has_value(); }},
    {"WriteALink", [](const Root& root) { return root.WriteLink("/etc/new", "/dev/null").has_value(); }},
    {"ReplaceAFileByALink", [](const Root& root) { return root.WriteLink("/etc/file", "/dev/null").has_value(); }},
    {"MakeADirectory", [](const Root& root) { return root.MakeDirectories("/etc/made").has_value(); }},
    {"RemoveAFile", [](const Root& root) { return root.Remove("/etc/file").has_value(); }},
    {"RemoveADirectory", [](const Root& root) { return root.Remove("/etc/empty").has_value(); }},
};

class AnyChange : public testing::TestWithParam<Change> {
 protected:
  // Every history begins with the same tree.
  struct Tree : TemporaryDirectory {
    Tree() {
      fs::create_directories(path() / "etc/empty");
      Write("etc/file", "old");
      fs::create_symlink("file", path() / "etc/link");
    }
    Root root() const { return ValueOf(Root::Open(path().string())); }
    std::string Now() const { return DescribeTree(path()); }
  };

  static bool Make(const Tree& tree) { return GetParam().make(tree.root()); }

  static std::string Old() { return Tree().Now(); }
  static std::string New() {
    const Tree tree;
    EXPECT_TRUE(Make(tree));
    return tree.Now();
  }

  // Removes the temporary files that a crash leaves in /etc, and describes the tree.  Nothing ever reads these files.
  static std::string WithoutLeftovers(const Tree& tree) {
    for (const fs::path directory = tree / "etc";
         const fs::directory_entry& entry : fs::directory_iterator(directory)) {
      if (entry.path().filename().string().starts_with(".pintle-")) fs::remove(entry.path());
    }
    return tree.Now();
  }
};

TEST_P(AnyChange, CutShortAnywhereLeavesOldOrNewAndCanBeMadeAgain) {
  int histories = 0;
  for (int at = 1;; ++at) {
    const Tree tree;
    const History history = RunWith(CutAt(at), [&] { return Make(tree); });
    if (!history.fault_met) break;
    ++histories;
    CountHistory();
    EXPECT_TRUE(Make(tree)) << "again after a cut at call " << at;
    EXPECT_EQ(tree.Now(), New()) << "made again after a cut at call " << at;
  }
  fmt::print("{}: {} histories\n", GetParam().name, histories);
  EXPECT_GT(histories, 1);
}

TEST_P(AnyChange, CutShortAnywhereIsOldOrNewAndNothingElse) {
  for (int at = 1;; ++at) {
    const Tree tree;
    if (!RunWith(CutAt(at), [&] { return Make(tree); }).fault_met) break;
    CountHistory();
    EXPECT_THAT(WithoutLeftovers(tree), testing::AnyOf(Old(), New())) << "cut at call " << at;
  }
}

TEST_P(AnyChange, ThatTheDiskRefusesLeavesOldOrNewAndNoOtherFile) {
  for (const int errno_value : {ENOSPC, EIO, EROFS, EDQUOT, EINTR}) {
    for (int at = 1;; ++at) {
      const Tree tree;
      const History history =
          RunWith({.at = at, .kind = FaultKind::kError, .errno_value = errno_value}, [&] { return Make(tree); });
      if (!history.fault_met) break;
      CountHistory();
      SCOPED_TRACE(fmt::format("errno {} at call {}", errno_value, at));
      if (history.ending == Ending::kSucceeded) {
        EXPECT_EQ(tree.Now(), New());
      } else {
        EXPECT_THAT(tree.Now(), testing::AnyOf(Old(), New()));
      }
    }
  }
}

TEST_P(AnyChange, SucceedsWhenTheKernelTakesOneByteAtATime) {
  for (int at = 1;; ++at) {
    const Tree tree;
    const History history =
        RunWith({.at = at, .kind = FaultKind::kShortWrite, .errno_value = 0}, [&] { return Make(tree); });
    if (!history.fault_met) break;
    CountHistory();
    EXPECT_EQ(history.ending, Ending::kSucceeded);
    EXPECT_EQ(tree.Now(), New()) << "short at call " << at;
  }
}

INSTANTIATE_TEST_SUITE_P(Root, AnyChange, testing::ValuesIn(kChanges),
                         [](const auto& change) { return change.param.name; });

}  // namespace
}  // namespace pintle::crash
