// SPDX-License-Identifier: Apache-2.0
#include "controller/watched.h"

#include <gtest/gtest.h>

#include <string>

#include "base/base64.h"
#include "clusterops/server_certificates.h"
#include "json/fields.h"

namespace pintle::controller {
namespace {

WatchedCertificate DecodedCertificate(const std::string& key) {
  json::Report report;
  return json::Decode<WatchedCertificate>(
      {{"metadata", {{"name", "machine-config-server-ca"}}},
       {"data", {{clusterops::kCertificateKey, EncodeBase64("public")}, {clusterops::kPrivateKeyKey, key}}}},
      report);
}

TEST(WatchedCertificate, HasNoPrivateKey) {
  const WatchedCertificate secret = DecodedCertificate(EncodeBase64("a private key"));
  EXPECT_EQ(secret.data.at(clusterops::kCertificateKey), EncodeBase64("public"));
  EXPECT_EQ(secret.data.at(clusterops::kPrivateKeyKey), clusterops::kKeyLeftOut);
}

TEST(WatchedCertificate, KeepsAnEmptyPrivateKeyEmpty) {
  EXPECT_EQ(DecodedCertificate("").data.at(clusterops::kPrivateKeyKey), "");
}

}  // namespace
}  // namespace pintle::controller
