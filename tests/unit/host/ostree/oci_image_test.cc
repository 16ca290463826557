// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/oci_image.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/ostree/disk_space.h"

namespace pintle::host {
namespace {

using testing::HasSubstr;

const std::string kA = "sha256:" + std::string(64, 'a');
const std::string kB = "sha256:" + std::string(64, 'b');

std::string Manifest(const std::string& layer) {
  return fmt::format(R"({{"schemaVersion":2,"config":{{"digest":"{}","size":2}},"layers":[{{"digest":"{}","size":3}}],)"
                     R"("annotations":{{"x":"y"}}}})",
                     kA, layer);
}

std::string Index(const std::string& entries) {
  return fmt::format(R"({{"schemaVersion":2,"manifests":[{}]}})", entries);
}

OciIndex ParsedIndex(const std::string& entries) {
  const auto parsed = ParseOciManifest(Index(entries));
  EXPECT_TRUE(parsed) << parsed.error().message();
  return parsed ? std::get<OciIndex>(*parsed) : OciIndex{};
}

TEST(ParseOciManifest, DistinguishesAnImageFromAnIndex) {
  const auto image = ParseOciManifest(Manifest(kB));
  ASSERT_TRUE(image) << image.error().message();
  ASSERT_TRUE(std::holds_alternative<OciManifest>(*image));
  EXPECT_EQ(std::get<OciManifest>(*image).layers.at(0).digest, kB);
  EXPECT_EQ(ParsedIndex(fmt::format(R"({{"digest":"{}","size":1}})", kA)).manifests.at(0).digest, kA);
}

TEST(ParseOciManifest, RefusesDigestsThatCouldBePaths) {
  for (const std::string& digest :
       std::vector<std::string>{"sha256:../../etc/passwd", "sha512:" + std::string(64, 'a'), "",
                                "sha256:", "sha256:" + std::string(64, 'A'), std::string(64, 'a')}) {
    EXPECT_FALSE(ParseOciManifest(Manifest(digest))) << digest;
    EXPECT_FALSE(ParseOciManifest(Index(fmt::format(R"({{"digest":"{}","size":1}})", digest)))) << digest;
  }
}

TEST(ParseOciManifest, RefusesATextThatIsNoManifest) {
  for (const char* text : {"", "[]", "{}", R"({"schemaVersion":1,"fsLayers":[]})", "<html>",
                           R"({"schemaVersion":2,"config":{"digest":"x","size":-1},"layers":[]})"}) {
    EXPECT_FALSE(ParseOciManifest(text)) << text;
  }
}

TEST(ForMachine, ChoosesTheImageForLinuxOnThisArchitecture) {
  constexpr const char* kEntry = R"({{"digest":"{}","size":1,"platform":{{"architecture":"{}","os":"{}"}}}})";
  const OciIndex index =
      ParsedIndex(fmt::format(kEntry, kB, "amd64", "windows") + "," + fmt::format(kEntry, kB, "arm64", "linux") + "," +
                  fmt::format(kEntry, kA, "amd64", "linux"));
  EXPECT_EQ(ForMachine(index, "x86_64")->digest, kA);
  EXPECT_EQ(ForMachine(index, "aarch64")->digest, kB);
  EXPECT_EQ(ForMachine(index, "s390x").error().kind(), ErrorKind::kNotFound);
}

TEST(WithTag, NeedsATagOnlyForSeveralImages) {
  constexpr const char* kEntry =
      R"({{"digest":"{}","size":1,"annotations":{{"org.opencontainers.image.ref.name":"{}"}}}})";
  const std::string base = fmt::format(kEntry, kA, "base"), next = fmt::format(kEntry, kB, "next");
  EXPECT_EQ(WithTag(ParsedIndex(base), "")->digest, kA);
  EXPECT_EQ(WithTag(ParsedIndex(base + "," + next), "next")->digest, kB);
  EXPECT_FALSE(WithTag(ParsedIndex(base + "," + next), ""));
  EXPECT_FALSE(WithTag(ParsedIndex(base), "absent"));
}

TEST(VersionOf, IsTakenFromTheLabels) {
  const auto config = ParseOciConfig(R"({"created":"2026-01-01T00:00:00Z","config":{"Labels":{"version":"418"}}})");
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(VersionOf(*config), "418");
  EXPECT_EQ(VersionOf(*ParseOciConfig(R"({"config":{"Labels":{"org.opencontainers.image.version":"9"}}})")), "9");
  EXPECT_EQ(VersionOf(*ParseOciConfig(R"({"config":{"Labels":null}})")), "");
}

OciConfig Labelled(std::map<std::string, std::string> labels) {
  OciConfig config;
  config.config.labels = std::move(labels);
  config.rootfs.diff_ids = {"sha256:1", "sha256:2", "sha256:3"};
  return config;
}

TEST(PackedCommitOf, IsInTheLayersUpToTheLayerThatALabelNames) {
  OciManifest manifest;
  manifest.layers.resize(3);
  const auto found = PackedCommitOf(manifest, Labelled({{"ostree.commit", "c"}, {"ostree.final-diffid", "sha256:2"}}));
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->checksum, "c");
  EXPECT_EQ((*found)->layers, 2u);
  EXPECT_EQ((*PackedCommitOf(manifest, Labelled({{"ostree.commit", "c"}})))->layers, 1u);
  EXPECT_FALSE(*PackedCommitOf(manifest, Labelled({{"version", "1"}})));
}

TEST(PackedCommitOf, RefusesALabelThatNamesNoLayer) {
  OciManifest manifest;
  manifest.layers.resize(3);
  EXPECT_FALSE(PackedCommitOf(manifest, Labelled({{"ostree.final-diffid", "sha256:4"}})));
  manifest.layers.resize(2);
  EXPECT_FALSE(PackedCommitOf(manifest, Labelled({{"ostree.final-diffid", "sha256:2"}})));
}

TEST(ExpectDigest, RefusesBytesWithAnotherDigest) {
  EXPECT_TRUE(ExpectDigest("sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", ""));
  EXPECT_FALSE(ExpectDigest(kA, ""));
}

TEST(ExpectSpace, KeepsTheReservedSpaceFree) {
  EXPECT_TRUE(ExpectSpace(60, {.free = 100, .reserved = 40}));
  EXPECT_FALSE(ExpectSpace(61, {.free = 100, .reserved = 40}));
  EXPECT_FALSE(ExpectSpace(1, {.free = 40, .reserved = 100}));
  EXPECT_TRUE(ExpectSpace(0, {.free = 40, .reserved = 100}));
  const auto refused = ExpectSpace(3 << 20, {.free = 2 << 20, .reserved = 1 << 20});
  EXPECT_THAT(refused.error().message(), HasSubstr("3 MiB are needed, and 2 MiB are free, of which 1 MiB"));
}

TEST(AddSize, RefusesASumThatOverflows) {
  std::uint64_t sum = 1;
  EXPECT_TRUE(AddSize(sum, ~std::uint64_t{0} - 1));
  EXPECT_EQ(sum, ~std::uint64_t{0});
  EXPECT_FALSE(AddSize(sum, 1));
  EXPECT_EQ(sum, ~std::uint64_t{0});
}

TEST(SpaceFor, CountsALayerPackedAndUnpackedAndDoesNotOverflow) {
  OciDescriptor layer;
  layer.size = 10;
  EXPECT_EQ(SpaceFor(std::vector{layer, layer}), 40U);
  layer.size = ~std::uint64_t{0};
  EXPECT_EQ(SpaceFor(std::vector{layer, layer}), ~std::uint64_t{0});
}

}  // namespace
}  // namespace pintle::host
