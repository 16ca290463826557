// SPDX-License-Identifier: Apache-2.0
#pragma once

// What certificates say of themselves.  Whether they are to be trusted is not asked here.

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace pintle::net {

struct Certificate {
  std::string subject;      // "CN=kube-apiserver-to-kubelet-signer,OU=openshift", as RFC 2253 writes it.
  std::string common_name;  // The last one in the subject, or "".
  WallTime not_after;       // The last second in which it is valid.
};

// Each certificate of a PEM bundle, in its order.  What stands around them is passed over, as are keys; one that cannot
// be read is an error that says which.
Result<std::vector<Certificate>> ReadCertificates(std::string_view pem);

}  // namespace pintle::net
