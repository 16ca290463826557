// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes an authority, and certificates of servers that it signs.

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace pintle::net {

// A certificate and its private key, both as PEM.
struct CertifiedKey {
  std::string certificate;
  std::string key;
};

// The time in which a certificate is valid.
struct Validity {
  WallTime begin;
  WallTime end;
};

// Makes an authority that signs itself.
Result<CertifiedKey> MakeAuthority(const std::string& common_name, const Validity& validity);

// Makes the certificate of a server, signed by `authority`.  `hosts` are the server's names and addresses, of which
// there must be one or more.
Result<CertifiedKey> MakeServerCertificate(const CertifiedKey& authority, const std::string& common_name,
                                           const std::vector<std::string>& hosts, const Validity& validity);

// Returns the names and addresses in the first certificate of a PEM text, sorted.  Addresses are in their canonical
// form.
Result<std::vector<std::string>> HostsOf(const std::string& certificate);

// Returns an address in its canonical form, and any other text as it is: "fd00:0::7" becomes "fd00::7".
std::string CanonicalHost(const std::string& host);

}  // namespace pintle::net
