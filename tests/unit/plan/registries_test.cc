// SPDX-License-Identifier: Apache-2.0
#include "plan/registries.h"

#include <map>

#include "support/expect.h"

namespace pintle::plan {
namespace {

const std::string kSearch = "unqualified-search-registries = [\"example.com\", \"foo.com\"]\n";

std::string Registry(const std::string& location, const std::string& more = "") {
  return "[[registry]]\nlocation = \"" + location + "\"\n" + more;
}
std::string Mirror(const std::string& location, const std::string& more = "") {
  return "[[registry.mirror]]\nlocation = \"" + location + "\"\n" + more;
}

const std::string kDigest = "pull-from-mirror = \"digest-only\"\n";
const std::string kRepository = "example.com/repo/test-img";
const std::string kOtherRepository = "example.com/repo1/test-img1";

// The files that the Machine Config Operator's own tests change into one another.
const std::map<int, std::string> kFiles = {
    {1, kSearch + Registry(kRepository, Mirror("mirror.com/repo/test-img")) +
            Registry(kOtherRepository, Mirror("mirror.com/repo1/test-img1", kDigest))},
    {2, kSearch + Registry(kRepository, Mirror("mirror.com/repo/test-img")) +
            Registry(kOtherRepository,
                     Mirror("mirror.com/repo1/test-img1", kDigest) + Mirror("mirror1.com/repo1/test-img1", kDigest))},
    {3, kSearch + Registry(kRepository, Mirror("mirror.com/repo/test-img"))},
    {4, "unqualified-search-registries = [\"example.com\", \"foo.com\", \"bar.com\"]\n" +
            Registry(kRepository, Mirror("mirror.com/repo/test-img", kDigest))},
    {5, kSearch + Registry(kRepository, Mirror("mirror.com/repo/test-img", kDigest))},
    {6, kSearch + Registry(kRepository, Mirror("mirror.com/repo/test-img", kDigest)) + Registry(kOtherRepository)},
    {7, kSearch + Registry(kRepository, Mirror("mirror.com/repo/test-img", kDigest)) +
            Registry(kOtherRepository, Mirror("mirror.com/repo1/test-img1"))},
    {8, kSearch + "[[registry]]\nprefix = \"bar.com\"\nlocation = \"" + kRepository + "\"\n"},
    {9, kSearch + "[[registry]]\nprefix = \"bar.com\"\nlocation = \"" + kRepository + "\"\nblocked = true\n"},
    {10, kSearch + "[[registry]]\nprefix = \"\"\nlocation = \"" + kRepository + "\"\n"},
    {11, kSearch + Registry("example.com/repo1/test-img", Mirror("mirror.com/x", kDigest)) +
             "[[registry]]\nprefix = \"bar.com\"\nlocation = \"" + kRepository + "\"\nblocked = true\n"},
    {12, kSearch + Registry(kRepository, "mirror-by-digest-only = true\n" + Mirror("mirror.com/repo/test-img"))},
    {13, kSearch + Registry(kRepository, "mirror-by-digest-only = true\n" + Mirror("mirror.com/repo/test-img") +
                                             Mirror("mirror2.com/x"))},
};

bool IsHarmful(int from, int to) { return !ValueOf(HarmInRegistries(kFiles.at(from), kFiles.at(to))).empty(); }

TEST(HarmInRegistries, FindsNoneInMirrorsForDigests) {
  for (const auto& [from, to] : std::vector<std::pair<int, int>>{{1, 1}, {3, 1}, {1, 2}, {9, 11}, {3, 4}, {12, 13}}) {
    EXPECT_FALSE(IsHarmful(from, to)) << from << " " << to;
  }
}

TEST(HarmInRegistries, FindsEverySettingThatMayChangeAnImage) {
  for (const auto& [from, to] :
       std::vector<std::pair<int, int>>{{5, 6}, {1, 3}, {6, 7}, {2, 1}, {4, 3}, {8, 10}, {8, 9}, {1, 6}}) {
    EXPECT_TRUE(IsHarmful(from, to)) << from << " " << to;
  }
}

TEST(HarmInRegistries, FindsNoneInARegistryThatStaysAsItIs) {
  const std::string twice = Registry(kRepository, Mirror("mirror.com/x", kDigest) + Mirror("mirror.com/x"));
  EXPECT_EQ(ValueOf(HarmInRegistries(twice, twice + Registry(kOtherRepository, Mirror("mirror.com/y", kDigest)))), "");
}

TEST(HarmInRegistries, NamesTheReason) {
  EXPECT_EQ(ValueOf(HarmInRegistries(kFiles.at(8), kFiles.at(9))), "registry bar.com: its setting \"blocked\" changes");
  EXPECT_EQ(ValueOf(HarmInRegistries(kFiles.at(2), kFiles.at(1))),
            "registry " + kOtherRepository + ": mirror mirror1.com/repo1/test-img1 is removed");
}

TEST(HarmInRegistries, IsUnknownForABrokenFile) {
  EXPECT_EQ(MessageOf(HarmInRegistries("", "not = = toml")),
            "failed decoding TOML content from file /etc/containers/registries.conf: toml: line 1 (last key \"not\"): "
            "expected value but found '=' instead");
}

}  // namespace
}  // namespace pintle::plan
