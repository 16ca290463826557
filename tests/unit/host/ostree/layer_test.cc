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
  char type = '0';               // The type flags of tar(5): '5' is a directory.
  std::string sparse_size = {};  // The size of a file that is one hole; empty if the file is empty.
};

std::string Header(const std::string& name, char type, std::size_t size) {
  std::string header(512, '\0');
  const auto put = [&](std::size_t at, const std::string& text) { header.replace(at, text.size(), text); };
  put(0, name);
  put(100, "0000755");
  put(108, "0000000");
  put(116, "0000000");
  put(124, fmt::format("{:011o}", size));
  put(136, "00000000000");
  put(148, "        ");
  put(156, std::string(1, type));
  put(257, std::string("ustar\00000", 8));
  unsigned sum = 0;
  for (const char byte : header) sum += static_cast<unsigned char>(byte);
  put(148, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  return header;
}

// Returns an archive of entries without contents.
std::string Tar(const std::vector<Entry>& entries) {
  std::string archive;
  for (const Entry& entry : entries) {
    if (!entry.sparse_size.empty()) {
      // A record of a pax header begins with its own length, which has two digits here.
      std::string record = fmt::format(" SCHILY.realsize={}\n", entry.sparse_size);
      record.insert(0, std::to_string(record.size() + 2));
      archive += Header("pax", 'x', record.size());
      record.resize(512);
      archive += record;
    }
    archive += Header(entry.name, entry.type, 0);
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
    const OciDescriptor layer = Write(entries);
    return CheckLayer(directory_ / "layer", layer, {});
  }
  Result<std::uint64_t> CheckPacked(const std::vector<Entry>& entries) {
    const OciDescriptor layer = Write(entries);
    return CheckPackedLayer(directory_ / "layer", layer, {});
  }
  OciDescriptor Write(const std::vector<Entry>& entries) {
    const std::string archive = Tar(entries);
    directory_.Write("layer", archive);
    OciDescriptor layer;
    layer.digest = "sha256:" + Sha256(archive).hex();
    layer.size = archive.size();
    return layer;
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

// The largest size that libarchive knows; three of them have a sum that does not fit into 64 bits.
constexpr const char* kLargest = "9223372036854775807";

TEST_F(Layer, RefusesFilesWhoseSizesHaveASumThatOverflows) {
  EXPECT_EQ(ValueOf(Check({{"a", '0', kLargest}, {"b", '0', kLargest}})).bytes, 18446744073709551614u);
  EXPECT_THAT(MessageOf(Check({{"a", '0', kLargest}, {"b", '0', kLargest}, {"usr/c", '0', kLargest}})),
              HasSubstr("\"usr/c\": its size of 9223372036854775807 bytes and the 18446744073709551614 bytes before it "
                        "are more than any disk has"));
}

TEST_F(Layer, RefusesObjectsWhoseSizesHaveASumThatOverflows) {
  std::vector<Entry> objects;
  for (const char last : {'a', 'b', 'c'}) {
    objects.push_back(
        {fmt::format("sysroot/ostree/repo/objects/12/{}{}.file", std::string(61, '0'), last), '0', kLargest});
  }
  EXPECT_THAT(MessageOf(CheckPacked(objects)),
              HasSubstr("c.file: its size of 9223372036854775807 bytes and the 18446744073709551614 bytes before it"));
}

}  // namespace
}  // namespace pintle::host
