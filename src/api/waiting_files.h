// SPDX-License-Identifier: Apache-2.0
#pragma once

// Annotations of a Node for the time in which its pool is paused: the controller requests that the agent does not write
// the files of the ControllerConfig, and the agent reports which files wait.
//
// Agents read these files from the ControllerConfig and do not know their pool, so the controller has to ask each node
// to wait.  Each request has a time limit, and the controller renews the request before that limit.  The limit matters
// if a controller takes over that does not know these annotations, such as the Machine Config Operator's: after the
// limit, agents write new certificates again.

#include <optional>
#include <string>
#include <string_view>

#include "api/lenient.h"
#include "api/meta.h"
#include "json/field_list.h"

namespace pintle::api {

// The agent does not write the files before this time, in RFC 3339.
inline constexpr std::string_view kFilesWaitAnnotation = "pintle.io/controller-config-waits-until";
// A JSON list of WaitingFile: the files of the ControllerConfig that differ from those on the node's disk.
inline constexpr std::string_view kWaitingFilesAnnotation = "pintle.io/waiting-files";

struct WaitingFile {
  std::string path;
  // When the certificate that expires last in the node's copy of the file expires, and the subject of this certificate.
  // They are not set if the copy cannot be read or has no certificates.
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
