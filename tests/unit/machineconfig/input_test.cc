// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/input.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::machineconfig {
namespace {

// The controller keeps the texts of hundreds of small templates.
TEST(ReadInput, ReturnsASmallFileInASmallBuffer) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() / "template.yaml";
  std::ofstream(path) << std::string(2000, 'a');
  const std::string text = ValueOf(ReadInput(path, Accepts::kFilesOnly));
  EXPECT_EQ(text, std::string(2000, 'a'));
  EXPECT_LE(text.capacity(), 2100U);
}

TEST(ReadInput, ReadsAFileOfManyPieces) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() / "large.yaml";
  std::string contents;
  while (contents.size() <= 200'000) contents += std::to_string(contents.size()) + "\n";
  std::ofstream(path) << contents;
  EXPECT_EQ(ValueOf(ReadInput(path, Accepts::kFilesOnly)), contents);
}

// The files of /proc have the size 0.
TEST(ReadInput, ReadsAFileThatReportsNoSize) {
  EXPECT_NE(ValueOf(ReadInput("/proc/self/status", Accepts::kFilesOnly)).find("\nPid:"), std::string::npos);
}

}  // namespace
}  // namespace pintle::machineconfig
