// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owners of the objects that libcrypto hands out.  The functions that free them are those of the loaded library.

#include <memory>

#include "base/libcrypto.h"

namespace pintle::net {

// `kFree` points to the member of LibCrypto that frees the object.
template <auto kFree>
struct FreeWithCrypto {
  template <typename T>
  void operator()(T* object) const {
    (Crypto().*kFree)(object);
  }
};

template <typename T, auto kFree>
using CryptoPtr = std::unique_ptr<T, FreeWithCrypto<kFree>>;

using Asn1String = CryptoPtr<ASN1_STRING, &LibCrypto::ASN1_STRING_free>;
using BigNumber = CryptoPtr<BIGNUM, &LibCrypto::BN_free>;
using Bio = CryptoPtr<BIO, &LibCrypto::BIO_free_all>;
using GeneralName = CryptoPtr<GENERAL_NAME, &LibCrypto::GENERAL_NAME_free>;
using GeneralNames = CryptoPtr<GENERAL_NAMES, &LibCrypto::GENERAL_NAMES_free>;
using PrivateKey = CryptoPtr<EVP_PKEY, &LibCrypto::EVP_PKEY_free>;
using X509Certificate = CryptoPtr<X509, &LibCrypto::X509_free>;
using X509Extension = CryptoPtr<X509_EXTENSION, &LibCrypto::X509_EXTENSION_free>;

}  // namespace pintle::net
