// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decodes the text that a template has printed into a file or a unit of an Ignition config.
//
// The text is YAML, which Go decodes into structs.  A number or a boolean becomes a text where a text is expected, and
// upper and lower case of keys do not matter.

#include <string_view>

#include "base/result.h"
#include "ignition/config.h"
#include "machineconfig/yaml.h"

namespace pintle::generated {

using machineconfig::Quotes;

// Errors have the words of Go: "error unmarshaling JSON: ...".  If quotes are forbidden, they name only places in the
// text and fields, because the text has a secret in it.
Result<ignition::File> ReadTemplateFile(std::string_view text, Quotes quotes = Quotes::kAllowed);
Result<ignition::Unit> ReadTemplateUnit(std::string_view text, Quotes quotes = Quotes::kAllowed);

}  // namespace pintle::generated
