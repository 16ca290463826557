// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/go_json.h"

#include <gtest/gtest.h>

#include "json/fields.h"
#include "json/go_json.h"
#include "json/parse.h"

namespace pintle::machineconfig {
namespace {

std::size_t LengthOfWholeText(const api::MachineConfig& config) { return json::GoJson(json::Encode(config)).size(); }

TEST(GoJsonLength, IsTheLengthOfTheWholeText) {
  api::MachineConfig config;
  EXPECT_EQ(GoJsonLength(config), LengthOfWholeText(config));
  config.api_version = api::kMachineConfigApiVersion;
  config.kind = api::MachineConfig::kKind;
  config.metadata.name = "99-worker";
  config.metadata.labels = {{"a", "<b>"}};  // Go escapes the angle brackets.
  config.spec.os_image_url = "os@sha256:1";
  config.spec.base_os_extensions_container_image = "ext@sha256:2";
  config.spec.kernel_arguments = {"a=\"b\"", "c"};
  config.spec.extensions = {"usbguard"};
  config.spec.fips = true;
  config.spec.kernel_type = "realtime";
  EXPECT_EQ(GoJsonLength(config), LengthOfWholeText(config));
  config.spec.config = *json::Parse(R"({"ignition": {"version": "3.5.0"}, "storage": {"files": [{"path": "/<"}]}})");
  EXPECT_EQ(GoJsonLength(config), LengthOfWholeText(config));
}

}  // namespace
}  // namespace pintle::machineconfig
