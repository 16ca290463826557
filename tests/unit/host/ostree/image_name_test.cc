// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/image_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pintle::host {
namespace {

const std::string kHex(64, 'a');

template <typename T>
T Parsed(const std::string& text) {
  const auto name = ParseImageName(text);
  EXPECT_TRUE(name) << name.error().message();
  return name && std::holds_alternative<T>(*name) ? std::get<T>(*name) : T{};
}

TEST(ParseImageName, RecognisesAnImageInARegistryByItsHost) {
  EXPECT_EQ(Parsed<RegistryImage>("quay.io/os/image:4.18"), (RegistryImage{"quay.io/os/image", "4.18", ""}));
  EXPECT_EQ(Parsed<RegistryImage>("localhost/os"), (RegistryImage{"localhost/os", "latest", ""}));
  EXPECT_EQ(Parsed<RegistryImage>("registry:5000/os"), (RegistryImage{"registry:5000/os", "latest", ""}));
  EXPECT_EQ(Parsed<RegistryImage>("[::1]:5000/os:1"), (RegistryImage{"[::1]:5000/os", "1", ""}));
  EXPECT_EQ(Parsed<RegistryImage>("docker://quay.io/os:1"), (RegistryImage{"quay.io/os", "1", ""}));
}

TEST(ParseImageName, PrefersADigestToATag) {
  const RegistryImage image = {"quay.io/os", "", "sha256:" + kHex};
  EXPECT_EQ(Parsed<RegistryImage>("quay.io/os@sha256:" + kHex), image);
  EXPECT_EQ(Parsed<RegistryImage>("quay.io/os:1@sha256:" + kHex), image);
  EXPECT_EQ(PullSpec(image), "quay.io/os@sha256:" + kHex);
}

TEST(ParseImageName, RecognisesLayoutsBranchesAndCommits) {
  EXPECT_EQ(Parsed<LayoutImage>("oci:/var/images:next"), (LayoutImage{"/var/images", "next"}));
  EXPECT_EQ(Parsed<LayoutImage>("oci:/var/images"), (LayoutImage{"/var/images", ""}));
  EXPECT_EQ(Parsed<OstreeBranch>("fedora:fedora/x86_64/coreos"), (OstreeBranch{"fedora", "fedora/x86_64/coreos"}));
  EXPECT_EQ(Parsed<OstreeBranch>("debian/test"), (OstreeBranch{"", "debian/test"}));
  EXPECT_EQ(Parsed<OstreeCommit>(kHex), OstreeCommit{kHex});
}

TEST(ParseImageName, RefusesInvalidNames) {
  for (const char* text :
       {"", "quay.io/os@md5:1234", "quay.io/os@sha256:12", "quay.io/os:", "quay.io/os:a b", "--help", "oci:relative",
        "docker://os", "a:b:c", "quay.io/--x y", "remote:", ":branch", "docker://-x.y/z"}) {
    EXPECT_FALSE(ParseImageName(text)) << text;
  }
}

TEST(ImageOfReference, ReadsTheFormsInOrigins) {
  EXPECT_EQ(ImageOfReference("ostree-unverified-registry:quay.io/os@sha256:" + kHex), "quay.io/os@sha256:" + kHex);
  EXPECT_EQ(ImageOfReference("ostree-remote-registry:fedora:quay.io/os:1"), "quay.io/os:1");
  EXPECT_EQ(ImageOfReference("ostree-remote-image:fedora:docker://quay.io/os:1"), "quay.io/os:1");
  EXPECT_EQ(ImageOfReference("ostree-image-signed:registry:quay.io/os:1"), "quay.io/os:1");
  EXPECT_EQ(ImageOfReference("ostree-unverified-image:containers-storage:quay.io/os"), "quay.io/os");
  EXPECT_EQ(ImageOfReference("ostree-unverified-image:oci:/var/images:next"), "oci:/var/images:next");
  EXPECT_EQ(ImageOfReference("ostree-remote-registry:fedora"), "");
  EXPECT_EQ(ImageOfReference(""), "");
}

TEST(ContainerReference, IsReadBackAsTheImage) {
  const RegistryImage registry = {"quay.io/os", "", "sha256:" + kHex};
  EXPECT_EQ(ImageOfReference(ContainerReference(registry)), PullSpec(registry));
  EXPECT_EQ(ImageOfReference(ContainerReference(LayoutImage{"/var/images", "next"})), "oci:/var/images:next");
}

}  // namespace
}  // namespace pintle::host
