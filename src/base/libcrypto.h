// SPDX-License-Identifier: Apache-2.0
#pragma once

// Loads OpenSSL's libcrypto when it is first needed.
//
// A program that is linked with libcrypto uses 1.7 MiB more memory from its start.  This is a quarter of the memory
// that a short command uses.  Few commands compute a digest or read a certificate.

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/md5.h>
#include <openssl/pem.h>
#include <openssl/provider.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

namespace pintle {

#define PINTLE_LIBCRYPTO_FUNCTIONS(WITH) \
  WITH(ASN1_STRING_free)                 \
  WITH(ASN1_STRING_get0_data)            \
  WITH(ASN1_STRING_length)               \
  WITH(ASN1_STRING_set)                  \
  WITH(ASN1_STRING_to_UTF8)              \
  WITH(ASN1_STRING_type_new)             \
  WITH(ASN1_TIME_set)                    \
  WITH(ASN1_TIME_to_tm)                  \
  WITH(BIO_ctrl)                         \
  WITH(BIO_free_all)                     \
  WITH(BIO_new)                          \
  WITH(BIO_new_mem_buf)                  \
  WITH(BIO_s_mem)                        \
  WITH(BN_free)                          \
  WITH(BN_new)                           \
  WITH(BN_rand)                          \
  WITH(BN_to_ASN1_INTEGER)               \
  WITH(CRYPTO_free)                      \
  WITH(CRYPTO_memcmp)                    \
  WITH(ERR_clear_error)                  \
  WITH(ERR_get_error)                    \
  WITH(ERR_peek_last_error)              \
  WITH(ERR_reason_error_string)          \
  WITH(EVP_DigestFinal_ex)               \
  WITH(EVP_DigestInit_ex)                \
  WITH(EVP_DigestUpdate)                 \
  WITH(EVP_MD_CTX_free)                  \
  WITH(EVP_MD_CTX_new)                   \
  WITH(EVP_MD_fetch)                     \
  WITH(EVP_PKEY_Q_keygen)                \
  WITH(EVP_PKEY_free)                    \
  WITH(EVP_sha256)                       \
  WITH(EVP_sha512)                       \
  WITH(GENERAL_NAMES_free)               \
  WITH(GENERAL_NAMES_new)                \
  WITH(GENERAL_NAME_free)                \
  WITH(GENERAL_NAME_get0_value)          \
  WITH(GENERAL_NAME_new)                 \
  WITH(GENERAL_NAME_set0_value)          \
  WITH(HMAC)                             \
  WITH(MD5_Final)                        \
  WITH(MD5_Init)                         \
  WITH(MD5_Update)                       \
  WITH(OPENSSL_sk_num)                   \
  WITH(OPENSSL_sk_push)                  \
  WITH(OPENSSL_sk_value)                 \
  WITH(OSSL_LIB_CTX_new)                 \
  WITH(OSSL_PROVIDER_load)               \
  WITH(PEM_read_bio_PrivateKey)          \
  WITH(PEM_read_bio_X509)                \
  WITH(PEM_read_bio_X509_AUX)            \
  WITH(PEM_write_bio_PrivateKey)         \
  WITH(PEM_write_bio_X509)               \
  WITH(SHA256_Final)                     \
  WITH(SHA256_Init)                      \
  WITH(SHA256_Update)                    \
  WITH(X509V3_EXT_conf_nid)              \
  WITH(X509V3_set_ctx)                   \
  WITH(X509_EXTENSION_free)              \
  WITH(X509_NAME_ENTRY_get_data)         \
  WITH(X509_NAME_add_entry_by_NID)       \
  WITH(X509_NAME_get_entry)              \
  WITH(X509_NAME_get_index_by_NID)       \
  WITH(X509_NAME_print_ex)               \
  WITH(X509_add1_ext_i2d)                \
  WITH(X509_add_ext)                     \
  WITH(X509_free)                        \
  WITH(X509_get0_notAfter)               \
  WITH(X509_get0_notBefore)              \
  WITH(X509_get_ext_d2i)                 \
  WITH(X509_get_issuer_name)             \
  WITH(X509_get_serialNumber)            \
  WITH(X509_get_subject_name)            \
  WITH(X509_getm_notAfter)               \
  WITH(X509_getm_notBefore)              \
  WITH(X509_new)                         \
  WITH(X509_set_issuer_name)             \
  WITH(X509_set_pubkey)                  \
  WITH(X509_set_version)                 \
  WITH(X509_sign)                        \
  WITH(X509_verify_cert_error_string)

// The functions of the library that we call, as in `Crypto().EVP_sha256()`.  Our programs are not linked with the
// library, so the functions have no global names.  Macros of OpenSSL's headers that call functions by these names
// cannot be used, so our code writes out the bodies of such macros.
struct LibCrypto {
// Functions such as SHA256_Init() are deprecated in OpenSSL 3, because they do not belong to a provider.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#define PINTLE_MEMBER(function) decltype(&::function) function;
  PINTLE_LIBCRYPTO_FUNCTIONS(PINTLE_MEMBER)
#undef PINTLE_MEMBER
#pragma GCC diagnostic pop
};

// Loads the library at the first call.  If that fails, prints which package is missing and ends the program, since no
// caller could go on without the library.
const LibCrypto& Crypto();

}  // namespace pintle
