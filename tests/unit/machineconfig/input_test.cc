// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/input.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <fstream>
#include <string>
#include <utility>

#include "base/unique_fd.h"
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

std::string PieceOf(PiecewiseInput& input, std::size_t size) {
  std::string piece(size, '\0');
  piece.resize(ValueOf(input.ReadPiece(piece)));
  return piece;
}

TEST(PiecewiseInput, ReturnsTheWholeOfAFileWhateverPiecesHaveBeenRead) {
  const TemporaryDirectory directory;
  directory.Write("file", "0123456789");
  const std::string path = directory / "file";
  for (const std::size_t pieces : {0U, 1U, 4U}) {
    PiecewiseInput input = ValueOf(PiecewiseInput::Open(path));
    std::string read;
    for (std::size_t i = 0; i < pieces; ++i) read += PieceOf(input, 4);
    EXPECT_EQ(read, std::string("0123456789").substr(0, 4 * pieces));
    EXPECT_EQ(ValueOf(input.ReadWhole()), "0123456789");
  }
}

TEST(PiecewiseInput, KeepsThePiecesOfAPipe) {
  for (const std::size_t pieces : {0U, 1U, 4U}) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const UniqueFd reading(ends[0]);
    UniqueFd writing(ends[1]);
    ASSERT_EQ(::write(writing.get(), "0123456789", 10), 10);
    writing.Reset();
    PiecewiseInput input = ValueOf(PiecewiseInput::Open("/proc/self/fd/" + std::to_string(reading.get())));
    for (std::size_t i = 0; i < pieces; ++i) PieceOf(input, 4);
    EXPECT_EQ(ValueOf(input.ReadWhole()), "0123456789");
  }
}

TEST(PiecewiseInput, ReportsWhatReadInputReports) {
  const TemporaryDirectory directory;
  directory.Write("long", "0123456789");
  const std::string path = directory / "long";
  const auto whole = [&](const std::string& name) {
    auto input = PiecewiseInput::Open(name, 9);
    return input ? input->ReadWhole() : Result<std::string>(std::move(input).error());
  };
  for (const std::string& name :
       {path, directory.path().string(), path + "-none", std::string(), std::string("/dev/zero")}) {
    EXPECT_EQ(MessageOf(whole(name)), MessageOf(ReadInput(name, Accepts::kAnything, 9)));
  }
}

}  // namespace
}  // namespace pintle::machineconfig
