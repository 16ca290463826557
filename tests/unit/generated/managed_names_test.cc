// SPDX-License-Identifier: Apache-2.0
#include "generated/managed_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace pintle::generated {
namespace {

using Names = std::vector<std::string>;

// Makes an object that was created in this second, with this annotation ("-" for none) and these finalizers.
api::ObjectMeta ObjectFrom(int second, const std::string& suffix, Names finalizers = {}) {
  api::ObjectMeta object;
  object.name = "object-" + std::to_string(second);
  object.creation_timestamp = api::Time{WallTime(std::chrono::seconds(second))};
  object.finalizers = std::move(finalizers);
  if (suffix != "-") object.annotations[std::string(kNameSuffixAnnotation)] = suffix;
  return object;
}

struct NameCase {
  const char* what;
  api::ObjectMeta object;
  std::vector<api::ObjectMeta> others;
  Names existing;
  std::string name;  // The name, or the error.
  std::string takes_over;
};

std::string NameOf(const NameCase& c, ManagedKind kind, std::string& takes_over) {
  std::vector<const api::ObjectMeta*> of_pool = {&c.object};
  for (const api::ObjectMeta& other : c.others) of_pool.push_back(&other);
  api::ObjectMeta pool;
  pool.name = "worker";
  pool.uid = "uid-w";
  const auto has = [&](const std::string& name) { return std::count(c.existing.begin(), c.existing.end(), name) > 0; };
  const Result<ManagedName> name = NameFor(kind, c.object, of_pool, pool, has);
  if (!name) return name.error().message();
  takes_over = name->takes_over.value_or("");
  return name->name;
}

TEST(NameFor, GivesEachObjectOfAPoolANameThatItKeeps) {
  const std::string plain = "99-worker-generated-kubelet";
  const NameCase cases[] = {
      {"the only object of a pool", ObjectFrom(1, "-"), {}, {}, plain, ""},
      {"an object that has the plain name", ObjectFrom(1, ""), {ObjectFrom(2, "3")}, {plain}, plain, ""},
      {"an object that has a number", ObjectFrom(1, "3"), {}, {}, plain + "-3", ""},
      {"the second object", ObjectFrom(2, "-"), {ObjectFrom(1, "")}, {plain}, plain + "-1", ""},
      {"the first of two objects without configs", ObjectFrom(1, "-"), {ObjectFrom(2, "-")}, {}, plain + "-1", ""},
      {"a lower number that is free is not used",
       ObjectFrom(5, "-"),
       {ObjectFrom(1, ""), ObjectFrom(2, "4")},
       {},
       plain + "-5",
       ""},
      {"an older object that has lost its annotation",
       ObjectFrom(1, "-", {plain, plain + "-2"}),
       {ObjectFrom(2, "")},
       {plain, plain + "-2"},
       plain + "-2",
       ""},
      {"a finalizer whose config does not exist",
       ObjectFrom(1, "-", {plain + "-2"}),
       {ObjectFrom(2, "4")},
       {},
       plain + "-5",
       ""},
      {"a finalizer of another pool",
       ObjectFrom(1, "-", {"99-workers-generated-kubelet"}),
       {ObjectFrom(2, "4")},
       {"99-workers-generated-kubelet"},
       plain + "-5",
       ""},
      {"a finalizer whose name only begins like the pool's",
       ObjectFrom(1, "-", {plain + "er-1"}),
       {ObjectFrom(2, "")},
       {plain + "er-1"},
       plain + "-1",
       ""},
      {"the finalizers of the youngest object do not count",
       ObjectFrom(3, "-", {plain}),
       {ObjectFrom(2, "4")},
       {plain},
       plain + "-5",
       ""},
      {"a config of an older operator",
       ObjectFrom(1, "-"),
       {},
       {"99-worker-uid-w-kubelet"},
       plain,
       "99-worker-uid-w-kubelet"},
      {"an object with a config of both names", ObjectFrom(1, ""), {}, {plain, "99-worker-uid-w-kubelet"}, plain, ""},
      {"an eleventh object",
       ObjectFrom(20, "-"),
       {ObjectFrom(1, "9")},
       {},
       "max number of supported kubelet config (10) has been reached. Please delete old kubelet configs before "
       "retrying",
       ""},
      {"an annotation with the largest number",
       ObjectFrom(2, "-"),
       {ObjectFrom(1, "9223372036854775807")},
       {},
       "max number of supported kubelet config (10) has been reached. Please delete old kubelet configs before "
       "retrying",
       ""},
      {"an annotation that is no number",
       ObjectFrom(2, "-"),
       {ObjectFrom(1, "x")},
       {},
       "error converting x to int: strconv.Atoi: parsing \"x\": invalid syntax",
       ""},
      {"an annotation with a number that is too large",
       ObjectFrom(2, "-"),
       {ObjectFrom(1, "99999999999999999999")},
       {},
       "error converting 99999999999999999999 to int: strconv.Atoi: parsing \"99999999999999999999\": value out of "
       "range",
       ""},
  };
  for (const NameCase& c : cases) {
    SCOPED_TRACE(c.what);
    std::string takes_over;
    EXPECT_EQ(NameOf(c, ManagedKind::kKubelet, takes_over), c.name);
    EXPECT_EQ(takes_over, c.takes_over);
  }
}

TEST(NameFor, HasItsOwnWordsForContainerRuntimes) {
  std::string takes_over;
  EXPECT_EQ(NameOf({"", ObjectFrom(1, "-"), {}, {"99-worker-uid-w-containerruntime"}, "", ""},
                   ManagedKind::kContainerRuntime, takes_over),
            "99-worker-generated-containerruntime");
  EXPECT_EQ(takes_over, "99-worker-uid-w-containerruntime");
  EXPECT_EQ(
      NameOf({"", ObjectFrom(20, "-"), {ObjectFrom(1, "9")}, {}, "", ""}, ManagedKind::kContainerRuntime, takes_over),
      "max number of supported ctrcfgs (10) has been reached. Please delete old ctrcfgs before retrying");
}

TEST(ConfigOfOldName, IsNulloptIfThereIsAConfigOfTheNewName) {
  api::ObjectMeta pool;
  pool.name = "infra";
  pool.uid = "uid-i";
  Names existing = {"98-infra-uid-i-kubelet"};
  const auto has = [&](const std::string& name) { return std::count(existing.begin(), existing.end(), name) > 0; };
  EXPECT_EQ(ConfigOfOldName("98-infra-generated-kubelet", "98", pool, "kubelet", has), "98-infra-uid-i-kubelet");
  EXPECT_EQ(ConfigOfOldName("97-infra-generated-kubelet", "97", pool, "kubelet", has), std::nullopt);
  existing.emplace_back("98-infra-generated-kubelet");
  EXPECT_EQ(ConfigOfOldName("98-infra-generated-kubelet", "98", pool, "kubelet", has), std::nullopt);
}

TEST(NameSuffixOf, IsTheNumberBehindTheName) {
  EXPECT_EQ(NameSuffixOf("99-worker-generated-kubelet"), "");
  EXPECT_EQ(NameSuffixOf("99-worker-generated-kubelet-7"), "7");
  EXPECT_EQ(NameSuffixOf("99-gpu-1-generated-kubelet"), "");
  EXPECT_EQ(NameSuffixOf("99-gpu-1-generated-kubelet-2"), "2");
  EXPECT_EQ(NameSuffixOf("kubelet"), "");
}

TEST(IsMadeByAnotherVersion, IsTrueForAConfigOfAnotherBuild) {
  api::ObjectMeta config;
  config.name = "99-worker-generated-kubelet-4";
  config.annotations = {{"machineconfiguration.openshift.io/generated-by-controller-version", "OLD"}};
  EXPECT_TRUE(IsMadeByAnotherVersion(config, "99", "kubelet", "HASH"));
  EXPECT_FALSE(IsMadeByAnotherVersion(config, "99", "kubelet", "OLD"));
  EXPECT_FALSE(IsMadeByAnotherVersion(config, "98", "kubelet", "HASH"));
  EXPECT_FALSE(IsMadeByAnotherVersion(config, "99", "containerruntime", "HASH"));
}

// The Machine Config Operator deletes a config with such a name even if a user has made it; Pintle keeps it.
TEST(IsMadeByAnotherVersion, IsFalseForAConfigWithoutTheAnnotationOfABuild) {
  api::ObjectMeta config;
  config.name = "99-worker-my-generated-kubelet";
  EXPECT_FALSE(IsMadeByAnotherVersion(config, "99", "kubelet", "HASH"));
}

}  // namespace
}  // namespace pintle::generated
