// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the messages about failed requests: they name the server or proxy that failed, and the cause.
//
// Messages contain no more of a URL than its host and port, and nothing of a token, a password or a key.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace pintle::net {

// The part of an answer that has arrived.
struct AnswerProgress {
  bool answered = false;  // Whether the head of the answer is complete.
  std::uint64_t body_received = 0;
  std::optional<std::uint64_t> body_expected = {};
};

// The facts about a failed transfer, most of them from curl.
struct TransferFailure {
  int curl_code = 0;
  std::string detail = {};  // curl's message.
  long verify_result = 0;   // OpenSSL's X509_V_..., 0 if the chain of certificates is good.
  int errno_value = 0;      // The errno of connect(2).
  long tunnel_status = 0;   // The status of the proxy's answer to CONNECT; 0 without a proxy.
  bool has_client_certificate = false;
  AnswerProgress progress = {};
  std::string server = {};  // Host and port.
  std::string proxy = {};   // Host and port; empty if no proxy was involved in the failure.
  std::chrono::milliseconds connect_timeout = {};
};

// Makes the error about a failed transfer.
Error Explain(const TransferFailure& failure);

// These two make the errors of a server that has sent nothing for the time `patience`, and of one whose answer was not
// complete after that time.
Error StalledFor(std::chrono::milliseconds patience, const std::string& server, const AnswerProgress& progress);
Error NotDoneWithin(std::chrono::milliseconds patience, const std::string& server, const AnswerProgress& progress);
Error BodyOverLimit(std::uint64_t limit, const std::string& server);
Error ProxyWantsCredentials(const std::string& proxy, const std::string& server);
// The address of the server, or of its proxy, is local (net/local_address.h).
Error RefusedAsLocal(const std::string& server);

}  // namespace pintle::net
