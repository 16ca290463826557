// SPDX-License-Identifier: Apache-2.0
#include "generated/image_reference.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "base/ascii.h"

namespace pintle::generated {
namespace {

constexpr std::string_view kDefaultRegistry = "docker.io";

bool IsHexadecimal(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool IsLowerHexadecimal(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); }
bool IsWord(char c) { return IsLetterOrDigit(c) || c == '_'; }

template <typename Predicate>
bool IsAll(std::string_view text, Predicate is_allowed) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_allowed);
}

// Returns whether `is_good` returns true for each piece between separators.
template <typename Predicate>
bool AllPieces(std::string_view text, char separator, Predicate is_good) {
  for (;;) {
    const std::size_t end = text.find(separator);
    if (!is_good(text.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 1);
  }
}

// Checks one label of a host name: letters, digits and dashes, without a dash at either end.
bool IsHostPiece(std::string_view text) {
  return IsAll(text, [](char c) { return IsLetterOrDigit(c) || c == '-'; }) && text.front() != '-' &&
         text.back() != '-';
}

// Checks the name of a host, with an optional port.  As in the operator, an IPv6 address in brackets is not accepted.
bool IsDomain(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (!AllPieces(text.substr(0, colon), '.', IsHostPiece)) return false;
  return colon == std::string_view::npos || IsAll(text.substr(colon + 1), IsDigit);
}

// Checks a component of a path: lower-case letters and digits, separated by one of . _ __ or any number of dashes.
bool IsPathPiece(std::string_view text) {
  const auto is_part = [](char c) { return IsLower(c) || IsDigit(c); };
  if (text.empty() || !is_part(text.front()) || !is_part(text.back())) return false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    while (!is_part(text[at])) ++at;  // The last character is a letter or a digit, so the loop ends.
    const std::string_view separator = text.substr(begin, at - begin);
    const bool is_good = separator.empty() || separator == "." || separator == "_" || separator == "__" ||
                         separator.find_first_not_of('-') == std::string_view::npos;
    if (!is_good) return false;
    while (at < text.size() && is_part(text[at])) ++at;
  }
  return true;
}

bool IsPath(std::string_view text) { return AllPieces(text, '/', IsPathPiece); }

bool IsTag(std::string_view text) {
  constexpr std::size_t kLongest = 128;
  return text.size() <= kLongest && IsAll(text, [](char c) { return IsWord(c) || c == '.' || c == '-'; }) &&
         IsWord(text.front());
}

// Checks a digest: an algorithm such as "sha256", a colon, and at least 32 hexadecimal digits.  The algorithm may have
// several words, with one of the characters "-", "_", "+" and "." between two words.
bool IsDigest(std::string_view text) {
  constexpr std::size_t kFewestDigits = 32;
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  std::string_view algorithm = text.substr(0, colon);
  for (;;) {
    const std::size_t end = algorithm.find_first_of("-_+.");
    const std::string_view word = algorithm.substr(0, end);
    if (!IsAll(word, IsLetterOrDigit) || IsDigit(word.front())) return false;
    if (end == std::string_view::npos) break;
    algorithm.remove_prefix(end + 1);
  }
  const std::string_view digits = text.substr(colon + 1);
  return digits.size() >= kFewestDigits && IsAll(digits, IsHexadecimal);
}

// The parts of an image's name.  None of them is checked.
struct Parts {
  std::string domain;
  std::string_view path;
  std::optional<std::string_view> tag;
  std::optional<std::string_view> digest;
};

Parts SplitBehindDomain(std::string domain, std::string_view rest) {
  Parts parts;
  parts.domain = std::move(domain);
  if (const std::size_t at = rest.find('@'); at != std::string_view::npos) {
    parts.digest = rest.substr(at + 1);
    rest = rest.substr(0, at);
  }
  if (const std::size_t colon = rest.find(':'); colon != std::string_view::npos) {
    parts.tag = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
  }
  parts.path = rest;
  return parts;
}

bool IsWellFormed(const Parts& parts) {
  return IsDomain(parts.domain) && IsPath(parts.path) && (!parts.tag || IsTag(*parts.tag)) &&
         (!parts.digest || IsDigest(*parts.digest));
}

// Returns what is wrong with a digest, or "".
std::string DigestProblem(std::string_view digest) {
  struct Algorithm {
    std::string_view name;
    std::size_t digits;
  };
  constexpr auto kAlgorithms = std::to_array<Algorithm>({{"sha256", 64}, {"sha384", 96}, {"sha512", 128}});
  const std::size_t colon = digest.find(':');
  const auto* algorithm = std::find_if(kAlgorithms.begin(), kAlgorithms.end(),
                                       [&](const Algorithm& a) { return a.name == digest.substr(0, colon); });
  if (algorithm == kAlgorithms.end()) return "unsupported digest algorithm";
  const std::string_view digits = digest.substr(colon + 1);
  if (digits.size() != algorithm->digits) return "invalid checksum digest length";
  return IsAll(digits, IsLowerHexadecimal) ? "" : "invalid checksum digest format";
}

struct FullName {
  std::string domain;
  std::string rest;  // The path, and the tag and the digest if there are any.
};

// Adds the domain docker.io if a name has no domain, and replaces its alias index.docker.io.  Adds "library/" to a name
// of docker.io that has no "/".
FullName Completed(std::string_view image) {
  FullName name;
  const std::size_t slash = image.find('/');
  const std::string_view first = image.substr(0, slash);
  const bool has_domain =
      slash != std::string_view::npos && (first.find_first_of(".:") != std::string_view::npos || first == "localhost");
  name.domain = has_domain ? first : kDefaultRegistry;
  name.rest = has_domain ? image.substr(slash + 1) : image;
  if (name.domain == "index.docker.io") name.domain = kDefaultRegistry;
  if (name.domain == kDefaultRegistry && name.rest.find('/') == std::string::npos) name.rest = "library/" + name.rest;
  return name;
}

Error Malformed(std::string_view problem) { return Error(ErrorKind::kInvalid, std::string(problem)); }

Result<FullName> Normalized(std::string_view image) {
  constexpr std::size_t kDigitsOfId = 64;  // The ID of an image cannot be used as a name.
  constexpr std::size_t kLongestName = 255;
  constexpr std::string_view kNotWellFormed = "invalid reference format";
  if (image.size() == kDigitsOfId && IsAll(image, IsLowerHexadecimal)) {
    return Malformed(fmt::format("invalid repository name ({}), cannot specify 64-byte hexadecimal strings", image));
  }
  FullName name = Completed(image);
  const std::string_view rest = name.rest;
  const std::string_view path = rest.substr(0, rest.find(':'));
  if (std::any_of(path.begin(), path.end(), IsUpper)) {
    return Malformed("invalid reference format: repository name must be lowercase");
  }
  const Parts parts = SplitBehindDomain(name.domain, rest);
  if (!IsWellFormed(parts)) {
    const std::string lowered = InLowerCase(rest);
    if (IsWellFormed(SplitBehindDomain(InLowerCase(name.domain), lowered))) {
      return Malformed("repository name must be lowercase");
    }
    return Malformed(kNotWellFormed);
  }
  if (parts.domain.size() + 1 + parts.path.size() > kLongestName) {
    return Malformed("repository name must not be more than 255 characters");
  }
  if (parts.digest) {
    if (const std::string problem = DigestProblem(*parts.digest); !problem.empty()) return Malformed(problem);
  }
  return name;
}

}  // namespace

Result<std::string> RepositoryOf(std::string_view image) {
  const FullName name = TRY(Normalized(image));
  if (name.domain + "/" + name.rest != image) return Malformed("repository name must be canonical");
  const Parts parts = SplitBehindDomain(name.domain, name.rest);
  return parts.domain + "/" + std::string(parts.path);
}

Result<> CheckImageName(std::string_view image) {
  TRY(Normalized(image));
  return {};
}

bool IsRegistryOrRepository(std::string_view scope) {
  const std::size_t slash = scope.find('/');
  if (!IsDomain(scope.substr(0, slash))) return false;
  return slash == std::string_view::npos || IsPath(scope.substr(slash + 1));
}

}  // namespace pintle::generated
