// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads bundles of certificate authorities from ConfigMaps.

#include <string>
#include <string_view>
#include <vector>

#include "api/config_map.h"

namespace pintle::clusterops {

// Returns the bundle under a key of `binaryData` or `data`, or "" if neither has the key.  If both have the key,
// `binaryData` counts.  The value in `data` can be the bundle itself or its base64.
std::string AuthoritiesIn(const api::ConfigMap& map, std::string_view key);

// A PEM certificate in a bundle, with its first and last line, and the text between it and the certificate before it.
struct PemCertificate {
  std::string_view before;  // Other text, such as a comment.
  std::string_view text;    // Ends with a line break if the bundle has one there.
};

// Returns the certificates of a bundle, also those that cannot be read.  They refer to the bundle.
std::vector<PemCertificate> PemCertificatesIn(std::string_view bundle);

// Returns whether at least one certificate of the bundle can be read.
bool HasReadableCertificate(std::string_view bundle);

// Returns whether `bundle` has every certificate of `others`.
bool ContainsCertificates(std::string_view bundle, std::string_view others);

}  // namespace pintle::clusterops
