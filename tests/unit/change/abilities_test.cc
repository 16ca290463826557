// SPDX-License-Identifier: Apache-2.0
#include "change/abilities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "change/current_config.h"
#include "change/image_mode.h"
#include "host/systemd/systemd_offline.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::change {
namespace {

class Abilities : public testing::Test {
 protected:
  static CurrentConfig Everything() {
    CurrentConfig config = EmptyCurrentConfig();
    config.object.spec.os_image_url = "quay.io/os@sha256:1";
    config.object.spec.kernel_arguments = {{"a=1"}};
    config.object.spec.kernel_type = "realtime";
    config.object.spec.extensions = {{"usbguard"}};
    return config;
  }
  host::Host MachineWithoutOstree() {
    return {.root = root_, .systemd = systemd_, .clock = clock_, .labels = {}, .is_package_based = true};
  }
  host::Host TreeThatDoesNotRun() {
    return {.root = root_, .systemd = systemd_, .clock = clock_, .labels = {}, .is_package_based = false};
  }

  TemporaryDirectory directory_;
  Root root_ = ValueOf(Root::Open(directory_.path().string()));
  host::SystemdOffline systemd_{root_};
  SystemClock clock_;
};

TEST_F(Abilities, OfAMachineWithoutOstreeLeaveTheOsAsideWithANote) {
  const host::Host host = MachineWithoutOstree();
  EXPECT_EQ(UnsupportedPartsText(host, Everything().object.spec),
            "this machine has no OSTree, so these parts of the config are not applied: OS image, kernel arguments, "
            "kernel type, "
            "extensions");
  EXPECT_EQ(UnsupportedPartsText(host, EmptyCurrentConfig().object.spec), "");
  CurrentConfig have = EmptyCurrentConfig();
  CurrentConfig wanted = Everything();
  Embed("quay.io/built@sha256:2", wanted.object);
  CopyUnsupportedParts(host, {.from = wanted.object, .to = have.object});
  const plan::Difference difference = plan::Compare(have, wanted);
  EXPECT_FALSE(ChangesOs(difference));
  EXPECT_TRUE(Succeeded(CheckAbleTo(host, difference)));
  // The removal of such a config does not change the OS either.
  CopyUnsupportedParts(host, {.from = EmptyCurrentConfig().object, .to = wanted.object});
  EXPECT_FALSE(ChangesOs(plan::Compare(wanted, EmptyCurrentConfig())));
}

TEST_F(Abilities, OfAMachineWithoutOstreeDoNotLeaveFipsAside) {
  CurrentConfig have = EmptyCurrentConfig();
  CurrentConfig wanted = EmptyCurrentConfig();
  wanted.object.spec.fips = true;
  CopyUnsupportedParts(MachineWithoutOstree(), {.from = wanted.object, .to = have.object});
  EXPECT_THAT(MessageOf(CheckAbleTo(MachineWithoutOstree(), plan::Compare(have, wanted))),
              testing::HasSubstr("spec.fips"));
}

TEST_F(Abilities, DoNotMatterForFipsModeWhichIsAlwaysRefused) {
  CurrentConfig have = EmptyCurrentConfig();
  CurrentConfig wanted = EmptyCurrentConfig();
  wanted.object.spec.fips = true;
  OsAbilities all;
  all.has_deployments = all.layers_packages = true;
  const std::string fips =
      "FIPS mode (spec.fips) is set when a machine is installed; change spec.fips back, or install the machine anew";
  for (const OsAbilities& abilities : {all, OsAbilities(MachineWithoutOstree()), OsAbilities(TreeThatDoesNotRun())}) {
    EXPECT_EQ(MessageOf(CheckAbleTo(abilities, plan::Compare(have, wanted))), fips);
  }
  wanted.object.spec.extensions = {{"usbguard"}};
  OsAbilities without_layers = all;
  without_layers.layers_packages = false;
  EXPECT_EQ(
      MessageOf(CheckAbleTo(without_layers, plan::Compare(have, wanted))),
      "this machine has no rpm-ostree, so it cannot change extensions (spec.extensions); remove spec.extensions. " +
          fips);
}

TEST_F(Abilities, OfATreeThatDoesNotRunLeaveNothingAsideAndRefuseTheOs) {
  const host::Host host = TreeThatDoesNotRun();
  EXPECT_EQ(UnsupportedPartsText(host, Everything().object.spec), "");
  CurrentConfig have = EmptyCurrentConfig();
  CopyUnsupportedParts(host, {.from = Everything().object, .to = have.object});
  EXPECT_THAT(MessageOf(CheckAbleTo(host, plan::Compare(have, Everything()))), testing::HasSubstr("spec.osImageURL"));
}

}  // namespace
}  // namespace pintle::change
