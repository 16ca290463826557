// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the TLS rules of the Ignition server from a TLS profile of OpenShift.

#include <optional>

#include "api/tls_security_profile.h"
#include "net/tls_identity.h"

namespace pintle::serving {

// Returns the rules of a profile.  Without a profile, they are those of the profile Intermediate.
net::TlsRules TlsRulesOf(const std::optional<api::TlsSecurityProfile>& profile);

}  // namespace pintle::serving
