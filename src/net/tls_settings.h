// SPDX-License-Identifier: Apache-2.0
#pragma once

// The authorities that a client trusts, and the certificate by which the client identifies itself.
//
// A server's certificate and name are always checked, with TLS 1.2 or newer; no setting turns that off.

#include <optional>
#include <string>
#include <variant>

#include "base/result.h"

namespace pintle::net {

// The file is read again for each request, so that a renewed certificate is used at once.
struct PemFile {
  std::string path;
};
struct PemText {
  std::string text;
};
using Pem = std::variant<PemFile, PemText>;

struct ClientCertificate {
  Pem certificate;  // With the rest of its chain.
  Pem key;
};

struct TlsSettings {
  std::optional<Pem> authorities = {};  // nullopt for the system's own authorities.
  std::optional<ClientCertificate> client = {};
};

// Returns the text, or the contents of the file.
Result<std::string> ReadPem(const Pem& pem);

}  // namespace pintle::net
