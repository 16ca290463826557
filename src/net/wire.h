// SPDX-License-Identifier: Apache-2.0
#pragma once

// Bytes to and from a client, with TLS or without, over a socket that never blocks.

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
    kWaitToRead,   // Do the same again when the socket can be read.
    kWaitToWrite,  // Likewise, when it can be written to.
    kOver,         // The other side has ended it, or it broke.
  };
  struct Progress {
    Outcome outcome;
    std::size_t bytes = 0;
  };

  // The socket belongs to the caller.  Without an identity it is plain.
  Wire(int socket, const TlsIdentity* identity);

  // Until this is done there is nothing to read or to write.
  Progress ShakeHands();
  Progress Read(std::span<char> bytes);
  // May write less than all.
  Progress Write(std::string_view bytes);
  // Says that nothing more will be written.
  Progress SayGoodbye();
  // Reads what is of no interest any more, with TLS undone.
  Progress Discard(std::span<char> bytes) const;

 private:
  static void Free(ssl_st* tls);

  Progress AfterTls(int returned) const;

  const int socket_;
  const bool is_plain_;
  CPtr<ssl_st, &Wire::Free> tls_;
};

}  // namespace pintle::net
