// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds values of wrong types in the settings of an OpenShift cluster, such as a number in place of a text.
//
// The API server checks the types of a setting only if it has a schema of the setting's kind.  A value of a wrong type
// must not be taken for a missing value, because a missing value can be a setting: no platform, or no proxy.

#include <string>

#include "json/value.h"

namespace pintle::clusterops {

// Each of these functions looks at the fields that the ControllerConfig is made from, and returns which of them have
// values of wrong types, and the object that they are in.  Returns "" if there is none, or if the object is null.
std::string WhyInfrastructureIsWrong(const json::Value& infrastructure);
std::string WhyNetworkIsWrong(const json::Value& network);
std::string WhyDnsIsWrong(const json::Value& dns);
std::string WhyProxyIsWrong(const json::Value& proxy);
std::string WhyImageSettingIsWrong(const json::Value& image_setting);
// `images` are the contents of images.json.
std::string WhyReleaseImagesAreWrong(const json::Value& images);

}  // namespace pintle::clusterops
