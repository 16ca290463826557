// SPDX-License-Identifier: Apache-2.0
#include "net/libssl.h"

#include "base/dlopen_note.h"
#include "base/shared_library.h"

namespace pintle::net {
namespace {

PINTLE_DLOPEN_NOTE(kLibSslNote, R"([{"feature":"tls-server","description":"Serving over TLS",)"
                                R"("priority":"required","soname":["libssl.so.3"]}])");

Result<LibSsl> LoadLibSsl() {
  const SharedLibrary library = TRY(SharedLibrary::Load("libssl.so.3", "openssl-libs (libssl3 on Debian)"));
  LibSsl ssl;
#define PINTLE_FIND(function) TRY(library.Find(ssl.function, #function));
  PINTLE_LIBSSL_FUNCTIONS(PINTLE_FIND)
#undef PINTLE_FIND
  return ssl;
}

}  // namespace

const LibSsl& Ssl() {
  static const Result<LibSsl> ssl = LoadLibSsl();
  if (!ssl) EndWithoutLibrary(ssl.error());
  return *ssl;
}

}  // namespace pintle::net
