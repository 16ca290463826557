// SPDX-License-Identifier: Apache-2.0
#include "change/as_booted.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "change/current_config.h"

namespace pintle::change {
namespace {

using testing::ElementsAre;
using testing::Eq;
using testing::IsEmpty;
using testing::Optional;

constexpr const char* kImage = "quay.io/os@sha256:4f0a";

host::DeployedImage Booted() {
  host::DeployedImage booted;
  booted.image = kImage;
  booted.digest = "sha256:4f0a";
  booted.kernel_arguments = {"rw", "a=1", "b=\"c d\""};
  return booted;
}

api::MachineConfig ConfigWith(const std::string& image, std::optional<std::vector<std::string>> arguments) {
  api::MachineConfig config = EmptyCurrentConfig().object;
  config.spec.os_image_url = image;
  config.spec.kernel_arguments = std::move(arguments);
  return config;
}

TEST(AsBooted, KeepsPartsThatAreInEffect) {
  const api::MachineConfig config = AsBooted(Booted(), {}, ConfigWith(kImage, {{"a=1", "rw b=\"c d\""}}));
  EXPECT_EQ(config.spec.os_image_url, kImage);
  EXPECT_THAT(config.spec.kernel_arguments, Optional(ElementsAre("a=1", "rw b=\"c d\"")));
}

TEST(AsBooted, HasTheBootedImageInsteadOfTheWantedOne) {
  const api::MachineConfig config = AsBooted(Booted(), {}, ConfigWith("quay.io/os@sha256:5e1b", std::nullopt));
  EXPECT_EQ(config.spec.os_image_url, kImage);
  EXPECT_THAT(config.spec.kernel_arguments, Eq(std::nullopt));
}

TEST(AsBooted, HasNoImageIfTheConfigHasNone) {
  EXPECT_EQ(AsBooted(Booted(), {}, ConfigWith("", std::nullopt)).spec.os_image_url, "");
}

TEST(AsBooted, DropsArgumentsThatAreOnlyPartlyInEffect) {
  const api::MachineConfig config = AsBooted(Booted(), {}, ConfigWith("", {{"a=2", "a=1 e", "rw"}}));
  EXPECT_THAT(config.spec.kernel_arguments, Optional(ElementsAre("rw")));
  EXPECT_THAT(AsBooted(Booted(), {}, ConfigWith("", {{"e"}})).spec.kernel_arguments, Optional(IsEmpty()));
}

TEST(AsBooted, HasNeitherExtensionsNorAKernelThatAreMissing) {
  api::MachineConfig config = ConfigWith(kImage, std::nullopt);
  config.spec.extensions = {"sysstat", "usbguard"};
  config.spec.kernel_type = "realtime";
  config = AsBooted(Booted(), {.extensions = {"sysstat"}, .kernel_type = "default", .problems = {}}, config);
  EXPECT_THAT(config.spec.extensions, Optional(ElementsAre("usbguard")));
  EXPECT_EQ(config.spec.kernel_type, "default");
}

}  // namespace
}  // namespace pintle::change
