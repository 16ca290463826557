// SPDX-License-Identifier: Apache-2.0
#pragma once

// The files of the ControllerConfig while a pool is paused: the controller's request to hold them back, and a node's
// answer.
//
// Agents take these files from the ControllerConfig themselves and do not see their pool, so that the controller has to
// ask each node to wait.  It does so for a limited time, and repeats the request before that ends: if a controller
// takes over that does not know of this, such as the Machine Config Operator's, certificates pass after that time.

#include <optional>
#include <string>
#include <string_view>

#include "api/lenient.h"
#include "api/meta.h"
#include "json/field_list.h"

namespace pintle::api {

// The files wait until this time, in RFC 3339.
inline constexpr std::string_view kFilesWaitAnnotation = "pintle.io/controller-config-waits-until";
// A JSON list of WaitingFile: the files that differ from those on the node's disk.
inline constexpr std::string_view kWaitingFilesAnnotation = "pintle.io/waiting-files";

struct WaitingFile {
  std::string path;
  // The expiry and the subject of the certificate on the disk that expires last.
  std::optional<Time> valid_until;
  std::string subject;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"path", &WaitingFile::path},
      json::Field{"validUntil", &WaitingFile::valid_until},
      json::Field{"subject", &WaitingFile::subject},
  };
};

}  // namespace pintle::api
