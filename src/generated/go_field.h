// SPDX-License-Identifier: Apache-2.0
#pragma once

// The fields of a struct that a Go program has, by the names in its JSON.
//
// Whoever reads such a struct shows in errors the names that are here and none that it was given, unlike json::Report.

#include <string_view>

#include "json/fields.h"

namespace pintle::generated {

// Left out when it is empty, as Go's `omitempty` does: "", 0, false, nothing, no elements, but never a struct.
template <typename Owner, typename T>
constexpr auto OmitEmpty(std::string_view name, T Owner::*member) {
  return json::Field{name, member};
}

template <typename Owner, typename T>
constexpr auto Always(std::string_view name, T Owner::*member) {
  return json::Required{name, member};
}

}  // namespace pintle::generated
