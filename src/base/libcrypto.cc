// SPDX-License-Identifier: Apache-2.0
#include "base/libcrypto.h"

#include "base/dlopen_note.h"
#include "base/shared_library.h"

namespace pintle {
namespace {

PINTLE_DLOPEN_NOTE(kLibCryptoNote, R"([{"feature":"digests","description":"Digests and certificates",)"
                                   R"("priority":"required","soname":["libcrypto.so.3"]}])");

Result<LibCrypto> LoadLibCrypto() {
  const SharedLibrary library = TRY(SharedLibrary::Load("libcrypto.so.3", "openssl-libs (libssl3 on Debian)"));
  LibCrypto crypto;
#define PINTLE_FIND(function) TRY(library.Find(crypto.function, #function));
  PINTLE_LIBCRYPTO_FUNCTIONS(PINTLE_FIND)
#undef PINTLE_FIND
  return crypto;
}

}  // namespace

const LibCrypto& Crypto() {
  static const Result<LibCrypto> crypto = LoadLibCrypto();
  if (!crypto) EndWithoutLibrary(crypto.error());
  return *crypto;
}

}  // namespace pintle
