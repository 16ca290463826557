// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/layer.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/digest.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::host {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct Entry {
  std::string name;
  char type = '0';  // The type flags of tar(5): '5' is a directory.
};

// Returns an archive of empty entries.
std::string Tar(const std::vector<Entry>& entries) {
  std::string archive;
  for (const Entry& entry : entries) {
    std::string header(512, '\0');
    const auto put = [&](std::size_t at, const std::string& text) { header.replace(at, text.size(), text); };
    put(0, entry.name);
    put(100, "0000755");
    put(108, "0000000");
    put(116, "0000000");
    put(124, "00000000000");
    put(136, "00000000000");
    put(148, "        ");
    put(156, std::string(1, entry.type));
    put(257, std::string("ustar\00000", 8));
    unsigned sum = 0;
    for (const char byte : header) sum += static_cast<unsigned char>(byte);
    put(148, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
    archive += header;
  }
  return archive + std::string(1024, '\0');
}

class Layer : public testing::Test {
 protected:
  Layer() {
    fs::create_directories(directory_ / "into/usr/share");
    directory_.Write("into/usr/share/kept", "");
    directory_.Write("into/other", "");
  }

  Result<> Unpack(const std::vector<Entry>& entries) {
    directory_.Write("layer", Tar(entries));
    return UnpackLayer(directory_ / "layer", "usr/share", directory_ / "into", {});
  }
  Result<LayerContents> Check(const std::vector<Entry>& entries) {
    const std::string archive = Tar(entries);
    directory_.Write("layer", archive);
    OciDescriptor layer;
    layer.digest = "sha256:" + Sha256(archive).hex();
    layer.size = archive.size();
    return CheckLayer(directory_ / "layer", layer, {});
  }

  const TemporaryDirectory directory_;
};

TEST_F(Layer, HidesTheFileThatAWhiteoutNames) {
  ASSERT_TRUE(Succeeded(Unpack({{"usr/share/.wh.kept"}, {"usr/share/new"}})));
  EXPECT_FALSE(fs::exists(directory_ / "into/usr/share/kept"));
  EXPECT_TRUE(fs::exists(directory_ / "into/usr/share/new"));
}

TEST_F(Layer, RefusesAWhiteoutWithoutAName) {
  for (const char* name :
       {"usr/.wh.", "usr/.wh..", "usr/.wh...", "usr/share/.wh.", "usr/share/.wh..", "usr/share/.wh..."}) {
    EXPECT_THAT(MessageOf(Unpack({{name}})), HasSubstr("is a whiteout without a name")) << name;
    EXPECT_TRUE(fs::exists(directory_ / "into/usr/share/kept")) << name;
    EXPECT_TRUE(fs::exists(directory_ / "into/other")) << name;
  }
}

TEST_F(Layer, RefusesAPathThatIsBothADirectoryAndAnotherType) {
  EXPECT_TRUE(Succeeded(Check({{"usr", '5'}, {"usr/file"}})));
  const std::string problem = "\"usr\" is in the layer both as a directory and as something else";
  EXPECT_THAT(MessageOf(Check({{"usr"}, {"usr", '5'}})), HasSubstr(problem));
  EXPECT_THAT(MessageOf(Check({{"usr", '5'}, {"usr"}})), HasSubstr(problem));
  EXPECT_THAT(MessageOf(Check({{"usr", '5'}, {"usr", '2'}})), HasSubstr(problem));
}

}  // namespace
}  // namespace pintle::host
