// SPDX-License-Identifier: Apache-2.0
#include "generated/go_url.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/ascii.h"
#include "generated/go_address.h"
#include "generated/invalid.h"
#include "gotext/quote.h"

namespace pintle::generated {
namespace {

using gotext::Quoted;

enum class Part : std::uint8_t { kHost, kZone, kUser, kPath };

bool IsHexDigit(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

int DigitOf(char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }

bool MayStandInHost(char c) {
  return IsLetterOrDigit(c) || std::string_view("-_.~!$&'()*+,;=:[]<>\"").find(c) != std::string_view::npos;
}

// In a host, an escape may stand only for a byte outside of ASCII.  In the zone of an IPv6 address, it may stand only
// for a space or for a character that a host may have.  The escape of the percent sign, %25, is allowed everywhere.
bool IsGoodEscape(std::string_view escape, char value, Part part) {
  if (escape == "%25") return true;
  if (part == Part::kHost) return DigitOf(escape[1]) >= 8;
  if (part == Part::kZone) return value == ' ' || MayStandInHost(value);
  return true;
}

Result<std::string> Unescaped(std::string_view text, Part part) {
  std::string unescaped;
  const bool is_host = part == Part::kHost || part == Part::kZone;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const std::string_view escape = text.substr(i, 3);
      if (escape.size() < 3 || !IsHexDigit(escape[1]) || !IsHexDigit(escape[2])) {
        return Invalid("invalid URL escape " + Quoted(escape));
      }
      const char value = static_cast<char>(DigitOf(escape[1]) << 4 | DigitOf(escape[2]));
      if (!IsGoodEscape(escape, value, part)) return Invalid("invalid URL escape " + Quoted(escape));
      unescaped += value;
      i += 2;
    } else if (is_host && static_cast<unsigned char>(text[i]) < 0x80 && !MayStandInHost(text[i])) {
      return Invalid(fmt::format("invalid character {} in host name", Quoted(text.substr(i, 1))));
    } else {
      unescaped += text[i];
    }
  }
  return unescaped;
}

// Returns whether the text is empty, or a colon and any number of digits.
bool IsPort(std::string_view port) {
  if (port.empty()) return true;
  return port.front() == ':' && std::all_of(port.begin() + 1, port.end(), IsDigit);
}

Error WrongPort(std::string_view port) { return Invalid(fmt::format("invalid port {} after host", Quoted(port))); }

Result<std::string> ReadBracketedHost(std::string_view host, std::size_t open) {
  const std::size_t close = host.rfind(']');
  if (close == std::string_view::npos || close < open) return Invalid("missing ']' in host");
  const std::string_view port = host.substr(close + 1);
  if (!IsPort(port)) return WrongPort(port);
  const std::string_view name = host.substr(open + 1, close - open - 1);
  const std::size_t zone = std::min(name.find("%25"), name.size());
  std::string address = TRY(Unescaped(name.substr(0, zone), Part::kHost));
  address += TRY(Unescaped(name.substr(zone), Part::kZone));
  if (TRY(VersionOfGoAddress(address), "invalid host") == IpVersion::kFour) return Invalid("invalid IP-literal");
  return "[" + address + "]" + std::string(port);
}

Result<std::string> ReadHost(std::string_view scheme, std::string_view host) {
  if (const std::size_t open = host.rfind('['); open != std::string_view::npos) return ReadBracketedHost(host, open);
  const bool is_web = scheme == "http" || scheme == "https";
  if (const std::size_t colon = is_web ? host.find(':') : host.rfind(':'); colon != std::string_view::npos) {
    if (!IsPort(host.substr(colon))) return WrongPort(host.substr(colon));
  }
  return Unescaped(host, Part::kHost);
}

bool MayStandInUser(char c) {
  return IsLetterOrDigit(c) || std::string_view("-._:~!$&'()*+,;=%@").find(c) != std::string_view::npos;
}

Result<std::string> ReadAuthority(std::string_view scheme, std::string_view authority) {
  const std::size_t at = authority.rfind('@');
  if (at == std::string_view::npos) return ReadHost(scheme, authority);
  std::string host = TRY(ReadHost(scheme, authority.substr(at + 1)));
  const std::string_view user = authority.substr(0, at);
  if (!std::all_of(user.begin(), user.end(), MayStandInUser)) return Invalid("net/url: invalid userinfo");
  const std::size_t colon = std::min(user.find(':'), user.size());
  TRY(Unescaped(user.substr(0, colon), Part::kUser));
  TRY(Unescaped(user.substr(std::min(colon + 1, user.size())), Part::kUser));  // The password.
  return host;
}

// Takes the scheme off the text.  An empty result means that there is none.
Result<std::string> TakeScheme(std::string_view& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (IsLetter(c)) continue;
    if (c == ':') {
      if (i == 0) return Invalid("missing protocol scheme");
      std::string scheme = InLowerCase(text.substr(0, i));
      text.remove_prefix(i + 1);
      return scheme;
    }
    const bool may_follow = IsLetterOrDigit(c) || c == '+' || c == '-' || c == '.';
    if (!may_follow || i == 0) return std::string();
  }
  return std::string();
}

GoUrl SplitHost(std::string scheme, std::string_view host) {
  GoUrl url{std::move(scheme), "", ""};
  if (const std::size_t colon = host.rfind(':'); colon != std::string_view::npos && IsPort(host.substr(colon))) {
    url.port = host.substr(colon + 1);
    host = host.substr(0, colon);
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  url.host = host;
  return url;
}

bool IsControl(char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; }

Result<GoUrl> ReadBeforeFragment(std::string_view rest) {
  if (std::any_of(rest.begin(), rest.end(), IsControl)) return Invalid("net/url: invalid control character in URL");
  if (rest == "*") return GoUrl{};
  std::string scheme = TRY(TakeScheme(rest));
  rest = rest.substr(0, rest.find('?'));
  if (!rest.starts_with('/')) {
    if (!scheme.empty()) return GoUrl{std::move(scheme), "", ""};
    if (rest.substr(0, rest.find('/')).find(':') != std::string_view::npos) {
      return Invalid("first path segment in URL cannot contain colon");
    }
  }
  std::string host;
  if (rest.starts_with("//") && (!scheme.empty() || !rest.starts_with("///"))) {
    rest.remove_prefix(2);
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    host = TRY(ReadAuthority(scheme, rest.substr(0, slash)));
    rest = rest.substr(slash);
  }
  TRY(Unescaped(rest, Part::kPath));
  return SplitHost(std::move(scheme), host);
}

}  // namespace

Result<GoUrl> ReadGoUrl(std::string_view url) {
  const std::size_t hash = std::min(url.find('#'), url.size());
  auto read = ReadBeforeFragment(url.substr(0, hash));
  const auto wrong = [](std::string_view text, const Error& error) {
    return Invalid(fmt::format("parse {}: {}", Quoted(text), error.message()));
  };
  if (!read) return wrong(url.substr(0, hash), read.error());
  if (hash < url.size()) {
    if (const auto fragment = Unescaped(url.substr(hash + 1), Part::kPath); !fragment) {
      return wrong(url, fragment.error());
    }
  }
  return read;
}

}  // namespace pintle::generated
