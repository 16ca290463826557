// SPDX-License-Identifier: Apache-2.0
#pragma once

// Loads OpenSSL's libssl when the first TLS identity is made.

#include <openssl/ssl.h>

namespace pintle::net {

#define PINTLE_LIBSSL_FUNCTIONS(WITH) \
  WITH(SSL_CIPHER_get_name)           \
  WITH(SSL_CIPHER_standard_name)      \
  WITH(SSL_CTX_ctrl)                  \
  WITH(SSL_CTX_free)                  \
  WITH(SSL_CTX_new)                   \
  WITH(SSL_CTX_set_alpn_select_cb)    \
  WITH(SSL_CTX_set_cipher_list)       \
  WITH(SSL_CTX_set_num_tickets)       \
  WITH(SSL_CTX_set_options)           \
  WITH(SSL_CTX_use_PrivateKey)        \
  WITH(SSL_CTX_use_certificate)       \
  WITH(SSL_accept)                    \
  WITH(SSL_free)                      \
  WITH(SSL_get_ciphers)               \
  WITH(SSL_get_error)                 \
  WITH(SSL_new)                       \
  WITH(SSL_read_ex)                   \
  WITH(SSL_select_next_proto)         \
  WITH(SSL_set_fd)                    \
  WITH(SSL_shutdown)                  \
  WITH(SSL_write_ex)                  \
  WITH(TLS_server_method)

// The functions of the library.  The program is not linked with libssl.  The macros of <openssl/ssl.h> call its
// functions directly and would not link, so call the function that the macro expands to, as in
// Ssl().SSL_CTX_ctrl(...).
struct LibSsl {
#define PINTLE_MEMBER(function) decltype(&::function) function;
  PINTLE_LIBSSL_FUNCTIONS(PINTLE_MEMBER)
#undef PINTLE_MEMBER
};

// Ends the program with a message that names the missing package if the library cannot be loaded.
const LibSsl& Ssl();

}  // namespace pintle::net
