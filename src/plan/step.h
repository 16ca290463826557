// SPDX-License-Identifier: Apache-2.0
#pragma once

// A step of a change: a thing on a node, and the state that the thing gets.  Steps are plain data, so that they can be
// printed, stored in the journal, and put again.

#include <variant>

#include "resource/authorized_keys.h"
#include "resource/deployment.h"
#include "resource/file_entry.h"
#include "resource/password_hash.h"
#include "resource/resource.h"
#include "resource/unit_state.h"

namespace pintle::plan {

// A plan has no steps for UnitLinks; only an undo has them, to bring back the enablement of units.
using Step = std::variant<resource::Put<resource::FileEntry>, resource::Put<resource::UnitState>,
                          resource::Put<resource::UnitLinks>, resource::Put<resource::AuthorizedKeys>,
                          resource::Put<resource::PasswordHash>, resource::Put<resource::Deployment>>;

}  // namespace pintle::plan

namespace pintle::json {

template <>
inline constexpr std::string_view kKind<resource::Put<resource::FileEntry>> = "file";
template <>
inline constexpr std::string_view kKind<resource::Put<resource::UnitState>> = "unit";
template <>
inline constexpr std::string_view kKind<resource::Put<resource::UnitLinks>> = "unitLinks";
template <>
inline constexpr std::string_view kKind<resource::Put<resource::AuthorizedKeys>> = "authorizedKeys";
template <>
inline constexpr std::string_view kKind<resource::Put<resource::PasswordHash>> = "passwordHash";
template <>
inline constexpr std::string_view kKind<resource::Put<resource::Deployment>> = "deployment";

}  // namespace pintle::json
