// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads and writes a client's non-blocking socket, with or without TLS.

#include <cstddef>
#include <span>
#include <string_view>

#include "base/c_ptr.h"
#include "net/tls_identity.h"

struct ssl_st;  // OpenSSL's SSL

namespace pintle::net {

class Wire {
 public:
  enum class Outcome {
    kDone,
    kWaitToRead,   // Repeat the call when the socket is readable.
    kWaitToWrite,  // Repeat the call when the socket is writable.
    kClosed,       // The client has closed the connection, or it broke.
  };
  struct Progress {
    Outcome outcome;
    std::size_t bytes = 0;
  };

  // The socket belongs to the caller.  Without an identity there is no TLS.
  Wire(int socket, const TlsIdentity* identity);

  // Must be called, until it returns kDone, before anything is read or written.
  Progress ShakeHands();
  Progress Read(std::span<char> bytes);
  // May write less than everything.
  Progress Write(std::string_view bytes);
  // Sends the end of our data (TLS's close_notify and TCP's FIN).
  Progress EndSending();
  // Reads and drops the client's remaining data, without decrypting it.
  Progress Discard(std::span<char> bytes) const;

 private:
  static void Free(ssl_st* tls);

  // Translates the result of a function of libssl.
  Progress ProgressOfTls(int returned) const;

  const int socket_;
  const bool is_plain_;
  CPtr<ssl_st, &Wire::Free> tls_;
};

}  // namespace pintle::net
