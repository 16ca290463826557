// SPDX-License-Identifier: Apache-2.0
#include "support/tree.h"

#include <gtest/gtest.h>
#include <sys/xattr.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "support/temporary_directory.h"

namespace pintle {
namespace {

class Tree : public testing::Test {
 protected:
  // Some file systems on disks do not store long attributes, and older kernels store only trusted ones in memory.
  static void SetUpTestSuite() {
    if (const char* directory = std::getenv("TMPDIR")) usual_directory = directory;
    UseMemoryFileSystem();
  }
  static void TearDownTestSuite() {
    usual_directory.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", usual_directory.c_str(), 1);
  }

  Tree() { std::ofstream(file_) << "contents"; }

  void SetAttribute(const std::string& name, const std::string& value) {
    ASSERT_EQ(::setxattr(file_.c_str(), ("trusted." + name).c_str(), value.data(), value.size(), 0), 0)
        << std::strerror(errno);
  }

  static inline std::string usual_directory;
  TemporaryDirectory directory_;
  const std::filesystem::path file_ = directory_.path() / "file";
};

TEST_F(Tree, HasTheWholeValueOfALongAttribute) {
  const std::string start(10'000, 'x');
  SetAttribute("note", start + "a");
  const std::string before = DescribeTree(directory_.path());
  SetAttribute("note", start + "b");
  EXPECT_NE(DescribeTree(directory_.path()), before);
}

TEST_F(Tree, HasAllOfManyAttributes) {
  std::string before = DescribeTree(directory_.path());
  for (int i = 0; i < 100; ++i) {
    SetAttribute(std::string(100, 'x') + std::to_string(i), "value");
    std::string now = DescribeTree(directory_.path());
    ASSERT_NE(now, before) << i;
    before = std::move(now);
  }
}

}  // namespace
}  // namespace pintle
