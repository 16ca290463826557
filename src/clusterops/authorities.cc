// SPDX-License-Identifier: Apache-2.0
#include "clusterops/authorities.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <set>
#include <utility>

#include "base/base64.h"
#include "net/certificates.h"

namespace pintle::clusterops {
namespace {

constexpr std::string_view kPemBegin = "-----BEGIN CERTIFICATE-----";
constexpr std::string_view kPemEnd = "-----END CERTIFICATE-----";

// Returns the certificates without their white space, because line breaks differ between programs.
std::set<std::string> CompactCertificatesIn(std::string_view bundle) {
  std::set<std::string> compact;
  for (const PemCertificate& certificate : PemCertificatesIn(bundle)) {
    std::string text(certificate.text);
    std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
    compact.insert(std::move(text));
  }
  return compact;
}

}  // namespace

std::string AuthoritiesIn(const api::ConfigMap& map, std::string_view key) {
  const std::string name(key);
  if (const auto bytes = map.binary_data.find(name); bytes != map.binary_data.end()) {
    return DecodeBase64(bytes->second).value_or("");
  }
  const auto text = map.data.find(name);
  return text == map.data.end() ? "" : DecodeBase64(text->second).value_or(text->second);
}

std::vector<PemCertificate> PemCertificatesIn(std::string_view bundle) {
  std::vector<PemCertificate> certificates;
  while (true) {
    const std::size_t first = bundle.find(kPemBegin);
    const std::size_t end = first == std::string_view::npos ? first : bundle.find(kPemEnd, first);
    if (end == std::string_view::npos) return certificates;
    const std::size_t begin = bundle.rfind(kPemBegin, end);  // The certificate before may lack its last line.
    std::size_t after = end + kPemEnd.size();
    if (after < bundle.size() && bundle[after] == '\n') ++after;
    certificates.push_back({.before = bundle.substr(0, begin), .text = bundle.substr(begin, after - begin)});
    bundle.remove_prefix(after);
  }
}

bool HasReadableCertificate(std::string_view bundle) {
  const auto certificates = PemCertificatesIn(bundle);
  return std::any_of(certificates.begin(), certificates.end(),
                     [](const PemCertificate& certificate) { return net::HasCertificate(certificate.text); });
}

bool ContainsCertificates(std::string_view bundle, std::string_view others) {
  const auto all = CompactCertificatesIn(bundle);
  const auto some = CompactCertificatesIn(others);
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

}  // namespace pintle::clusterops
