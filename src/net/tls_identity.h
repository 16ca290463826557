// SPDX-License-Identifier: Apache-2.0
#pragma once

// The TLS identity of a server: its certificate and key, and the versions and ciphers that it accepts.
//
// An identity is immutable.  A server that gets another one keeps the old one for its existing connections.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/c_ptr.h"
#include "base/result.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace pintle::net {

enum class TlsVersion { k1_2, k1_3 };

// Parses "VersionTLS12" or "VersionTLS13", the names that Kubernetes' programs use.
Result<TlsVersion> ParseTlsVersion(std::string_view name);

// Selects what is done with a cipher that OpenSSL does not know.
enum class UnknownCiphers { kRefused, kLeftOut };

struct TlsRules {
  TlsVersion oldest = TlsVersion::k1_2;
  // The ciphers of TLS 1.2 by their IANA or OpenSSL names; empty for Mozilla's intermediate list.  The ciphers of TLS
  // 1.3 cannot be chosen.
  std::vector<std::string> ciphers = {};
  UnknownCiphers unknown_ciphers = UnknownCiphers::kRefused;
};

class TlsIdentity {
 public:
  // `certificate` is the certificate with its chain, and `key` is its key, both as PEM.
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
