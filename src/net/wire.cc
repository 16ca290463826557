// SPDX-License-Identifier: Apache-2.0
#include "net/wire.h"

#include <sys/socket.h>

#include <cerrno>

#include "base/libcrypto.h"
#include "net/libssl.h"

namespace pintle::net {
namespace {

using Outcome = Wire::Outcome;
using Progress = Wire::Progress;

Progress ProgressOfCall(ssize_t returned, Outcome to_wait) {
  if (returned > 0) return {Outcome::kDone, static_cast<std::size_t>(returned)};
  if (returned == 0) return {Outcome::kClosed};
  return {errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? to_wait : Outcome::kClosed};
}

}  // namespace

void Wire::Free(ssl_st* tls) { Ssl().SSL_free(tls); }

Wire::Wire(int socket, const TlsIdentity* identity) : socket_(socket), is_plain_(identity == nullptr) {
  if (is_plain_) return;
  tls_.reset(Ssl().SSL_new(identity->context()));
  if (tls_ && Ssl().SSL_set_fd(tls_.get(), socket) != 1) tls_.reset();
}

Progress Wire::ShakeHands() {
  if (is_plain_) return {Outcome::kDone};
  if (!tls_) return {Outcome::kClosed};  // The constructor ran out of memory.
  Crypto().ERR_clear_error();
  return ProgressOfTls(Ssl().SSL_accept(tls_.get()));
}

Progress Wire::Read(std::span<char> bytes) {
  if (is_plain_) return ProgressOfCall(::recv(socket_, bytes.data(), bytes.size(), 0), Outcome::kWaitToRead);
  Crypto().ERR_clear_error();
  std::size_t count = 0;
  Progress progress = ProgressOfTls(Ssl().SSL_read_ex(tls_.get(), bytes.data(), bytes.size(), &count));
  progress.bytes = count;
  return progress;
}

Progress Wire::Write(std::string_view bytes) {
  if (is_plain_)
    return ProgressOfCall(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL), Outcome::kWaitToWrite);
  Crypto().ERR_clear_error();
  std::size_t count = 0;
  Progress progress = ProgressOfTls(Ssl().SSL_write_ex(tls_.get(), bytes.data(), bytes.size(), &count));
  progress.bytes = count;
  return progress;
}

Progress Wire::EndSending() {
  if (tls_) {
    Crypto().ERR_clear_error();
    const int returned = Ssl().SSL_shutdown(tls_.get());
    // 0 means that our close_notify was sent; the client's close_notify is not awaited.
    if (returned < 0) {
      const Progress progress = ProgressOfTls(returned);
      if (progress.outcome != Outcome::kDone) return progress;
    }
  }
  return {::shutdown(socket_, SHUT_WR) == 0 ? Outcome::kDone : Outcome::kClosed};
}

Progress Wire::Discard(std::span<char> bytes) const {
  return ProgressOfCall(::recv(socket_, bytes.data(), bytes.size(), 0), Outcome::kWaitToRead);
}

Progress Wire::ProgressOfTls(int returned) const {
  switch (Ssl().SSL_get_error(tls_.get(), returned)) {
    case SSL_ERROR_NONE:
      return {Outcome::kDone};
    case SSL_ERROR_WANT_READ:
      return {Outcome::kWaitToRead};
    case SSL_ERROR_WANT_WRITE:
      return {Outcome::kWaitToWrite};
    default:
      return {Outcome::kClosed};
  }
}

}  // namespace pintle::net
