// SPDX-License-Identifier: Apache-2.0
#include "pool/cert_expirys.h"

#include "support/expect.h"

namespace pintle::pool {
namespace {

TEST(CertExpirysOf, HasOnlyTheBundleForTheClientsOfKubelets) {
  const api::Time end{ValueOf(FromRfc3339("2026-12-01T00:00:00Z"))};
  api::ControllerConfig config;
  config.status.controller_certificates = {
      {.subject = "CN=root", .bundle_file = "RootCAData", .not_after = end},
      {.subject = "CN=signer", .bundle_file = "KubeAPIServerServingCAData", .not_after = end}};
  const auto expirys = CertExpirysOf(config);
  ASSERT_EQ(expirys.size(), 1U);
  EXPECT_EQ(expirys[0].bundle, "KubeAPIServerServingCAData");
  EXPECT_EQ(expirys[0].subject, "CN=signer");
  EXPECT_EQ(expirys[0].expiry, end);
}

}  // namespace
}  // namespace pintle::pool
