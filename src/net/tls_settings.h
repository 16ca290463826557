// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whom a client trusts, and who it is.
//
// A server's certificate and name are always checked, with TLS 1.2 or newer; there is no switch for that.

#include <optional>
#include <string>
#include <variant>

#include "base/result.h"

namespace pintle::net {

// A file is read anew for each request, so that a certificate which was renewed is used at once.
struct PemFile {
  std::string path;
};
struct PemText {
  std::string text;
};
using Pem = std::variant<PemFile, PemText>;

struct ClientCertificate {
  Pem certificate;  // With what else is in its chain.
  Pem key;
};

struct TlsSettings {
  std::optional<Pem> authorities = {};  // Without any, those that the system trusts.
  std::optional<ClientCertificate> client = {};
};

Result<std::string> ReadPem(const Pem& pem);

}  // namespace pintle::net
