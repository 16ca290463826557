// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include "base/c_ptr.h"
#include "base/unique_fd.h"
#include "support/expect.h"

namespace pintle {
namespace {

struct Thing {
  int* freed;
};
int FreeThing(Thing* thing) {
  ++*thing->freed;
  delete thing;
  return 0;
}
using OwnedThing = CPtr<Thing, FreeThing>;

int MakeThing(int* freed, Thing** out) {
  if (freed == nullptr) return -1;
  *out = new Thing{freed};
  return 0;
}

bool IsOpen(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

TEST(CPtr, FreesAPointerThatAFunctionFilledIn) {
  int freed = 0;
  {
    OwnedThing thing;
    ASSERT_EQ(MakeThing(&freed, Out(thing)), 0);
    ASSERT_NE(thing, nullptr);
  }
  EXPECT_EQ(freed, 1);
}

TEST(CPtr, FreesTheOldPointerWhenAFunctionFillsInANewOne) {
  int first = 0;
  int second = 0;
  OwnedThing thing;
  MakeThing(&first, Out(thing));
  MakeThing(&second, Out(thing));
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 0);
}

TEST(CPtr, KeepsTheOldPointerWhenTheFunctionFails) {
  int freed = 0;
  OwnedThing thing;
  MakeThing(&freed, Out(thing));
  EXPECT_EQ(MakeThing(nullptr, Out(thing)), -1);
  EXPECT_NE(thing, nullptr);
  EXPECT_EQ(freed, 0);
}

TEST(UniqueFd, ClosesItsDescriptorOnce) {
  const int raw = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  {
    UniqueFd first(raw);
    const UniqueFd second = std::move(first);
    EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): the test is that it is empty.
    EXPECT_TRUE(IsOpen(raw));
  }
  EXPECT_FALSE(IsOpen(raw));
}

TEST(UniqueFd, ClosesTheOldOneWhenANewOneIsMovedIn) {
  const int old = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  UniqueFd fd(old);
  fd = UniqueFd(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  EXPECT_NE(fd.get(), old);
  EXPECT_FALSE(IsOpen(old));
}

TEST(UniqueFd, ReleaseGivesTheDescriptorAway) {
  UniqueFd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int raw = fd.Release();
  fd.Reset();
  EXPECT_TRUE(IsOpen(raw));
  ::close(raw);
}

}  // namespace
}  // namespace pintle
