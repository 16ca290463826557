// SPDX-License-Identifier: Apache-2.0
#include "ignition/url.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include "base/ascii.h"
#include "base/hex_digit.h"
#include "ignition/data_url.h"

namespace pintle::ignition {
namespace {

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// Returns whether each "%" begins a valid escape.
bool IsEscaped(std::string_view text) {
  for (std::size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 3)) {
    if (at + 2 >= text.size() || HexDigit(text[at + 1]) < 0 || HexDigit(text[at + 2]) < 0) return false;
  }
  return true;
}

std::optional<std::string> UnescapeQuery(std::string_view text) {
  if (!IsEscaped(text)) return std::nullopt;
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      plain += static_cast<char>(HexDigit(text[i + 1]) * 16 + HexDigit(text[i + 2]));
      i += 2;
    } else {
      plain += text[i] == '+' ? ' ' : text[i];
    }
  }
  return plain;
}

// Returns the parts before and behind the first `separator`.
std::pair<std::string_view, std::string_view> Cut(std::string_view text, char separator) {
  const std::size_t at = text.find(separator);
  if (at == std::string_view::npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + 1)};
}

bool IsHostLetter(char c) {
  return static_cast<unsigned char>(c) >= 0x80 || IsLetter(c) || IsDigit(c) ||
         std::string_view("-_.~!$&'()*+,;=:[]<>\"").find(c) != std::string_view::npos;
}

// In a host, only bytes outside of ASCII and "%" itself may be escaped.
bool IsHostName(std::string_view host) {
  for (std::size_t i = 0; i < host.size(); ++i) {
    if (host[i] == '%') {
      if (!IsEscaped(host.substr(i, 3))) return false;
      if (HexDigit(host[i + 1]) < 8 && host.substr(i, 3) != "%25") return false;
      i += 2;
    } else if (!IsHostLetter(host[i])) {
      return false;
    }
  }
  return true;
}

bool IsPort(std::string_view port) {
  return port.empty() || (port[0] == ':' && std::all_of(port.begin() + 1, port.end(), IsDigit));
}

bool IsIpv6(std::string_view address) {
  const std::string_view zoneless = address.substr(0, address.find("%25"));
  std::array<unsigned char, sizeof(in6_addr)> parsed;
  return ::inet_pton(AF_INET6, std::string(zoneless).c_str(), parsed.data()) == 1 && IsEscaped(address);
}

bool IsHost(std::string_view host) {
  if (host.starts_with('[')) {
    const std::size_t end = host.rfind(']');
    return end != std::string_view::npos && IsPort(host.substr(end + 1)) && IsIpv6(host.substr(1, end - 1));
  }
  if (const std::size_t colon = host.rfind(':'); colon != std::string_view::npos) {
    if (!IsPort(host.substr(colon))) return false;
  }
  return IsHostName(host);
}

bool IsUserInfo(std::string_view user) {
  return IsEscaped(user) && std::all_of(user.begin(), user.end(), [](char c) {
           return IsLetter(c) || IsDigit(c) || std::string_view("-._:~!$&'()*+,;=%@").find(c) != std::string_view::npos;
         });
}

bool IsAuthority(std::string_view authority) {
  const std::size_t at = authority.rfind('@');
  if (at == std::string_view::npos) return IsHost(authority);
  return IsHost(authority.substr(at + 1)) && IsUserInfo(authority.substr(0, at));
}

Error Malformed() { return Error(ErrorKind::kInvalid, "unable to parse url"); }

// Returns the scheme without its colon, or "" for a path.
Result<std::string_view> SchemeOf(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (IsLetter(c)) continue;
    if (IsDigit(c) || c == '+' || c == '-' || c == '.') {
      if (i == 0) return std::string_view();
      continue;
    }
    if (c != ':') return std::string_view();
    if (i == 0) return Malformed();
    return text.substr(0, i);
  }
  return std::string_view();
}

}  // namespace

Result<Url> ParseUrl(std::string_view text) {
  const auto [whole, fragment] = Cut(text, '#');
  if (std::any_of(whole.begin(), whole.end(), IsControl) || !IsEscaped(fragment)) return Malformed();
  Url url;
  const std::string_view scheme = TRY(SchemeOf(whole));
  std::transform(scheme.begin(), scheme.end(), std::back_inserter(url.scheme), LowerCaseOf);
  // The authority and the path, or the opaque part.
  std::string_view hierarchy = scheme.empty() ? whole : whole.substr(scheme.size() + 1);
  std::tie(hierarchy, url.query) = Cut(hierarchy, '?');
  if (!hierarchy.starts_with('/')) {
    if (!url.scheme.empty()) {
      url.opaque = hierarchy;
      return url;
    }
    if (Cut(hierarchy, '/').first.find(':') != std::string_view::npos) return Malformed();
  }
  if (hierarchy.starts_with("//") && (!url.scheme.empty() || !hierarchy.starts_with("///"))) {
    const std::string_view authority_and_path = hierarchy.substr(2);
    const std::size_t end = std::min(authority_and_path.find('/'), authority_and_path.size());
    if (!IsAuthority(authority_and_path.substr(0, end))) return Malformed();
    hierarchy = authority_and_path.substr(end);
  }
  if (!IsEscaped(hierarchy)) return Malformed();
  return url;
}

bool NamesEmptyVersionId(std::string_view query) {
  while (!query.empty()) {
    std::string_view pair;
    std::tie(pair, query) = Cut(query, '&');
    if (pair.find(';') != std::string_view::npos) continue;
    const auto [key, value] = Cut(pair, '=');
    if (UnescapeQuery(key) != "versionId") continue;
    if (const auto plain = UnescapeQuery(value)) return plain->empty();
  }
  return false;
}

namespace {

constexpr const char* kEmptyVersionId = "invalid S3 object VersionId";

// Recognises the ARN of an S3 object: arn:PARTITION:SERVICE:REGION:ACCOUNT:RESOURCE.
bool IsS3Arn(std::string_view opaque) {
  std::array<std::string_view, 5> sections;
  for (std::size_t i = 0; i + 1 < sections.size(); ++i) {
    if (opaque.find(':') == std::string_view::npos) return false;
    std::tie(sections[i], opaque) = Cut(opaque, ':');
  }
  sections.back() = opaque;
  if (sections[1] != "s3") return false;
  // The resource is a bucket and a key; or "accesspoint", its name, "object" and a key.
  const auto slashes = std::count(sections.back().begin(), sections.back().end(), '/');
  return slashes >= (sections.back().starts_with("accesspoint/") ? 2 : 1);
}

}  // namespace

std::string SourceProblem(std::string_view source, const UrlRules& rules) {
  const auto url = ParseUrl(source);
  if (!url) return url.error().message();
  const std::string& scheme = url->scheme;
  if (scheme == "data") return DataUrlProblem(source);
  if (scheme == "http" || scheme == "https" || scheme == "tftp") return "";
  if (scheme == "gs" && rules.google_storage) return "";
  if (scheme == "arn" && rules.arn && !IsS3Arn(url->opaque)) return "invalid S3 ARN format";
  if (scheme == "s3" || (scheme == "arn" && rules.arn)) {
    return NamesEmptyVersionId(url->query) ? kEmptyVersionId : "";
  }
  return "invalid url scheme";
}

}  // namespace pintle::ignition
