// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/named_deployment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/root.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::host {
namespace {

using testing::ElementsAre;

// A tree with a disk in /sysroot that has one deployment of the OS "rhcos", as OSTree lays it out.
class NamedDeploymentTest : public testing::Test {
 protected:
  NamedDeploymentTest() {
    std::filesystem::create_directories(directory_ / ("sysroot/ostree/deploy/rhcos/deploy/" + commit_ + ".1"));
    std::filesystem::create_directories(directory_ / "sysroot/ostree/boot.0/rhcos/5e");
    std::filesystem::create_directory_symlink("sysroot/ostree", directory_ / "ostree");
    std::filesystem::create_directory_symlink("../../../deploy/rhcos/deploy/" + commit_ + ".1",
                                              directory_ / "sysroot/ostree/boot.0/rhcos/5e/0");
  }

  void WriteOrigin(const std::string& text) const {
    directory_.Write("sysroot/ostree/deploy/rhcos/deploy/" + commit_ + ".1.origin", text);
  }

  const std::string commit_ = std::string(64, 'c');
  TemporaryDirectory directory_;
  Root root_ = ValueOf(Root::Open(directory_.path().string()));
};

TEST_F(NamedDeploymentTest, HasTheNameThatLibostreeGivesIt) {
  WriteOrigin("[origin]\ncontainer-image-reference=ostree-unverified-registry:quay.io/os@sha256:1\n");
  const auto found = ValueOf(NamedDeployment(root_, "ro ostree=/ostree/boot.0/rhcos/5e/0 a=1\n"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, "rhcos-" + commit_ + ".1");
  EXPECT_EQ(found->commit, commit_);
  EXPECT_EQ(found->base_commit, commit_);
  EXPECT_EQ(found->image, "quay.io/os@sha256:1");
  EXPECT_EQ(found->digest, "sha256:1");
  EXPECT_THAT(found->kernel_arguments, ElementsAre("ro", "ostree=/ostree/boot.0/rhcos/5e/0", "a=1"));
}

TEST_F(NamedDeploymentTest, HasTheBranchOfItsOrigin) {
  WriteOrigin("[origin]\nbaserefspec=fedora:fedora/x86_64/coreos\n");
  const auto found = ValueOf(NamedDeployment(root_, "ostree=/ostree/boot.0/rhcos/5e/0"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->branch, "fedora:fedora/x86_64/coreos");
}

TEST_F(NamedDeploymentTest, IsNulloptIfTheCommandLineHasNone) {
  EXPECT_FALSE(ValueOf(NamedDeployment(root_, "ro root=/dev/vda")));
}

}  // namespace
}  // namespace pintle::host
