// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who a server is and how it speaks TLS: its certificate and key, the versions and ciphers that it takes.
//
// It does not change once it is made.  A server that is given another goes on with the old one in the connections that
// it has.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/c_ptr.h"
#include "base/result.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace pintle::net {

enum class TlsVersion { k1_2, k1_3 };

// "VersionTLS12" or "VersionTLS13", as Kubernetes' programs call them.
Result<TlsVersion> ParseTlsVersion(std::string_view name);

struct TlsRules {
  TlsVersion oldest = TlsVersion::k1_2;
  // Of TLS 1.2, by the names that IANA or OpenSSL gave them; none: Mozilla's intermediate ones.  Those of TLS 1.3 are
  // not for choosing.
  std::vector<std::string> ciphers = {};
};

class TlsIdentity {
 public:
  // PEM: the certificate with its chain, and the key that belongs to it.
  static Result<std::shared_ptr<const TlsIdentity>> Create(const std::string& certificate, const std::string& key,
                                                           const TlsRules& rules = {});

  ssl_ctx_st* context() const { return context_.get(); }

 private:
  static void Free(ssl_ctx_st* context);
  using Context = CPtr<ssl_ctx_st, &TlsIdentity::Free>;

  explicit TlsIdentity(Context context) : context_(std::move(context)) {}

  const Context context_;
};

}  // namespace pintle::net
