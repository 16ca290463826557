// SPDX-License-Identifier: Apache-2.0
#include "net/http_failure.h"

#include <fmt/core.h>

#include <initializer_list>
#include <string_view>
#include <system_error>

#include "base/libcrypto.h"
#include "net/curl_library.h"

namespace pintle::net {
namespace {

Error Invalid(std::string message) { return Error(ErrorKind::kInvalid, std::move(message)); }
Error Unavailable(std::string message) { return Error(ErrorKind::kUnavailable, std::move(message)); }

std::string InSeconds(std::chrono::milliseconds duration) {
  if (duration.count() % 1000 == 0) return fmt::format("{} s", duration.count() / 1000);
  return fmt::format("{} ms", duration.count());
}

std::string HowFar(const AnswerProgress& progress) {
  if (!progress.answered) return "before any answer";
  if (progress.body_expected) {
    return fmt::format("after {} of {} bytes of the body", progress.body_received, *progress.body_expected);
  }
  return fmt::format("after {} bytes of the body", progress.body_received);
}

bool Mentions(const std::string& text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (text.find(word) != std::string::npos) return true;
  }
  return false;
}

// Removes the time from a message such as "Connection timeout after 15001 ms".  With the time, the message would differ
// after each attempt, and be logged each time.
std::string WithoutTime(std::string text) {
  constexpr std::string_view kAfter = " after ";
  const std::size_t begin = text.find(kAfter);
  if (begin == std::string::npos) return text;
  const std::size_t unit = text.find_first_not_of("0123456789", begin + kAfter.size());
  if (unit == std::string::npos || unit == begin + kAfter.size()) return text;
  for (const std::string_view name : {" milliseconds", " ms"}) {
    if (text.compare(unit, name.size(), name) == 0) return text.erase(begin, unit + name.size() - begin);
  }
  return text;
}

// Returns curl's message, or its name for the code if there is none.
std::string Cause(const TransferFailure& failure) {
  if (!failure.detail.empty()) return WithoutTime(failure.detail);
  return Curl().easy_strerror(static_cast<CURLcode>(failure.curl_code));
}

// Names the server that we were connecting to, with the proxy if there is one.
std::string Peer(const TransferFailure& failure) {
  if (failure.proxy.empty()) return failure.server;
  return fmt::format("{} through the proxy {}", failure.server, failure.proxy);
}

Error NotConnected(const TransferFailure& failure) {
  const std::string cause =
      failure.errno_value != 0 ? std::generic_category().message(failure.errno_value) : Cause(failure);
  return Unavailable(fmt::format("cannot connect to {}: {}", Peer(failure), cause));
}

Error TunnelRefused(const TransferFailure& failure) {
  const std::string message = fmt::format("the proxy {} refused a connection to {} with status {}", failure.proxy,
                                          failure.server, failure.tunnel_status);
  if (failure.tunnel_status == 407) return Invalid(message + ": it requires other credentials");
  // A status 5xx means that the proxy could not reach the server this time.
  return failure.tunnel_status >= 500 ? Unavailable(message) : Invalid(message);
}

Error BadCertificate(const TransferFailure& failure) {
  const std::string whose = "the certificate of " + Peer(failure);
  const std::string check = Crypto().X509_verify_cert_error_string(failure.verify_result);
  switch (failure.verify_result) {
    // The chain is good or was not checked, so the cause is the name, which curl checks.
    case X509_V_OK:
    case X509_V_ERR_UNSPECIFIED:
      return Invalid(fmt::format("{} is for another name: {}", whose, Cause(failure)));
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return Invalid(fmt::format("{} is for another name: {}", whose, check));
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return Invalid(fmt::format("{} is no longer valid: {}", whose, check));
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return Invalid(fmt::format("{} is not valid yet, or our clock is slow: {}", whose, check));
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
    case X509_V_ERR_CERT_UNTRUSTED:
      return Invalid(fmt::format("{} is not signed by a CA we trust: {}", whose, check));
    default:
      return Invalid(fmt::format("{} is not acceptable: {}", whose, check));
  }
}

// A TLS server sends an alert to report what it rejects.  With TLS 1.3, the alert arrives after our handshake is
// done, in the place of the answer.
bool IsClientCertificateRefused(const TransferFailure& failure) {
  return Mentions(failure.detail, {"alert certificate required", "alert bad certificate", "alert unknown ca",
                                   "alert unsupported cert", "alert certificate expired", "alert certificate revoked",
                                   "alert certificate unknown", "alert access denied", "alert handshake failure"});
}

Error ClientCertificateError(const TransferFailure& failure) {
  const std::string_view why = failure.has_client_certificate ? "refused our client certificate"
                                                              : "requires a client certificate and we have none";
  return Invalid(fmt::format("{} {}: {}", failure.server, why, Cause(failure)));
}

Error HandshakeFailed(const TransferFailure& failure) {
  const std::string message = fmt::format("the TLS handshake with {} failed: {}", Peer(failure), Cause(failure));
  // A server that is starting, or a load balancer without a server, closes the connection; other causes are permanent.
  const bool hung_up =
      failure.errno_value != 0 || Mentions(failure.detail, {"SSL_ERROR_SYSCALL", "unexpected eof", "reset by peer"});
  return hung_up ? Unavailable(message) : Invalid(message);
}

Error BrokenOff(const TransferFailure& failure) {
  return Unavailable(
      fmt::format("the connection to {} broke {}: {}", Peer(failure), HowFar(failure.progress), Cause(failure)));
}

}  // namespace

Error Explain(const TransferFailure& failure) {
  const bool tunnel_refused = failure.tunnel_status != 0 && failure.tunnel_status / 100 != 2;
  if (tunnel_refused) return TunnelRefused(failure);
  switch (failure.curl_code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return Unavailable(fmt::format("cannot find the address of {}: {}", failure.server, Cause(failure)));
    case CURLE_COULDNT_RESOLVE_PROXY:
      return Unavailable(fmt::format("cannot find the address of the proxy {} for {}: {}", failure.proxy,
                                     failure.server, Cause(failure)));
    case CURLE_COULDNT_CONNECT:
      return NotConnected(failure);
    case CURLE_OPERATION_TIMEDOUT:
      return Unavailable(fmt::format("connecting to {} took longer than the limit of {}: {}", Peer(failure),
                                     InSeconds(failure.connect_timeout), Cause(failure)));
    case CURLE_PEER_FAILED_VERIFICATION:
      return BadCertificate(failure);
    case CURLE_SSL_CONNECT_ERROR:
      return IsClientCertificateRefused(failure) ? ClientCertificateError(failure) : HandshakeFailed(failure);
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
      return IsClientCertificateRefused(failure) ? ClientCertificateError(failure) : BrokenOff(failure);
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_PROXY:
      return BrokenOff(failure);
    case CURLE_SSL_CERTPROBLEM:
      return Invalid(fmt::format("our client certificate for {} cannot be used: {}", failure.server, Cause(failure)));
    case CURLE_SSL_CACERT_BADFILE:
      return Invalid(fmt::format("the CA certificates for {} cannot be used: {}", failure.server, Cause(failure)));
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
      return Invalid(fmt::format("{} does not speak HTTP: {}", failure.server, Cause(failure)));
    case CURLE_OUT_OF_MEMORY:
      if (failure.progress.answered) break;
      return Invalid(fmt::format("the head of the answer from {} is too long, or memory has run out: {}",
                                 failure.server, Cause(failure)));
    case CURLE_BAD_CONTENT_ENCODING:
      return Invalid(fmt::format("the body from {} cannot be decompressed: {}", failure.server, Cause(failure)));
    default:
      break;
  }
  return Error(ErrorKind::kSystem, fmt::format("the request to {} failed: {}", Peer(failure), Cause(failure)));
}

Error StalledFor(std::chrono::milliseconds patience, const std::string& server, const AnswerProgress& progress) {
  return Unavailable(fmt::format("{} sent nothing for {}, {}", server, InSeconds(patience), HowFar(progress)));
}

Error NotDoneWithin(std::chrono::milliseconds patience, const std::string& server, const AnswerProgress& progress) {
  return Unavailable(
      fmt::format("{} did not complete its answer within {}, {}", server, InSeconds(patience), HowFar(progress)));
}

Error BodyOverLimit(std::uint64_t limit, const std::string& server) {
  return Invalid(fmt::format("the body from {} is longer than the limit of {} bytes", server, limit));
}

Error ProxyWantsCredentials(const std::string& proxy, const std::string& server) {
  return Invalid(fmt::format("the proxy {} refused a request to {} with status 407: it requires other credentials",
                             proxy, server));
}

Error RefusedAsLocal(const std::string& server) {
  return Invalid(fmt::format("refused to connect to {}, since its address is a loopback or link-local one", server));
}

}  // namespace pintle::net
