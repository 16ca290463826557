// SPDX-License-Identifier: Apache-2.0
#include "controller/controller_certificates.h"

#include <gtest/gtest.h>

#include "base/base64.h"

namespace pintle::controller {
namespace {

TEST(ControllerCertificates, LeaveOutBundlesThatCannotBeRead) {
  const json::Value spec = {{"rootCAData", EncodeBase64("no certificate")},
                            {"cloudProviderCAData", "no base64"},
                            {"imageRegistryBundleData", json::Value::array({{{"file", "f"}, {"data", ""}}})}};
  EXPECT_TRUE(ControllerCertificates(spec).empty());
}

}  // namespace
}  // namespace pintle::controller
