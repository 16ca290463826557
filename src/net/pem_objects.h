// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads certificates and keys from PEM.
//
// Without a callback for passphrases, OpenSSL would ask for the passphrase of an encrypted block on the terminal and
// wait for it, even if the block is a certificate.  The functions Next...() refuse such a block: they return null, and
// the error is in OpenSSL's queue.

#include <limits>
#include <string_view>

#include "base/libcrypto.h"
#include "base/result.h"
#include "net/openssl_objects.h"

namespace pintle::net {

// Returns a reader of `pem`, which must outlive the reader.
inline Result<Bio> ReaderOf(std::string_view pem) {
  if (pem.size() > std::numeric_limits<int>::max()) return Error(ErrorKind::kInvalid, "the PEM text is too long");
  Bio reader(Crypto().BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  if (!reader) return Error(ErrorKind::kSystem, "out of memory");
  return reader;
}

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
