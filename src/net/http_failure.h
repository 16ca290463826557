// SPDX-License-Identifier: Apache-2.0
#pragma once

// Why a request came to nothing, for people: who did what, and what kind of remedy there is.
//
// Nothing here tells more of a URL than its host and port, and nothing of a token, a password or a key.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace pintle::net {

// How far an answer had come.
struct Progress {
  bool answered = false;  // The head of the answer had come.
  std::uint64_t body_received = 0;
  std::optional<std::uint64_t> body_expected = {};
};

// What curl knows of a transfer that failed.
struct TransferFailure {
  int curl_code = 0;
  std::string detail = {};  // In curl's words.
  long verify_result = 0;   // OpenSSL's X509_V_..., 0 when the chain of certificates was fine.
  int errno_value = 0;      // Of connect(2).
  long tunnel_status = 0;   // The proxy's answer to CONNECT; 0 without one.
  bool has_client_certificate = false;
  Progress progress = {};
  std::string server = {};  // Host and port.
  std::string proxy = {};   // Host and port; empty when none is involved in what failed.
  std::chrono::milliseconds connect_timeout = {};
};

Error Explain(const TransferFailure& failure);

Error StalledFor(std::chrono::milliseconds patience, const std::string& server, const Progress& progress);
Error NotDoneWithin(std::chrono::milliseconds patience, const std::string& server, const Progress& progress);
Error BodyOverLimit(std::uint64_t limit, const std::string& server);
Error ProxyWantsCredentials(const std::string& proxy, const std::string& server);

}  // namespace pintle::net
