// SPDX-License-Identifier: Apache-2.0
#include "plan/extensions.h"

#include "support/expect.h"

namespace pintle::plan {
namespace {

using State = resource::Deployment::State;
using Names = std::vector<std::string>;

const Names kImageKernel = {"kernel", "kernel-core", "kernel-modules", "kernel-modules-core", "kernel-modules-extra"};
const Names kRealtime = {"kernel-rt-core", "kernel-rt-modules", "kernel-rt-modules-extra"};

State StateWith(Names extensions, std::string kernel_type = "default", std::string image = "example.com/os@sha256:1") {
  State state;
  state.image = std::move(image);
  state.extensions = std::move(extensions);
  state.kernel_type = std::move(kernel_type);
  return state;
}

PackageChanges Changes(const State& from, const State& to, const LayeredPackages& booted = {}) {
  return ValueOf(PackagesFor(from, to, booted, "x86_64"));
}

TEST(Extensions, AreThePackagesThatTheyConsistOf) {
  const PackageChanges changes = Changes(StateWith({}), StateWith({"usbguard", "ipsec"}));
  EXPECT_EQ(changes, (PackageChanges{
                         {"NetworkManager-libreswan", "libreswan", "openvswitch3.5-ipsec", "usbguard"}, {}, {}, {}}));
}

TEST(Extensions, AreNotInstalledTwice) {
  const PackageChanges changes =
      Changes(StateWith({"ipsec"}), StateWith({"ipsec", "sysstat"}), {{"libreswan", "vim"}, {}});
  EXPECT_EQ(changes.install, (Names{"NetworkManager-libreswan", "openvswitch3.5-ipsec", "sysstat"}));
  EXPECT_EQ(changes.uninstall, Names());
}

TEST(Extensions, KeepOnlyTheirOwnPackages) {
  const PackageChanges changes = Changes(StateWith({"kerberos", "sysstat"}), StateWith({"sysstat"}),
                                         {{"vim", "sysstat", "libkadm5", "krb5-workstation", "usbguard"}, {}});
  EXPECT_EQ(changes, (PackageChanges{{}, {"krb5-workstation", "libkadm5", "usbguard"}, {}, {}}));
}

TEST(Extensions, AreChangedOnlyIfTheyOrTheImageChange) {
  EXPECT_TRUE(Changes(StateWith({"usbguard"}), StateWith({"usbguard"})).IsEmpty());
  EXPECT_TRUE(
      Changes(StateWith({}), StateWith({}, "default", "example.com/os@sha256:2"), {{"usbguard"}, {}}).IsEmpty());
  EXPECT_EQ(Changes(StateWith({"usbguard"}), StateWith({"usbguard"}, "default", "example.com/os@sha256:2")).install,
            Names{"usbguard"});
}

TEST(Extensions, ThatAreUnknownAreAllNamed) {
  EXPECT_EQ(MessageOf(PackagesFor(StateWith({}), StateWith({"usbguard", "wasm", "nothing"}), {}, "x86_64")),
            "invalid extensions found: [wasm nothing]");
}

TEST(KernelType, ReplacesTheKernelOfTheImage) {
  EXPECT_EQ(Changes(StateWith({}), StateWith({}, "realtime")), (PackageChanges{kRealtime, {}, kImageKernel, {}}));
  const PackageChanges pages = ValueOf(PackagesFor(StateWith({}), StateWith({}, "64k-pages"), {}, "aarch64"));
  EXPECT_EQ(pages.install,
            (Names{"kernel-64k-core", "kernel-64k-modules", "kernel-64k-modules-core", "kernel-64k-modules-extra"}));
  EXPECT_EQ(pages.override_remove, kImageKernel);
}

TEST(KernelType, Of64kPagesIsForOneArchitecture) {
  EXPECT_EQ(MessageOf(PackagesFor(StateWith({}), StateWith({}, "64k-pages"), {}, "x86_64")),
            "64k-pages is only supported for aarch64 architecture");
}

TEST(KernelType, RestoresTheImagesKernelAndKeepsAKernelThatSomebodyInstalled) {
  const LayeredPackages booted = {{"vim", "kernel-rt-core", "kernel-rt-modules"}, {"nano", "kernel", "kernel-core"}};
  EXPECT_EQ(Changes(StateWith({}, "realtime"), StateWith({}), booted),
            (PackageChanges{{}, {"kernel-rt-core", "kernel-rt-modules"}, {}, {"kernel", "kernel-core"}}));
  EXPECT_TRUE(Changes(StateWith({}, "realtime"), StateWith({}), {{"kernel-rt-core"}, {}}).IsEmpty());
  EXPECT_TRUE(Changes(StateWith({}, "realtime"), StateWith({}), {{}, {"kernel"}}).IsEmpty());
}

TEST(KernelType, IsInstalledAgainWithANewImage) {
  const LayeredPackages booted = {{"kernel-rt-core", "kernel-rt-kvm"}, {"kernel", "kernel-core"}};
  EXPECT_EQ(Changes(StateWith({}, "realtime"), StateWith({}, "realtime", "example.com/os@sha256:2"), booted),
            (PackageChanges{kRealtime, {"kernel-rt-core", "kernel-rt-kvm"}, kImageKernel, {"kernel", "kernel-core"}}));
  EXPECT_TRUE(Changes(StateWith({}, "realtime"), StateWith({}, "realtime"), booted).IsEmpty());
}

TEST(KernelType, ChangesTogetherWithExtensions) {
  const PackageChanges changes =
      Changes(StateWith({"sysstat"}, "realtime"), StateWith({"usbguard"}), {{"sysstat", "kernel-rt-core"}, {"kernel"}});
  EXPECT_EQ(changes, (PackageChanges{{"usbguard"}, {"kernel-rt-core", "sysstat"}, {}, {"kernel"}}));
}

class Missing : public testing::Test {
 protected:
  MissingParts Find(const State& want, const Names& lacking, const LayeredPackages& booted = {}) const {
    return FindMissing(want, booted, lacking, "x86_64");
  }
};

TEST_F(Missing, IsEmptyIfAllPackagesAreInstalled) {
  EXPECT_EQ(PackagesToCheck(StateWith({"kerberos"}, "realtime"), "x86_64"),
            (Names{"kernel-rt-core", "kernel-rt-modules", "kernel-rt-modules-extra", "krb5-workstation", "libkadm5"}));
  EXPECT_EQ(Find(StateWith({"kerberos"}, "realtime"), {}).problems, Names());
}

TEST_F(Missing, HasAnExtensionThatLacksOnePackage) {
  const MissingParts parts = Find(StateWith({"sysstat", "kerberos"}), {"libkadm5"});
  EXPECT_EQ(parts.extensions, (Names{"kerberos"}));
  EXPECT_EQ(parts.problems, (Names{"extension package verification failed: extension \"kerberos\" verification failed: "
                                   "no valid package set is fully installed. Tried 1 package set(s), missing packages "
                                   "per set: [[libkadm5]]"}));
}

TEST_F(Missing, AnExtensionIsCompleteWithItsFormerPackages) {
  EXPECT_EQ(Find(StateWith({"ipsec"}), {"openvswitch3.5-ipsec"}).problems, Names());
  const MissingParts parts = Find(StateWith({"ipsec"}), {"libreswan", "openvswitch3.5-ipsec"});
  ASSERT_EQ(parts.problems.size(), 1U);
  EXPECT_THAT(parts.problems[0], testing::EndsWith("Tried 2 package set(s), missing packages per set: "
                                                   "[[libreswan openvswitch3.5-ipsec] [libreswan]]"));
}

TEST_F(Missing, ReportsThePackagesOfAMissingKernel) {
  const MissingParts parts = Find(StateWith({}, "realtime"), kRealtime);
  EXPECT_EQ(parts.kernel_type, "default");
  EXPECT_EQ(parts.problems, (Names{"kernel type \"realtime\" expected, but the booted one is \"default\"; missing "
                                   "packages: [kernel-rt-core kernel-rt-modules kernel-rt-modules-extra]"}));
  const LayeredPackages realtime = {kRealtime, kImageKernel};
  EXPECT_EQ(Find(StateWith({}, "realtime"), {}, realtime).problems, Names());
  EXPECT_EQ(Find(StateWith({}), {}, realtime).problems,
            (Names{"kernel type \"default\" expected, but the booted one is \"realtime\""}));
}

TEST_F(Missing, HasNoKernelIfTheConfigNamesNone) {
  const LayeredPackages realtime = {kRealtime, kImageKernel};
  EXPECT_EQ(Find(StateWith({}, "default", ""), {}, realtime).problems, Names()) << "the config names no image either";
  EXPECT_EQ(Find(StateWith({}, ""), {}, realtime).problems, Names());
  EXPECT_EQ(Find(StateWith({}), {}, {kRealtime, {}}).problems, Names()) << "the image's kernel is there";
}

}  // namespace
}  // namespace pintle::plan
