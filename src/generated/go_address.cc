// SPDX-License-Identifier: Apache-2.0
#include "generated/go_address.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

#include "base/ascii.h"
#include "generated/invalid.h"
#include "gotext/quote.h"

namespace pintle::generated {
namespace {

class AddressReader {
 public:
  explicit AddressReader(std::string_view text) : text_(text) {}

  Result<IpVersion> Read() const {
    const std::size_t first = text_.find_first_of(".:%");
    if (first == std::string_view::npos) return Wrong("unable to parse IP");
    if (text_[first] == '%') return Wrong("missing IPv6 address");
    if (text_[first] == '.') {
      TRY(CheckIpv4(text_));
      return IpVersion::kFour;
    }
    TRY(CheckIpv6());
    return IpVersion::kSix;
  }

 private:
  Error Wrong(std::string_view problem) const {
    return Invalid(fmt::format("ParseAddr({}): {}", gotext::Quoted(text_), problem));
  }

  Error WrongAt(std::string_view rest, std::string_view problem) const {
    return Wrong(fmt::format("{} (at {})", problem, gotext::Quoted(rest)));
  }

  // Checks an IPv4 address, which may be the end of an IPv6 address.
  Result<> CheckIpv4(std::string_view address) const {
    constexpr int kLargestOctet = 255;
    constexpr std::size_t kDots = 3;
    int octet = 0;
    std::size_t digits = 0;
    std::size_t dots = 0;
    for (std::size_t i = 0; i < address.size(); ++i) {
      const char c = address[i];
      if (IsDigit(c)) {
        if (digits == 1 && octet == 0) return Wrong("IPv4 field has octet with leading zero");
        octet = octet * 10 + (c - '0');
        ++digits;
        if (octet > kLargestOctet) return Wrong("IPv4 field has value >255");
      } else if (c == '.') {
        const bool has_digits = i > 0 && address[i - 1] != '.' && i + 1 < address.size();
        if (!has_digits) return WrongAt(address.substr(i), "IPv4 field must have at least one digit");
        if (dots == kDots) return Wrong("IPv4 address too long");
        ++dots;
        octet = 0;
        digits = 0;
      } else {
        return WrongAt(address.substr(i), "unexpected character");
      }
    }
    if (dots < kDots) return Wrong("IPv4 address too short");
    return {};
  }

  Result<> CheckIpv6() const {
    constexpr std::size_t kFields = 8;
    constexpr std::size_t kFieldsBeforeIpv4 = kFields - 2;  // An IPv4 address stands for the last two fields.
    constexpr std::size_t kMostDigits = 4;
    const std::size_t percent = text_.find('%');
    if (percent + 1 == text_.size()) return Wrong("zone must be a non-empty string");
    std::string_view rest = text_.substr(0, percent);
    std::size_t fields = 0;
    bool has_gap = rest.starts_with("::");
    if (has_gap) rest.remove_prefix(2);
    if (has_gap && rest.empty()) return {};
    while (fields < kFields) {
      const std::size_t digits = std::min(rest.find_first_not_of("0123456789abcdefABCDEF"), rest.size());
      if (digits > kMostDigits) return WrongAt(rest, "each group must have 4 or less digits");
      if (digits == 0) return WrongAt(rest, "each colon-separated field must have at least one digit");
      if (rest.substr(digits).starts_with('.')) {
        if (!has_gap && fields != kFieldsBeforeIpv4) {
          return WrongAt(rest, "embedded IPv4 address must replace the final 2 fields of the address");
        }
        if (fields > kFieldsBeforeIpv4) {
          return WrongAt(rest, "too many hex fields to fit an embedded IPv4 at the end of the address");
        }
        TRY(CheckIpv4(rest));
        rest = {};
        fields += 2;
        break;
      }
      ++fields;
      rest.remove_prefix(digits);
      if (rest.empty()) break;
      if (rest.front() != ':') return WrongAt(rest, "unexpected character, want colon");
      if (rest.size() == 1) return WrongAt(rest, "colon must be followed by more characters");
      rest.remove_prefix(1);
      if (rest.front() != ':') continue;
      if (has_gap) return WrongAt(rest, "multiple :: in address");
      has_gap = true;
      rest.remove_prefix(1);
      if (rest.empty()) break;
    }
    if (!rest.empty()) return WrongAt(rest, "trailing garbage after address");
    if (fields < kFields && !has_gap) return Wrong("address string too short");
    if (fields == kFields && has_gap) return Wrong("the :: must expand to at least one field of zeros");
    return {};
  }

  std::string_view text_;
};

}  // namespace

Result<IpVersion> VersionOfGoAddress(std::string_view text) { return AddressReader(text).Read(); }

}  // namespace pintle::generated
