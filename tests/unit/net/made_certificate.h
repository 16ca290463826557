// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes certificates that expire at a given time, as PEM.

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <map>
#include <stdexcept>
#include <string>

#include "base/c_ptr.h"
#include "base/clock.h"

namespace pintle {

inline std::string MadeCertificate(const std::string& common_name, const std::string& not_after) {
  const auto must = [](int ok) {
    if (ok <= 0) throw std::runtime_error("OpenSSL failed");
  };
  const CPtr<EVP_PKEY, EVP_PKEY_free> key(EVP_EC_gen("P-256"));
  const CPtr<X509, X509_free> certificate(X509_new());
  X509_NAME* const name = X509_get_subject_name(certificate.get());
  // MBSTRING_UTF8 would limit names to 64 characters; OpenShift's are longer.
  const auto add = [&](const char* field, const std::string& value) {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(value.c_str());
    must(X509_NAME_add_entry_by_txt(name, field, V_ASN1_UTF8STRING, bytes, -1, -1, 0));
  };
  add("OU", "openshift");
  add("CN", common_name);
  must(X509_set_issuer_name(certificate.get(), name));
  must(ASN1_TIME_set_string_X509(X509_getm_notBefore(certificate.get()), "20200101000000Z"));
  must(ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate.get()), not_after.c_str()));
  must(X509_set_pubkey(certificate.get(), key.get()));
  must(X509_sign(certificate.get(), key.get(), EVP_sha256()));
  const CPtr<BIO, BIO_free> text(BIO_new(BIO_s_mem()));
  must(PEM_write_bio_X509(text.get(), certificate.get()));
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(text.get(), &bytes);
  return std::string(bytes, static_cast<std::size_t>(size));
}

// The form of an encrypted certificate.  Readers fail before they look at its bytes.
inline constexpr const char* kEncryptedCertificate =
    "-----BEGIN CERTIFICATE-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF\n\n"
    "AAAAAAAAAAAAAAAAAAAAAA==\n-----END CERTIFICATE-----\n";

// Returns a certificate with this name, which is the same at each call.
inline const std::string& NamedCertificate(const std::string& name) {
  static std::map<std::string, std::string> made;
  std::string& certificate = made[name];
  if (certificate.empty()) certificate = MadeCertificate(name, "20300101000000Z");
  return certificate;
}

}  // namespace pintle
