// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads certificates and keys from PEM.
//
// Without a callback for passphrases, OpenSSL would ask for the passphrase of an encrypted block on the terminal and
// wait for it, also if the block has a certificate.  These functions refuse such a block: they return null, and the
// error is in OpenSSL's queue.

#include "base/libcrypto.h"
#include "net/openssl_objects.h"

namespace pintle::net {

inline int RefusePassphrase(char*, int, int, void*) { return -1; }

inline X509Certificate NextCertificate(BIO* pem) {
  return X509Certificate(Crypto().PEM_read_bio_X509(pem, nullptr, RefusePassphrase, nullptr));
}

// Also accepts a "TRUSTED CERTIFICATE", and keeps its trust settings.
inline X509Certificate NextTrustedCertificate(BIO* pem) {
  return X509Certificate(Crypto().PEM_read_bio_X509_AUX(pem, nullptr, RefusePassphrase, nullptr));
}

inline PrivateKey NextPrivateKey(BIO* pem) {
  return PrivateKey(Crypto().PEM_read_bio_PrivateKey(pem, nullptr, RefusePassphrase, nullptr));
}

}  // namespace pintle::net
