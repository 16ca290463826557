// SPDX-License-Identifier: Apache-2.0
#include "host/files/blob_store.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::host {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::size_t most_at_once = std::numeric_limits<std::size_t>::max();  // In bytes, for each call of pread().
std::optional<int> calls_until_error;                                // Later calls of pread() fail with EIO.

// During its lifetime, each call of pread() returns at most this many bytes, and after `calls` calls all fail.
class FailingDisk {
 public:
  explicit FailingDisk(std::size_t bytes, std::optional<int> calls = std::nullopt) {
    most_at_once = bytes;
    calls_until_error = calls;
  }
  ~FailingDisk() {
    most_at_once = std::numeric_limits<std::size_t>::max();
    calls_until_error.reset();
  }
  FailingDisk(const FailingDisk&) = delete;
  FailingDisk& operator=(const FailingDisk&) = delete;
};

// During its lifetime, writing more to a file fails with EFBIG.  A write that reaches the limit is short.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : signal_before_(std::signal(SIGXFSZ, SIG_IGN)) {
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit limit = {.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  ~FileSizeLimit() {
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before_), 0);
    std::signal(SIGXFSZ, signal_before_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  void (*signal_before_)(int);
  rlimit before_ = {};
};

class BlobStoreTest : public testing::Test {
 protected:
  BlobStoreTest() : root_(ValueOf(Root::Open(directory_.path().string()))) {}

  BlobStore Open() { return ValueOf(BlobStore::Open(root_, "/store")); }
  UniqueFd OpenFile(const std::string& name) { return ValueOf(root_.OpenFile(name, O_RDWR)); }
  std::uintmax_t Size() { return fs::file_size(directory_ / "store"); }

  TemporaryDirectory directory_;
  Root root_;
};

TEST_F(BlobStoreTest, ReturnsContentsAlsoAfterItIsOpenedAgain) {
  std::string sha256;
  {
    BlobStore blobs = Open();
    sha256 = ValueOf(blobs.Add("hello\n"));
    EXPECT_EQ(sha256, Sha256("hello\n").hex());
    EXPECT_EQ(ValueOf(blobs.Read(sha256, 100)), "hello\n");
    ASSERT_TRUE(Succeeded(blobs.Sync()));
  }
  const BlobStore again = Open();
  EXPECT_TRUE(again.Has(sha256));
  EXPECT_EQ(ValueOf(again.Read(sha256, 6)), "hello\n");
  EXPECT_THAT(MessageOf(again.Read(sha256, 5)), HasSubstr("longer than the limit of 5 bytes"));
}

TEST_F(BlobStoreTest, AcceptsPiecesOfShortAndLongContents) {
  BlobStore blobs = Open();
  for (const std::size_t count : {0U, 1U, 3U, 4U, 5U, 40U}) {
    const std::string piece(64 << 10, 'p');
    std::string all;
    const std::string sha256 = ValueOf(blobs.AddPieces([&](const TakePiece& take) -> Result<> {
      for (std::size_t i = 0; i < count; ++i) {
        all += piece;
        EXPECT_TRUE(TRY(take(piece)));
      }
      return {};
    }));
    EXPECT_EQ(sha256, Sha256(all).hex());
    EXPECT_TRUE(ValueOf(blobs.Read(sha256, all.size())) == all) << count;
  }
  ASSERT_TRUE(Succeeded(blobs.Sync()));
  const auto size = Size();
  ValueOf(blobs.AddPieces([&](const TakePiece& take) -> Result<> {
    for (int i = 0; i < 40; ++i) TRY(take(std::string(64 << 10, 'p')));
    return {};
  }));
  EXPECT_EQ(Size(), size) << "equal contents are kept once";
}

TEST_F(BlobStoreTest, KeepsNothingOfPiecesThatEndInAnError) {
  BlobStore blobs = Open();
  const std::string before = ValueOf(blobs.Add("before"));
  ASSERT_TRUE(Succeeded(blobs.Sync()));
  const auto size = Size();
  EXPECT_EQ(MessageOf(blobs.AddPieces([&](const TakePiece& take) -> Result<> {
              for (int i = 0; i < 40; ++i) TRY(take(std::string(64 << 10, 'p')));
              return Error(ErrorKind::kInvalid, "torn");
            })),
            "torn");
  EXPECT_EQ(Size(), size);
  const std::string after = ValueOf(blobs.Add("after"));
  ASSERT_TRUE(Succeeded(blobs.Sync()));
  const BlobStore again = Open();
  EXPECT_EQ(ValueOf(again.Read(before, 100)), "before");
  EXPECT_EQ(ValueOf(again.Read(after, 100)), "after");
}

TEST_F(BlobStoreTest, KeepsEqualContentsOnce) {
  BlobStore blobs = Open();
  ValueOf(blobs.Add("hello"));
  ASSERT_TRUE(Succeeded(blobs.Sync()));
  const auto size = Size();
  ValueOf(blobs.Add("hello"));
  ASSERT_TRUE(Succeeded(blobs.Sync()));
  EXPECT_EQ(Size(), size);
  directory_.Write("file", std::string(1 << 20, 'x'));
  const std::string sha256 = ValueOf(blobs.AddFile(OpenFile("/file").get(), 1 << 20));
  const auto with_file = Size();
  EXPECT_EQ(ValueOf(blobs.AddFile(OpenFile("/file").get(), 1 << 20)), sha256);
  EXPECT_EQ(Size(), with_file);
}

// Some blobs are read before they are written to the disk.  A read from the disk also reads neighbouring blobs.
TEST_F(BlobStoreTest, ReturnsManyContentsInAnyOrderBeforeAndAfterASync) {
  BlobStore blobs = Open();
  std::vector<std::pair<std::string, std::string>> all;
  for (std::size_t i = 0; i < 200; ++i) {
    const std::size_t size = i % 50 == 49 ? 200'000 : i % 10 == 9 ? 60'000 : i * 97;
    const std::string contents = std::to_string(i) + std::string(size, 'x');
    all.emplace_back(ValueOf(blobs.Add(contents)), contents);
    EXPECT_EQ(ValueOf(blobs.Read(all[i / 2].first, 1 << 20)), all[i / 2].second);
  }
  const auto expect_all = [&](const BlobStore& store) {
    for (const auto& [sha256, contents] : all) ASSERT_EQ(ValueOf(store.Read(sha256, 1 << 20)), contents);
    std::reverse(all.begin(), all.end());
  };
  expect_all(blobs);
  expect_all(blobs);
  ASSERT_TRUE(Succeeded(blobs.Sync()));
  expect_all(blobs);
  expect_all(Open());
}

TEST_F(BlobStoreTest, AcceptsAFileThatHasChangedItsSize) {
  BlobStore blobs = Open();
  for (const std::size_t size : {0UL, 1UL, 4096UL, 262'143UL, 262'144UL, 1'000'000UL}) {
    const std::string contents(size, 'a');
    directory_.Write("file", contents);
    for (const std::size_t size_hint : {0UL, size, size + 7, 2 * size}) {
      EXPECT_EQ(ValueOf(blobs.AddFile(OpenFile("/file").get(), size_hint)), Sha256(contents).hex())
          << size << ", " << size_hint;
    }
    EXPECT_TRUE(ValueOf(blobs.Equals(Sha256(contents).hex(), OpenFile("/file").get())));
    directory_.Write("copy", "");
    ASSERT_TRUE(Succeeded(blobs.CopyTo(Sha256(contents).hex(), OpenFile("/copy").get())));
    EXPECT_EQ(directory_.Read("copy"), contents);
  }
}

TEST_F(BlobStoreTest, RecognisesAFileWithOtherContents) {
  BlobStore blobs = Open();
  const std::string sha256 = ValueOf(blobs.Add("hello"));
  for (const char* contents : {"", "hell", "hello!", "Hello"}) {
    directory_.Write("file", contents);
    EXPECT_FALSE(ValueOf(blobs.Equals(sha256, OpenFile("/file").get()))) << contents;
  }
}

TEST_F(BlobStoreTest, DropsAnIncompleteEntryAfterAPowerCutAnywhere) {
  std::uintmax_t whole = 0;
  {
    BlobStore blobs = Open();
    ValueOf(blobs.Add("kept"));
    ASSERT_TRUE(Succeeded(blobs.Sync()));
    whole = Size();
    ValueOf(blobs.Add("torn off"));
    ASSERT_TRUE(Succeeded(blobs.Sync()));
  }
  const std::string all = directory_.Read("store");
  ASSERT_GT(all.size(), whole);
  for (std::size_t length = whole; length < all.size(); ++length) {
    directory_.Write("store", all.substr(0, length));
    BlobStore blobs = Open();
    EXPECT_EQ(ValueOf(blobs.Read(Sha256("kept").hex(), 100)), "kept");
    EXPECT_FALSE(blobs.Has(Sha256("torn off").hex()));
    EXPECT_EQ(Size(), whole);
    EXPECT_EQ(ValueOf(blobs.Read(ValueOf(blobs.Add("torn off")), 100)), "torn off");
  }
}

TEST_F(BlobStoreTest, IgnoresContentsWithAnotherDigestAndKeepsTheFollowingOnes) {
  {
    BlobStore blobs = Open();
    ValueOf(blobs.Add("first"));
    ValueOf(blobs.Add("second"));
    ASSERT_TRUE(Succeeded(blobs.Sync()));
  }
  std::string all = directory_.Read("store");
  all.replace(all.find("first"), 5, std::string(5, '\0'));
  directory_.Write("store", all);
  BlobStore blobs = Open();
  EXPECT_FALSE(blobs.Has(Sha256("first").hex()));
  EXPECT_EQ(ValueOf(blobs.Read(Sha256("second").hex(), 100)), "second");
  EXPECT_EQ(ValueOf(blobs.Read(ValueOf(blobs.Add("first")), 100)), "first");
}

TEST_F(BlobStoreTest, ReadsAllContentsThoughReadsAreShort) {
  {
    BlobStore blobs = Open();
    ValueOf(blobs.Add("first"));
    ValueOf(blobs.Add("second"));
    ASSERT_TRUE(Succeeded(blobs.Sync()));
  }
  const FailingDisk disk(10);
  BlobStore blobs = Open();
  EXPECT_EQ(ValueOf(blobs.Read(Sha256("first").hex(), 100)), "first");
  EXPECT_EQ(ValueOf(blobs.Read(Sha256("second").hex(), 100)), "second");
}

TEST_F(BlobStoreTest, KeepsTheFileIfAHeaderCannotBeRead) {
  {
    BlobStore blobs = Open();
    ValueOf(blobs.Add("first"));
    ASSERT_TRUE(Succeeded(blobs.Sync()));
  }
  const std::string before = directory_.Read("store");
  {
    const FailingDisk disk(10, 1);
    const auto opened = BlobStore::Open(root_, "/store");
    EXPECT_EQ(MessageOf(opened), "opening the store of contents /store: read: Input/output error");
  }
  EXPECT_EQ(directory_.Read("store"), before);
}

TEST_F(BlobStoreTest, KeepsNothingOfContentsThatCouldNotBeWritten) {
  BlobStore blobs = Open();
  const std::string first = ValueOf(blobs.Add("first"));
  ASSERT_TRUE(Succeeded(blobs.Sync()));
  const auto size = Size();
  {
    const FileSizeLimit limit(100'000);
    EXPECT_EQ(MessageOf(blobs.Add(std::string(200'000, 'x'))), "storing contents in /store: write: File too large");
  }
  EXPECT_EQ(Size(), size);
  // Reading one blob also reads its neighbours.
  EXPECT_EQ(ValueOf(blobs.Read(first, 100)), "first");
  const std::string second = ValueOf(blobs.Add("the second one"));
  ASSERT_TRUE(Succeeded(blobs.Sync()));
  EXPECT_EQ(ValueOf(blobs.Read(second, 100)), "the second one");
}

// While a long blob arrives, a part of it is behind the end of the store.
TEST_F(BlobStoreTest, ForgetsTheBytesOfADiscardedBlob) {
  BlobStore blobs = Open();
  const std::string first = ValueOf(blobs.Add("first"));
  EXPECT_EQ(MessageOf(blobs.AddPieces([&](const TakePiece& take) -> Result<> {
              for (int i = 0; i < 5; ++i) TRY(take(std::string(64 << 10, 'p')));
              EXPECT_EQ(ValueOf(blobs.Read(first, 100)), "first");
              return Error(ErrorKind::kInvalid, "torn");
            })),
            "torn");
  const std::string second = ValueOf(blobs.Add("the second one"));
  ASSERT_TRUE(Succeeded(blobs.Sync()));
  EXPECT_EQ(ValueOf(blobs.Read(second, 100)), "the second one");
}

TEST_F(BlobStoreTest, NamesTheMissingContents) {
  EXPECT_EQ(MessageOf(Open().Read("0123", 10)), "/store has no contents with the digest 0123");
}

TEST_F(BlobStoreTest, IsReadableByItsOwnerOnlyAndFollowsNoLink) {
  Open();
  EXPECT_EQ(fs::status(directory_ / "store").permissions(), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("store", directory_ / "link");
  EXPECT_FALSE(BlobStore::Open(root_, "/link"));
}

}  // namespace
}  // namespace pintle::host

// Takes the place of the C library's function in this program.
extern "C" ssize_t pread(int fd, void* buffer, size_t count, off_t offset) {
  using pintle::host::calls_until_error;
  if (calls_until_error && (*calls_until_error)-- <= 0) {
    errno = EIO;
    return -1;
  }
  return ::syscall(SYS_pread64, fd, buffer, std::min(count, pintle::host::most_at_once), offset);
}
