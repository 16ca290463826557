// SPDX-License-Identifier: Apache-2.0
#pragma once

// JSON that holds any bytes.
//
// Names of files and targets of links are bytes, and JSON has text only.  What is no text is written in base64 behind a
// mark that no other string begins with.

#include "base/result.h"
#include "json/parse.h"

namespace pintle::change {

// The same document with text only, names of members included.
json::Value WithTextOnly(json::Value document);

// The other way round; an error where a mark is followed by something else.
Result<json::Value> WithAnyBytes(json::Value document);

}  // namespace pintle::change
