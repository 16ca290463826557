// SPDX-License-Identifier: Apache-2.0
#include "serving/access.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/base64.h"
#include "json/fields.h"
#include "machineconfig/input.h"
#include "net/hmac.h"
#include "serving/private_file.h"

namespace pintle::serving {
namespace {

// A key has at least this many characters, and a token at most this many.
constexpr std::size_t kShortestKey = 32;
constexpr std::size_t kLongestToken = 4096;

struct TokenPayload {
  std::string pool;
  std::int64_t expires = 0;  // In seconds since 1970.

  static constexpr auto kFields =
      json::FieldList{json::Required{"pool", &TokenPayload::pool}, json::Required{"exp", &TokenPayload::expires}};
};

// Encodes base64 for URLs and headers, without padding.
std::string ToBase64Url(std::string_view bytes) {
  std::string text = EncodeBase64(bytes);
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  text.erase(std::min(text.find('='), text.size()));
  return text;
}

std::optional<std::string> FromBase64Url(std::string_view encoded) {
  std::string text(encoded);
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  text.append((4 - text.size() % 4) % 4, '=');
  return DecodeBase64(text);
}

// Returns nullopt if the text is not a payload.
std::optional<TokenPayload> ReadPayload(std::string_view encoded) {
  const auto text = FromBase64Url(encoded);
  if (!text) return std::nullopt;
  auto document = json::Parse(*text);
  if (!document) return std::nullopt;
  json::Report report;
  TokenPayload payload = json::Decode<TokenPayload>(*std::move(document), report);
  return report.has_errors() ? std::nullopt : std::optional(std::move(payload));
}

bool IsSigned(const std::vector<std::string>& keys, std::string_view text, std::string_view signature) {
  return std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
    return net::SameSecret(ToBase64Url(net::HmacSha256(key, text)), signature);
  });
}

// Returns the payload of a token, if one of the keys has signed it.
std::optional<TokenPayload> SignedPayload(const std::vector<std::string>& keys, std::string_view token) {
  const std::size_t dot = token.find('.');
  if (token.size() > kLongestToken || dot == std::string_view::npos) return std::nullopt;
  const std::string_view text = token.substr(0, dot);
  // The payload is parsed only after its signature has been verified.
  return IsSigned(keys, text, token.substr(dot + 1)) ? ReadPayload(text) : std::nullopt;
}

}  // namespace

Result<AccessMode> ParseAccessMode(std::string_view name) {
  if (name == "open") return AccessMode::kOpen;
  if (name == "grace") return AccessMode::kGrace;
  if (name == "required") return AccessMode::kRequired;
  return Error(ErrorKind::kInvalid, fmt::format("\"{}\" is not open, grace or required", name));
}

Result<std::vector<std::string>> ParseKeys(std::string_view text) {
  std::vector<std::string> keys;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    if (line.size() < kShortestKey) {
      return Error(ErrorKind::kInvalid, fmt::format("line {}: a key must have at least {} characters; "
                                                    "`openssl rand -hex 32` makes one",
                                                    number, kShortestKey));
    }
    keys.emplace_back(line);
  }
  if (keys.empty()) return Error(ErrorKind::kInvalid, "there is no key; `openssl rand -hex 32` makes one");
  return keys;
}

Result<std::vector<std::string>> ReadKeys(const std::string& file) {
  return TRY(ParseKeys(TRY(machineconfig::ReadInput(file))), file);
}

Result<std::vector<std::string>> ReadPrivateKeys(const std::string& file) {
  auto keys = TRY(ReadKeys(file));
  if (IsReadableByAll(file)) return ReadableByAllError("the keys of tokens", file);
  return keys;
}

std::string MakeToken(const std::string& key, const std::string& pool, WallTime expires) {
  const TokenPayload payload = {pool,
                                std::chrono::duration_cast<std::chrono::seconds>(expires.time_since_epoch()).count()};
  const std::string text = ToBase64Url(json::ToText(json::Encode(payload)));
  return text + "." + ToBase64Url(net::HmacSha256(key, text));
}

TokenProblem CheckToken(const std::vector<std::string>& keys, std::string_view token, std::string_view pool,
                        WallTime now) {
  if (token.empty()) return TokenProblem::kMissing;
  const auto payload = SignedPayload(keys, token);
  if (!payload) return TokenProblem::kForged;
  if (payload->pool != pool) return TokenProblem::kOtherPool;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  return seconds < payload->expires ? TokenProblem::kNone : TokenProblem::kExpired;
}

std::optional<WallTime> ExpiryOf(const std::vector<std::string>& keys, std::string_view token, std::string_view pool) {
  const auto payload = SignedPayload(keys, token);
  if (!payload || payload->pool != pool) return std::nullopt;
  constexpr auto kLast = std::chrono::floor<std::chrono::seconds>(WallTime::max()).time_since_epoch();
  return WallTime(std::min(kLast, std::chrono::seconds(payload->expires)));
}

std::string_view ToText(TokenProblem problem) {
  switch (problem) {
    case TokenProblem::kNone:
      return "the token is good";
    case TokenProblem::kMissing:
      return "there is no token";
    case TokenProblem::kForged:
      return "the token is signed with none of our keys";
    case TokenProblem::kOtherPool:
      return "the token is for another pool";
    case TokenProblem::kExpired:
      return "the token has expired";
  }
  return "";
}

}  // namespace pintle::serving
