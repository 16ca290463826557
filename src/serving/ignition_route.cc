// SPDX-License-Identifier: Apache-2.0
#include "serving/ignition_route.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/hex_digit.h"

namespace pintle::serving {
namespace {

constexpr std::string_view kConfigPrefix = "/config/";

// Returns the path with its %-escapes decoded, or nullopt if an escape is malformed.
std::optional<std::string> Unescaped(std::string_view path) {
  std::string text;
  for (std::size_t at = 0; at < path.size(); ++at) {
    if (path[at] != '%') {
      text += path[at];
      continue;
    }
    if (at + 2 >= path.size()) return std::nullopt;
    const int high = HexDigit(path[at + 1]);
    const int low = HexDigit(path[at + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    text += static_cast<char>(high * 16 + low);
    at += 2;
  }
  return text;
}

// Removes "//", "." and ".."; keeps a slash at the end.
std::string Cleaned(std::string_view path) {
  std::vector<std::string_view> parts;
  const bool ends_with_slash = path.ends_with('/');
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(part.size() + 1, path.size()));
    if (part == ".." && !parts.empty()) parts.pop_back();
    if (!part.empty() && part != "." && part != "..") parts.push_back(part);
  }
  std::string clean;
  for (const std::string_view part : parts) clean.append("/").append(part);
  if (clean.empty() || ends_with_slash) clean += '/';
  return clean;
}

std::string LastPart(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return std::string(path.substr(path.rfind('/') + 1));
}

// Returns "/path" for both "/path" and "http://host/path".
std::string_view WithoutHost(std::string_view target) {
  const std::size_t scheme = target.starts_with("http://") ? 7 : target.starts_with("https://") ? 8 : 0;
  if (scheme == 0) return target;
  const std::size_t path = target.find('/', scheme);
  return path == std::string_view::npos ? "/" : target.substr(path);
}

}  // namespace

IgnitionRoute RouteOf(std::string_view method, std::string_view target) {
  target = WithoutHost(target);
  const std::size_t query_start = std::min(target.find('?'), target.size());
  const std::string_view query = target.substr(query_start);
  const std::string_view path = target.substr(0, query_start);
  const auto unescaped = Unescaped(path);
  if (!path.starts_with('/') || !unescaped) return PlainRoute{400};

  const std::string clean = Cleaned(path);
  if (clean + '/' == kConfigPrefix) return RedirectRoute{std::string(kConfigPrefix).append(query)};
  if (clean != path) return RedirectRoute{clean + std::string(query)};
  if (method != "GET" && method != "HEAD") return PlainRoute{405};
  if (path.starts_with(kConfigPrefix)) return ConfigRoute{LastPart(*unescaped)};
  if (path == kConfigsHealthPath) return ConfigsHealthRoute{};
  return PlainRoute{path == "/healthz" ? 200 : 404};
}

std::string RedirectText(std::string_view location) {
  std::string text = "<a href=\"";
  for (const char c : location) {
    switch (c) {
      case '&':
        text += "&amp;";
        break;
      case '<':
        text += "&lt;";
        break;
      case '>':
        text += "&gt;";
        break;
      case '"':
        text += "&#34;";
        break;
      case '\'':
        text += "&#39;";
        break;
      default:
        text += c;
    }
  }
  return text + "\">Temporary Redirect</a>.\n\n";
}

}  // namespace pintle::serving
