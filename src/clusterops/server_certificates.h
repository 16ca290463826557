// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides when the Ignition server's authority and its certificate are renewed, and makes the new ones.
//
// A new authority signs nothing for a day, unless the server has no certificate that lasts that long.  A machine that
// was created just before the authority has only the older authorities in its user data, and it sends its request to
// the server only when it has booted.
//
// An installer's certificate, with an authority of its own, is left alone until it has to be renewed, or lacks a name
// of the server.
//
// Certificates that were made while a clock was ahead are not valid yet, so they are made again.  The authority of the
// certificate in use stays trusted, even if this authority has expired or is not valid yet.

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
// Stands for a private key that was left out of a Secret.  It is not base64, so it cannot be taken for a key.
inline constexpr const char* kKeyLeftOut = "left out";

// The private keys may be left out of the Secrets.
struct ServerCertificateInputs {
  const api::Secret* authority = nullptr;    // The Secret of the authority; nullptr if there is none.
  const api::ConfigMap* bundle = nullptr;    // The ConfigMap with the authorities that machines trust.
  const api::Secret* certificate = nullptr;  // The Secret of the server.
  std::string trusted = {};                  // The bundle as the ControllerConfig has it.
  const api::ConfigMap* root = nullptr;      // kube-system/root-ca, which machines trust if there is no bundle.
  std::vector<std::string> hosts = {};       // The names and addresses of the server.
  WallTime now = {};
};

// The object to make next.  It has to be written before the next step is decided.
enum class CertificateStep { kNone, kAuthority, kBundle, kCertificate };

// Returns kNone if everything is in order, or has to wait.
CertificateStep NextCertificateStep(const ServerCertificateInputs& inputs);

// Returns when the first certificate in a Secret expires, or nullopt if no certificate can be read.  `secret` is
// nullptr if there is none.
std::optional<WallTime> CertificateExpiry(const api::Secret* secret);

// These functions make the objects of the steps kAuthority, kBundle and kCertificate.
Result<net::CertifiedKey> NewServerAuthority(WallTime now);
Result<std::string> NewServerBundle(const ServerCertificateInputs& inputs);
Result<net::CertifiedKey> NewServerCertificate(const net::CertifiedKey& authority,
                                               const std::vector<std::string>& hosts, WallTime now);

}  // namespace pintle::clusterops
