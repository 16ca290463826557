// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads a large list of objects quickly, and element by element, so that it takes little memory.
//
// ReadList() returns nullopt for every text that is not well-formed.  It also returns nullopt for a few well-formed
// texts: those with duplicate keys, numbers out of range, a byte order mark or very deep values, and those that exceed
// a limit.  The caller then uses Parse() of json/parse.h, which describes errors.  For all other texts, both read the
// same values.

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "json/parse.h"
#include "json/value.h"

namespace pintle::json {

// A member that is checked and then left out: the member `key` of each object that is the member `parent` of another
// object, or that is an element of a list which is this member.
struct Omission {
  std::string_view parent;
  std::string_view key;
};

// Takes an element of a list.  Returns false to stop.
using TakeElement = std::function<bool(Value element)>;

// Passes each element of a list to `take` as soon as it has been read.  The list is the text itself, or the member
// `items` of the object that is the text.  Returns the text without the elements of the list.  Returns nullopt if
// `take` has returned false, or if the text has to be read by Parse(), for example because it has no such list.
std::optional<Value> ReadList(std::string_view text, std::span<const Omission> omissions, const TakeElement& take,
                              const ParseLimits& limits = {});

}  // namespace pintle::json
