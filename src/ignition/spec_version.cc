// SPDX-License-Identifier: Apache-2.0
#include "ignition/spec_version.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "ignition/semver.h"

namespace pintle::ignition {
namespace {

constexpr std::array kNames = {
    std::pair{SpecVersion::k2_2, std::string_view("2.2.0")}, std::pair{SpecVersion::k3_0, std::string_view("3.0.0")},
    std::pair{SpecVersion::k3_1, std::string_view("3.1.0")}, std::pair{SpecVersion::k3_2, std::string_view("3.2.0")},
    std::pair{SpecVersion::k3_3, std::string_view("3.3.0")}, std::pair{SpecVersion::k3_4, std::string_view("3.4.0")},
    std::pair{SpecVersion::k3_5, std::string_view("3.5.0")},
};

std::string_view TrimAscii(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const std::size_t start = text.find_first_not_of(kSpace);
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(kSpace) - start + 1);
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(TrimAscii(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// One of the media types that a client accepts.
struct Offer {
  std::string_view subtype;
  std::optional<Semver> version;
  float quality = 1.0F;
};

std::optional<float> ParseQuality(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const float value = std::strtof(copy.c_str(), &end);
  if (copy.empty() || end != copy.c_str() + copy.size() || std::isnan(value)) return std::nullopt;
  // Unlike strtof(), Go's parser refuses numbers that are too large, and hexadecimal numbers without an exponent.
  const bool is_too_large = std::isinf(value) && text.find_first_of("iI") == std::string_view::npos;
  const bool lacks_exponent = text.find_first_of("xX") != std::string_view::npos &&  //
                              text.find_first_of("pP") == std::string_view::npos;
  if (is_too_large || lacks_exponent) return std::nullopt;
  return value;
}

std::optional<Offer> ParseOffer(std::string_view text) {
  const std::vector<std::string_view> parts = Split(text, ';');
  const std::size_t slash = parts[0].find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  Offer offer;
  offer.subtype = parts[0].substr(slash + 1);
  bool has_quality = false;
  for (const std::string_view part : parts) {
    if (part.starts_with("version=") && !offer.version) offer.version = ParseSemver(part.substr(8));
    if (part.starts_with("q=") && !has_quality) {
      const auto quality = ParseQuality(part.substr(2));
      has_quality = quality.has_value();
      offer.quality = quality.value_or(1.0F);
    }
  }
  return offer;
}

std::optional<SpecVersion> ServedVersionFor(const Semver& version) {
  // Clients that ask for spec 2.2 or a later 2.x all understand 2.2.
  if (version.major == 2) {
    return version.minor >= 2 ? std::optional(SpecVersion::k2_2) : std::nullopt;
  }
  if (version.major != 3) return std::nullopt;
  constexpr std::array kSpec3Versions = {SpecVersion::k3_0, SpecVersion::k3_1, SpecVersion::k3_2,
                                         SpecVersion::k3_3, SpecVersion::k3_4, SpecVersion::k3_5};
  return kSpec3Versions[std::min<std::size_t>(static_cast<std::size_t>(version.minor), kSpec3Versions.size() - 1)];
}

}  // namespace

std::string_view ToText(SpecVersion version) {
  for (const auto& [known, name] : kNames) {
    if (known == version) return name;
  }
  return {};
}

Result<SpecVersion> ParseSpecVersion(std::string_view text) {
  for (const auto& [version, name] : kNames) {
    if (text == name || text == name.substr(0, name.size() - 2)) return version;
  }
  return Error(ErrorKind::kInvalid,
               fmt::format("configs cannot be converted to {}; versions are 2.2, 3.1, 3.2, 3.3, 3.4 and 3.5", text));
}

Result<SpecVersion> Negotiate(std::string_view accept) {
  std::vector<Offer> offers;
  for (const std::string_view part : Split(accept, ',')) {
    if (const auto offer = ParseOffer(part)) offers.push_back(*offer);
  }
  std::stable_sort(offers.begin(), offers.end(), [](const Offer& a, const Offer& b) { return a.quality > b.quality; });
  for (const Offer& offer : offers) {
    if (offer.subtype != "vnd.coreos.ignition+json" || !offer.version) continue;
    if (const auto version = ServedVersionFor(*offer.version)) return *version;
    return Error(ErrorKind::kInvalid, fmt::format("unsupported Ignition version in Accept header: {}", accept));
  }
  return SpecVersion::k2_2;
}

}  // namespace pintle::ignition
