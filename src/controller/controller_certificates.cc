// SPDX-License-Identifier: Apache-2.0
#include "controller/controller_certificates.h"

#include <array>
#include <string>
#include <string_view>

#include "base/base64.h"
#include "base/clock.h"
#include "net/certificates.h"

namespace pintle::controller {
namespace {

struct Bundle {
  std::string_view member;
  std::string_view name;
};

constexpr auto kBundles = std::to_array<Bundle>({
    {"kubeAPIServerServingCAData", "KubeAPIServerServingCAData"},
    {"cloudProviderCAData", "CloudProviderCAData"},
    {"rootCAData", "RootCAData"},
    {"additionalTrustBundle", "AdditionalTrustBundle"},
});

void AddBundle(std::string_view name, const std::string& base64, json::Value& to) {
  const auto pem = DecodeBase64(base64);
  for (const net::Certificate& certificate : net::ReadableCertificates(pem.value_or(""))) {
    to.push_back({{"subject", certificate.subject},
                  {"signer", certificate.issuer},
                  {"bundleFile", name},
                  {"notBefore", ToRfc3339(certificate.not_before)},
                  {"notAfter", ToRfc3339(certificate.not_after)}});
  }
}

}  // namespace

json::Value ControllerCertificates(const json::Value& spec) {
  json::Value certificates = json::Value::array();
  for (const Bundle& bundle : kBundles) AddBundle(bundle.name, spec.TextAt({bundle.member}), certificates);
  for (const std::string_view member : {"imageRegistryBundleData", "imageRegistryBundleUserData"}) {
    const json::Value* const bundles = spec.Find(member);
    if (bundles == nullptr || !bundles->is_array()) continue;
    for (const json::Value& bundle : *bundles)
      AddBundle(bundle.TextAt({"file"}), bundle.TextAt({"data"}), certificates);
  }
  return certificates;
}

}  // namespace pintle::controller
