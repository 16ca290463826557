// SPDX-License-Identifier: Apache-2.0
#pragma once

// The files of the ControllerConfig and the pause of a pool: what a controller tells a node, and what the node answers.
//
// Agents take these files from the ControllerConfig themselves, so that a node has to be told that they wait.  It is
// told so for a time, and told again before that is over: where a controller takes over that knows nothing of it, as
// the Machine Config Operator's does not, certificates pass after that time.

#include <optional>
#include <string>
#include <string_view>

#include "api/lenient.h"
#include "api/meta.h"
#include "json/fields.h"

namespace pintle::api {

// Until when they wait, as RFC 3339.
inline constexpr std::string_view kFilesWaitAnnotation = "pintle.io/controller-config-waits-until";
// Those that differ from what is on the node's disk: a list of WaitingFile as JSON.
inline constexpr std::string_view kWaitingFilesAnnotation = "pintle.io/waiting-files";

struct WaitingFile {
  std::string path;
  // Of what is on the disk: when the last of its certificates ends, and whose that is.
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
