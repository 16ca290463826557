// SPDX-License-Identifier: Apache-2.0
#pragma once

// Encodes any bytes in JSON.
//
// Names of files and targets of links are bytes, but JSON strings are text.  Bytes that are not UTF-8 are written in
// base64 after a mark.  A text that happens to begin with the mark is written in base64, too.

#include "base/result.h"
#include "json/parse.h"

namespace pintle::change {

// Returns the document with all its strings encoded as text, the names of members included.
json::Value WithTextOnly(json::Value document);

// Reverts WithTextOnly().  Returns an error if a mark is not followed by base64.
Result<json::Value> WithAnyBytes(json::Value document);

}  // namespace pintle::change
