// SPDX-License-Identifier: Apache-2.0
#pragma once

// A thin wrapper of OpenSSL: one blocking TLS connection.

#include <openssl/ssl.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/c_ptr.h"
#include "base/unique_fd.h"

namespace pintle::bench {

// Prints what has failed, and the error in errno.
[[noreturn]] inline void Die(const char* what) {
  std::perror(what);
  std::exit(1);
}

class TlsConnection {
 public:
  TlsConnection(SSL_CTX* context, UniqueFd socket) : socket_(std::move(socket)), tls_(::SSL_new(context)) {
    ::SSL_set_fd(tls_.get(), socket_.get());
  }

  bool Accept() { return ::SSL_accept(tls_.get()) == 1; }
  bool Connect() { return ::SSL_connect(tls_.get()) == 1; }
  bool Write(std::string_view bytes) {
    std::size_t written = 0;
    return ::SSL_write_ex(tls_.get(), bytes.data(), bytes.size(), &written) == 1;
  }
  // Returns how many bytes were read: 0 at the end of the data, or after an error.
  std::size_t Read(char* bytes, std::size_t size) {
    std::size_t count = 0;
    return ::SSL_read_ex(tls_.get(), bytes, size, &count) == 1 ? count : 0;
  }

 private:
  UniqueFd socket_;
  CPtr<SSL, SSL_free> tls_;
};

}  // namespace pintle::bench
