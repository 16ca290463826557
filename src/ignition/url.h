// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parses URLs as far as is needed to accept and refuse the same URLs as Ignition.

#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle::ignition {

struct Url {
  std::string scheme;       // In lower case; empty for a path.
  std::string_view opaque;  // The text between the scheme and the query, unless it begins with "/".
  std::string_view query;
};

// Returns an error if Ignition would refuse the URL.  The result points into `text`.
Result<Url> ParseUrl(std::string_view text);

// Returns whether the query sets "versionId", the version of an S3 object, to an empty text.
bool NamesEmptyVersionId(std::string_view query);

// The URL schemes that a version of the specification accepts beside "http", "https", "tftp", "s3" and "data".
struct UrlRules {
  bool google_storage = false;  // The scheme "gs".
  bool arn = false;             // The scheme "arn", for S3.
};

// Returns in Ignition's words why this is not a valid source, or "" if it is one.
std::string SourceProblem(std::string_view source, const UrlRules& rules);

}  // namespace pintle::ignition
