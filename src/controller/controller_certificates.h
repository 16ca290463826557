// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists the certificates in the bundles of a ControllerConfig, for its status.

#include "json/value.h"

namespace pintle::controller {

// Returns `status.controllerCertificates` for this spec.  If a bundle cannot be read to the end, only its certificates
// before the first problem are listed.
json::Value ControllerCertificates(const json::Value& spec);

}  // namespace pintle::controller
