// SPDX-License-Identifier: Apache-2.0
#include "host/files/room.h"

#include "host/files/blob_store.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::host {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kMebibyte = 1 << 20;

TEST(Room, LeavesSpaceForOtherPrograms) {
  EXPECT_EQ(UsableRoom({1000 * kMebibyte, 10000}).bytes, 936 * kMebibyte);
  EXPECT_EQ(UsableRoom({1000 * kMebibyte, 10000}).inodes, 8976u);
}

TEST(Room, IsSmallButNotZeroIfLittleIsFree) {
  EXPECT_EQ(UsableRoom({64 * kMebibyte, 1024}).bytes, 8 * kMebibyte);
  EXPECT_EQ(UsableRoom({64 * kMebibyte, 1024}).inodes, 128u);
  EXPECT_EQ(UsableRoom({0, 0}).bytes, 0u);
}

class NeededRoomTest : public testing::Test {
 protected:
  TemporaryDirectory directory_;
  Root root_ = ValueOf(Root::Open(directory_.path().string()));
  NeededRoom needed_{root_};
};

TEST_F(NeededRoomTest, ReportsMissingSpaceAndNamesTheDirectory) {
  ASSERT_TRUE(Succeeded(needed_.Add("/etc/small", 1)));
  EXPECT_TRUE(Succeeded(needed_.ExpectEnough()));
  ASSERT_TRUE(Succeeded(needed_.Add("/etc/big", std::uint64_t{1} << 60)));
  EXPECT_THAT(MessageOf(needed_.ExpectEnough()), HasSubstr("too little space on the file system of /etc/small"));
}

TEST_F(NeededRoomTest, AddsUpTheSpaceOfManyFiles) {
  ASSERT_TRUE(Succeeded(needed_.Add("/", 1)));
  EXPECT_TRUE(Succeeded(needed_.ExpectEnough()));
  const std::uint64_t room = ValueOf(UsableRoomAt(root_, "/")).bytes;
  for (int file = 0; file < 1000; ++file) ASSERT_TRUE(Succeeded(needed_.Add("/", room / 1000 + 1)));
  EXPECT_THAT(MessageOf(needed_.ExpectEnough()), HasSubstr("too little space"));
}

TEST_F(NeededRoomTest, IsRefusedToAStoreBeyondItsLimit) {
  BlobStore store = ValueOf(BlobStore::Open(root_, "/contents"));
  store.LimitTo(kMebibyte);
  ASSERT_TRUE(Succeeded(store.Add(std::string(kMebibyte / 2, 'a'))));
  EXPECT_THAT(MessageOf(store.Add(std::string(kMebibyte, 'b'))), HasSubstr("may use 1 MiB"));
  EXPECT_LE(std::filesystem::file_size(directory_ / "contents"), kMebibyte);
}

}  // namespace
}  // namespace pintle::host
