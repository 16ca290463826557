// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares the fields of a struct that mirrors a struct of a Go program, with the names that the fields have in JSON.
//
// Errors about such a struct contain the names of these fields, and never names from the input.

#include <string_view>

#include "json/field_list.h"

namespace pintle::generated {

// Declares a field that is left out when it is empty, as with Go's `omitempty`.  Empty values are "", 0, false, nil,
// and a list or a map without elements.  A struct is never empty.
template <typename Owner, typename T>
constexpr auto OmitEmpty(std::string_view name, T Owner::*member) {
  return json::Field{name, member};
}

// Declares a field that is always written.
template <typename Owner, typename T>
constexpr auto Always(std::string_view name, T Owner::*member) {
  return json::Required{name, member};
}

}  // namespace pintle::generated
