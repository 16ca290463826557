// SPDX-License-Identifier: Apache-2.0
#pragma once

// Converts D-Bus values to JSON: dictionaries become objects, structs become lists, and variants become their
// contents.

#include "json/parse.h"

struct sd_bus_message;

namespace pintle::host {

// Reads the next value of the message, of any type.  Returns a negative errno if there is no value, or if JSON cannot
// represent the value, as with a descriptor.
int ReadValue(::sd_bus_message* message, json::Value& value);

}  // namespace pintle::host
