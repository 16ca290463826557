// SPDX-License-Identifier: Apache-2.0
#include "pool/cert_expirys.h"

#include <string_view>

namespace pintle::pool {
namespace {

// The bundle with which kubelets verify their clients.
constexpr std::string_view kClientBundle = "KubeAPIServerServingCAData";

}  // namespace

std::vector<api::CertExpiry> CertExpirysOf(const api::ControllerConfig& config) {
  std::vector<api::CertExpiry> expirys;
  for (const api::ControllerCertificate& certificate : config.status.controller_certificates) {
    if (certificate.bundle_file != kClientBundle) continue;
    expirys.push_back(
        {.bundle = certificate.bundle_file, .subject = certificate.subject, .expiry = certificate.not_after});
  }
  return expirys;
}

}  // namespace pintle::pool
