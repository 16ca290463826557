// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads certificates without deciding whether to trust them.

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace pintle::net {

struct Certificate {
  std::string subject;      // "CN=kube-apiserver-to-kubelet-signer,OU=openshift", formatted by RFC 2253.
  std::string issuer;       // In the same format.
  std::string common_name;  // The last common name in the subject, or "".
  WallTime not_before;      // The first second of its validity.
  WallTime not_after;       // The last second of its validity.
};

// Returns the certificates of a PEM bundle in their order.  Other text and keys are skipped; an error names the
// certificate that cannot be read.
Result<std::vector<Certificate>> ReadCertificates(std::string_view pem);

// Returns whether all certificates of a PEM bundle can be read, and there is one or more.
bool HasCertificate(std::string_view pem);

// Returns the certificates of a PEM bundle that come before the first one that cannot be read.
std::vector<Certificate> ReadableCertificates(std::string_view pem);

}  // namespace pintle::net
