// SPDX-License-Identifier: Apache-2.0
#pragma once

// URLs, read just as far as it takes to judge them like Ignition.

#include <string>
#include <string_view>

#include "base/result.h"

namespace pintle::ignition {

struct Url {
  std::string scheme;       // In lower case; empty: a path.
  std::string_view opaque;  // What follows the scheme when that is no "/", without the query.
  std::string_view query;
};

// The parts of `text`, into which they point.
Result<Url> ParseUrl(std::string_view text);

// Whether the query names a version of an S3 object, and leaves it empty.
bool NamesEmptyVersionId(std::string_view query);

// The URL schemes that a version of the specification knows beside "http", "https", "tftp", "s3" and "data".
struct UrlRules {
  bool google_storage = false;  // "gs"
  bool arn = false;             // "arn", of S3 buckets.
};

// Why nothing can be fetched from this source, in Ignition's words; empty when it can.
std::string SourceProblem(std::string_view source, const UrlRules& rules);

}  // namespace pintle::ignition
