// SPDX-License-Identifier: Apache-2.0
#include "support/tree.h"

#include <gtest/gtest.h>
#include <sys/xattr.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "support/temporary_directory.h"

namespace pintle {
namespace {

class Tree : public testing::Test {
 protected:
  // Some file systems on disks do not store long attributes.
  static void SetUpTestSuite() {
    if (const char* directory = std::getenv("TMPDIR")) usual_directory = directory;
    UseMemoryFileSystem();
  }
  static void TearDownTestSuite() {
    usual_directory.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", usual_directory.c_str(), 1);
  }

  Tree() { std::ofstream(file_) << "contents"; }

  void SetAttribute(const std::string& name, const std::string& value) {
    if (::setxattr(file_.c_str(), name.c_str(), value.data(), value.size(), 0) == 0) return;
    ASSERT_TRUE(errno == ENOTSUP || errno == ENOSPC || errno == E2BIG) << errno;
    GTEST_SKIP() << "the file system does not store such attributes";
  }

  static inline std::string usual_directory;
  TemporaryDirectory directory_;
  const std::filesystem::path file_ = directory_.path() / "file";
};

TEST_F(Tree, HasTheWholeValueOfALongAttribute) {
  const std::string start(10'000, 'x');
  SetAttribute("user.note", start + "a");
  if (IsSkipped()) return;
  const std::string before = DescribeTree(directory_.path());
  SetAttribute("user.note", start + "b");
  EXPECT_NE(DescribeTree(directory_.path()), before);
}

TEST_F(Tree, HasAllOfManyAttributes) {
  std::string before = DescribeTree(directory_.path());
  for (int i = 0; i < 100; ++i) {
    SetAttribute("user." + std::string(100, 'x') + std::to_string(i), "value");
    if (IsSkipped()) return;
    std::string now = DescribeTree(directory_.path());
    ASSERT_NE(now, before) << i;
    before = std::move(now);
  }
}

}  // namespace
}  // namespace pintle
