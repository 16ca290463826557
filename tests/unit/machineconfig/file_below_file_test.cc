// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/file_below_file.h"

#include <string>
#include <vector>

#include "support/expect.h"

namespace pintle::machineconfig {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<ignition::File> Files(const std::vector<std::string>& paths) {
  std::vector<ignition::File> files;
  for (const std::string& path : paths) files.emplace_back().path = path;
  return files;
}

std::vector<std::string> Texts(const std::vector<FileBelowFile>& found) {
  std::vector<std::string> texts;
  for (const FileBelowFile& pair : found) texts.push_back(pair.Text());
  return texts;
}

TEST(FilesBelowFiles, NamesTheNearestFileAboveEachFile) {
  EXPECT_THAT(Texts(FilesBelowFiles(Files({"/a/b/c/d", "/a", "/a/b", "/ab", "/x/y"}))),
              ElementsAre("cannot write /a/b/c/d: /a/b is a file of the same config",
                          "cannot write /a/b: /a is a file of the same config"));
  EXPECT_THAT(FilesBelowFiles(Files({"/a/b", "/a/bc", "/a/c/b", "/ab/c"})), IsEmpty());
}

TEST(FilesBelowFiles, ReturnsOneResultForEachOfManyNestedFiles) {
  std::vector<std::string> paths = {"/a"};
  while (paths.size() < 1000) paths.push_back(paths.back() + "/a");
  EXPECT_EQ(FilesBelowFiles(Files(paths)).size(), 999U);
}

// If each part of the path costs the length of the path, this test takes minutes.
TEST(FilesBelowFiles, ReadsALongPathOnce) {
  std::string deep;
  for (int i = 0; i < 300'000; ++i) deep += "/a";
  std::vector<std::string> paths = {deep + "/b", deep};
  for (int i = 0; i < 30; ++i) paths.push_back("/other/" + std::to_string(i));
  const auto found = FilesBelowFiles(Files(paths));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().above, deep);
}

}  // namespace
}  // namespace pintle::machineconfig
