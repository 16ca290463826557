// SPDX-License-Identifier: Apache-2.0
#include "net/tls_identity.h"

#include <fmt/core.h>

#include <array>
#include <utility>

#include "base/libcrypto.h"
#include "net/libssl.h"
#include "net/openssl_objects.h"
#include "net/pem_objects.h"

namespace pintle::net {
namespace {

constexpr const char* kIntermediateCiphers =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:"
    "DHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES256-GCM-SHA384";

// The list is in the format of ALPN: each entry follows its length.
constexpr std::array<unsigned char, 9> kHttp1 = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

void FreeSsl(SSL* ssl) { Ssl().SSL_free(ssl); }

using SslPtr = CPtr<SSL, FreeSsl>;

// Returns the first error of OpenSSL's queue, which is the most precise, and clears the queue.
Error OpensslError(std::string_view message) {
  const unsigned long code = Crypto().ERR_get_error();
  Crypto().ERR_clear_error();
  const char* reason = code == 0 ? nullptr : Crypto().ERR_reason_error_string(code);
  return Error(ErrorKind::kInvalid, reason == nullptr ? std::string(message) : fmt::format("{}: {}", message, reason));
}

Result<> UseCertificates(SSL_CTX* context, const std::string& pem) {
  const Bio bio = TRY(ReaderOf(pem));
  const X509Certificate own = NextTrustedCertificate(bio.get());
  if (!own) return OpensslError("cannot read a PEM certificate");
  if (Ssl().SSL_CTX_use_certificate(context, own.get()) != 1) return OpensslError("OpenSSL refuses the certificate");
  while (const X509Certificate next = NextCertificate(bio.get())) {
    if (Ssl().SSL_CTX_ctrl(context, SSL_CTRL_CHAIN_CERT, 1, next.get()) != 1)
      return OpensslError("its chain cannot be used");
  }
  if (ERR_GET_REASON(Crypto().ERR_peek_last_error()) != PEM_R_NO_START_LINE)
    return OpensslError("its chain cannot be read");
  Crypto().ERR_clear_error();
  return {};
}

Result<> UseKey(SSL_CTX* context, const std::string& pem) {
  const Bio bio = TRY(ReaderOf(pem));
  const PrivateKey key = NextPrivateKey(bio.get());
  if (!key) return OpensslError("cannot read a private key, which must be PEM without a passphrase");
  if (Ssl().SSL_CTX_use_PrivateKey(context, key.get()) != 1)
    return OpensslError("it does not belong to the certificate");
  return {};
}

// Returns OpenSSL's name of a cipher, or null if it does not know the cipher.
const char* NameOf(const STACK_OF(SSL_CIPHER) * known, const std::string& cipher) {
  const auto* const stack = reinterpret_cast<const OPENSSL_STACK*>(known);
  for (int i = 0; i < Crypto().OPENSSL_sk_num(stack); ++i) {
    const auto* const entry = static_cast<const SSL_CIPHER*>(Crypto().OPENSSL_sk_value(stack, i));
    const char* name = Ssl().SSL_CIPHER_get_name(entry);
    const char* standard_name = Ssl().SSL_CIPHER_standard_name(entry);
    if (cipher == name || (standard_name != nullptr && cipher == standard_name)) return name;
  }
  return nullptr;
}

// The list may also name ciphers of TLS 1.3, because other programs use the same lists; these ciphers are ignored.
Result<> UseCiphers(SSL_CTX* context, const TlsRules& rules) {
  if (Ssl().SSL_CTX_set_cipher_list(context, "ALL") != 1) return OpensslError("listing ciphers");
  const SslPtr any(Ssl().SSL_new(context));
  std::string names;
  for (const std::string& cipher : rules.ciphers) {
    const char* name = NameOf(Ssl().SSL_get_ciphers(any.get()), cipher);
    if (name == nullptr && rules.unknown_ciphers == UnknownCiphers::kLeftOut) continue;
    if (name == nullptr)
      return Error(ErrorKind::kInvalid,
                   fmt::format("OpenSSL does not support the cipher {}; remove it or correct its name", cipher));
    if (!std::string_view(name).starts_with("TLS_")) names += std::string(names.empty() ? "" : ":") + name;
  }
  // A server that accepts only TLS 1.3 needs no cipher of TLS 1.2, but OpenSSL refuses an empty list.
  const bool needs_none = rules.ciphers.empty() || rules.oldest == TlsVersion::k1_3;
  if (names.empty() && needs_none) names = kIntermediateCiphers;
  if (names.empty()) return Error(ErrorKind::kInvalid, "the list of ciphers has no cipher for TLS 1.2; add one");
  if (Ssl().SSL_CTX_set_cipher_list(context, names.c_str()) != 1) return OpensslError("these ciphers cannot be used");
  return {};
}

// Chooses HTTP/1.1 even if the client also offers other protocols.  `*chosen` must stay valid after this call.
int ChooseHttp1(SSL*, const unsigned char** chosen, unsigned char* length, const unsigned char* offered,
                unsigned int offered_length, void*) {
  unsigned char* found = nullptr;
  const int outcome =
      Ssl().SSL_select_next_proto(&found, length, kHttp1.data(), kHttp1.size(), offered, offered_length);
  if (outcome != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_NOACK;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

// Sessions cannot be resumed.  New machines, which fetch their configs, connect only once.  The few browsers that
// display the cluster page can make a full handshake for each connection.
void ForgetSessions(SSL_CTX* context) {
  Ssl().SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, SSL_SESS_CACHE_OFF, nullptr);
  Ssl().SSL_CTX_set_num_tickets(context, 0);
  Ssl().SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
}

}  // namespace

Result<TlsVersion> ParseTlsVersion(std::string_view name) {
  if (name == "VersionTLS12") return TlsVersion::k1_2;
  if (name == "VersionTLS13") return TlsVersion::k1_3;
  return Error(ErrorKind::kInvalid,
               fmt::format("\"{}\" is not a supported version of TLS: it must be VersionTLS12 or VersionTLS13", name));
}

void TlsIdentity::Free(ssl_ctx_st* context) { Ssl().SSL_CTX_free(context); }

Result<std::shared_ptr<const TlsIdentity>> TlsIdentity::Create(const std::string& certificate, const std::string& key,
                                                               const TlsRules& rules) {
  Crypto().ERR_clear_error();
  Context context(Ssl().SSL_CTX_new(Ssl().TLS_server_method()));
  if (!context) return OpensslError("SSL_CTX_new");
  Ssl().SSL_CTX_ctrl(context.get(), SSL_CTRL_SET_MIN_PROTO_VERSION,
                     rules.oldest == TlsVersion::k1_3 ? TLS1_3_VERSION : TLS1_2_VERSION, nullptr);
  Ssl().SSL_CTX_set_options(context.get(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                               SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_IGNORE_UNEXPECTED_EOF);
  // A write may be repeated from another buffer, and idle connections keep no buffers.
  Ssl().SSL_CTX_ctrl(context.get(), SSL_CTRL_MODE,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS,
                     nullptr);
  Ssl().SSL_CTX_set_alpn_select_cb(context.get(), ChooseHttp1, nullptr);
  Ssl().SSL_CTX_ctrl(context.get(), SSL_CTRL_SET_DH_AUTO, 1, nullptr);
  ForgetSessions(context.get());
  TRY(UseCiphers(context.get(), rules));
  TRY(UseCertificates(context.get(), certificate), "the certificate");
  TRY(UseKey(context.get(), key), "the key");
  return std::shared_ptr<const TlsIdentity>(new TlsIdentity(std::move(context)));
}

}  // namespace pintle::net
