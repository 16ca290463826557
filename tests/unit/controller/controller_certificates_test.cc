// SPDX-License-Identifier: Apache-2.0
#include "controller/controller_certificates.h"

#include <gtest/gtest.h>

#include <string>

#include "base/base64.h"
#include "unit/net/made_certificate.h"

namespace pintle::controller {
namespace {

TEST(ControllerCertificates, LeaveOutBundlesThatCannotBeRead) {
  const json::Value spec = {{"rootCAData", EncodeBase64("no certificate")},
                            {"cloudProviderCAData", "no base64"},
                            {"imageRegistryBundleData", json::Value::array({{{"file", "f"}, {"data", ""}}})}};
  EXPECT_TRUE(ControllerCertificates(spec).empty());
}

TEST(ControllerCertificates, KeepTheCertificatesBeforeAMalformedOne) {
  const std::string bundle = MadeCertificate("one", "20270101000000Z") + MadeCertificate("two", "20270101000000Z") +
                             "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" +
                             MadeCertificate("four", "20270101000000Z");
  const json::Value certificates = ControllerCertificates({{"rootCAData", EncodeBase64(bundle)}});
  ASSERT_EQ(certificates.size(), 2U);
  EXPECT_EQ(certificates[0].TextAt({"subject"}), "CN=one,OU=openshift");
  EXPECT_EQ(certificates[1].TextAt({"subject"}), "CN=two,OU=openshift");
  EXPECT_EQ(certificates[1].TextAt({"bundleFile"}), "RootCAData");
}

}  // namespace
}  // namespace pintle::controller
