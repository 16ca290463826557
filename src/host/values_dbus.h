// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a D-Bus message says, as JSON: dictionaries are objects, structs are lists, and a variant is what is in it.

#include "json/parse.h"

struct sd_bus_message;

namespace pintle::host {

// Reads the next value of the message, of whatever type.  A negative errno if there is none, or if it is one that JSON
// has no way for, such as a descriptor.
int ReadValue(::sd_bus_message* message, json::Value& value);

}  // namespace pintle::host
