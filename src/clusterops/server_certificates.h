// SPDX-License-Identifier: Apache-2.0
#pragma once

// When the Ignition server's authority and its certificate are renewed.
//
// A new authority signs nothing for a day.  A machine that was created just before has the authorities of its user
// data, and asks the server only when it has booted.
//
// An installer's certificate, with an authority of its own, is left alone until it has to be renewed.

#include <optional>
#include <string>
#include <vector>

#include "api/config_map.h"
#include "api/secret.h"
#include "base/clock.h"
#include "base/result.h"
#include "net/made_certificates.h"

namespace pintle::clusterops {

// Secrets for TLS have these keys.
inline constexpr const char* kCertificateKey = "tls.crt";
inline constexpr const char* kPrivateKeyKey = "tls.key";

struct ServerCertificateInputs {
  const api::Secret* authority = nullptr;    // The Secret of the authority; nullptr if there is none.
  const api::ConfigMap* bundle = nullptr;    // The ConfigMap with the authorities that machines trust.
  const api::Secret* certificate = nullptr;  // The Secret of the server.
  const api::ConfigMap* root = nullptr;      // kube-system/root-ca, which machines trust if there is no bundle.
  std::vector<std::string> hosts = {};       // The names and addresses of the server.
  WallTime now = {};
};

// What is to be made next.  Each is written before the next one is decided.
enum class CertificateStep { kNone, kAuthority, kBundle, kCertificate };

CertificateStep NextCertificateStep(const ServerCertificateInputs& inputs);

// Returns when the first certificate in a Secret expires, or nullopt if no certificate can be read.  `secret` is
// nullptr if there is none.
std::optional<WallTime> CertificateExpiry(const api::Secret* secret);

// These make what a step is about.
Result<net::CertifiedKey> NewServerAuthority(WallTime now);
Result<std::string> NewServerBundle(const ServerCertificateInputs& inputs);
Result<net::CertifiedKey> NewServerCertificate(const ServerCertificateInputs& inputs);

}  // namespace pintle::clusterops
