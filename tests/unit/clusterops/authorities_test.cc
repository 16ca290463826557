// SPDX-License-Identifier: Apache-2.0
#include "clusterops/authorities.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "base/base64.h"
#include "unit/net/made_certificate.h"

namespace pintle::clusterops {
namespace {

constexpr const char* kKey = "ca-bundle.crt";
constexpr const char* kBundle = "-----BEGIN CERTIFICATE-----\n";

api::ConfigMap MapWith(std::map<std::string, std::string> data, std::map<std::string, std::string> binary_data = {}) {
  return {.metadata = {}, .data = std::move(data), .binary_data = std::move(binary_data)};
}

TEST(AuthoritiesIn, ReadsATextBytesAndBase64) {
  EXPECT_EQ(AuthoritiesIn(MapWith({{kKey, kBundle}}), kKey), kBundle);
  EXPECT_EQ(AuthoritiesIn(MapWith({{kKey, EncodeBase64(kBundle)}}), kKey), kBundle);
  EXPECT_EQ(AuthoritiesIn(MapWith({{kKey, EncodeBase64(kBundle) + "\n"}}), kKey), kBundle);
  EXPECT_EQ(AuthoritiesIn(MapWith({}, {{kKey, EncodeBase64(kBundle)}}), kKey), kBundle);
}

TEST(AuthoritiesIn, PrefersBytes) {
  EXPECT_EQ(AuthoritiesIn(MapWith({{kKey, "old"}}, {{kKey, EncodeBase64(kBundle)}}), kKey), kBundle);
}

TEST(AuthoritiesIn, AreEmptyWithoutTheKey) {
  EXPECT_EQ(AuthoritiesIn(MapWith({}), kKey), "");
  EXPECT_EQ(AuthoritiesIn(MapWith({{"ca.crt", kBundle}}, {{"ca.pem", EncodeBase64(kBundle)}}), kKey), "");
}

TEST(PemCertificatesIn, AreSeparatedFromOtherText) {
  const std::string bundle = "# one\n" + NamedCertificate("one") + "# two\n" + NamedCertificate("two") + "# end\n";
  const auto certificates = PemCertificatesIn(bundle);
  ASSERT_EQ(certificates.size(), 2U);
  EXPECT_EQ(certificates[0].before, "# one\n");
  EXPECT_EQ(certificates[0].text, NamedCertificate("one"));
  EXPECT_EQ(certificates[1].before, "# two\n");
  EXPECT_EQ(certificates[1].text, NamedCertificate("two"));
}

TEST(HasReadableCertificate, SkipsUnreadableCertificates) {
  const std::string unreadable = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  EXPECT_TRUE(HasReadableCertificate(unreadable + NamedCertificate("one")));
  EXPECT_TRUE(HasReadableCertificate(kBundle + NamedCertificate("one")));
  EXPECT_FALSE(HasReadableCertificate(unreadable));
  EXPECT_FALSE(HasReadableCertificate(kBundle));
  EXPECT_FALSE(HasReadableCertificate(""));
}

TEST(ContainsCertificates, IgnoresOrderLineBreaksAndOtherText) {
  const std::string& one = NamedCertificate("one");
  const std::string& two = NamedCertificate("two");
  std::string with_returns;
  for (const char c : two) with_returns += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_TRUE(ContainsCertificates("# one\n" + one + with_returns, two + one));
  EXPECT_TRUE(ContainsCertificates(one + two, two));
  EXPECT_FALSE(ContainsCertificates(one, one + two));
}

}  // namespace
}  // namespace pintle::clusterops
