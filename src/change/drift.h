// SPDX-License-Identifier: Apache-2.0
#pragma once

// The differences between a machine and its config, with everything that a person needs to choose between correcting,
// keeping and ignoring them.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "change/current_config.h"
#include "change/findings.h"
#include "change/ignored.h"
#include "change/losses.h"
#include "host/host.h"
#include "json/field_list.h"

namespace pintle::change {

// One thing that is not as the config wants it, whether it is ignored or not.
struct ReportedThing {
  std::string about;                         // A path, a unit, a user or the OS.
  std::vector<std::string> problems;         // Worded as by the Machine Config Operator, if it reports them.
  std::vector<std::string> details;          // More details than in the problems, with secrets masked.
  std::vector<std::string> written_by;       // The configs that manage the thing; empty if they are not known.
  std::string difference;                    // A diff from the config to the actual contents, with secrets masked.
  std::vector<std::string> remedies;         // Commands that a person can run.
  std::optional<std::string> ignored_until;  // The finding does not count until this time, in RFC 3339.

  static constexpr auto kFields = json::FieldList{
      json::Required{"about", &ReportedThing::about},
      json::Required{"problems", &ReportedThing::problems},
      json::Field{"details", &ReportedThing::details},
      json::Required{"writtenBy", &ReportedThing::written_by},
      json::Field{"difference", &ReportedThing::difference},
      json::Required{"remedies", &ReportedThing::remedies},
      json::Field{"ignoredUntil", &ReportedThing::ignored_until},
  };
};

struct VerifyReport {
  std::string config;
  std::string text;  // All findings that count, in one line; empty if there are none.
  std::vector<ReportedThing> things;

  // Returns the number of problems that count.
  std::size_t count() const;

  static constexpr auto kFields = json::FieldList{
      json::Required{"config", &VerifyReport::config},
      json::Required{"text", &VerifyReport::text},
      json::Required{"findings", &VerifyReport::things},
  };
};

// The findings on the running machine, and the record of the files that were read for them.
struct FreshFindings {
  std::vector<Finding> findings;
  host::SeenFiles seen;
};

// Reads the running machine, and changes nothing.  Files that were not touched since they were last read in this boot
// are not read again.
Result<FreshFindings> ObserveThisMachine(const host::Host& host, const plan::ParsedConfig& config);

// Stores the record of the files that were read.  A failure is not reported, since it only makes the next look longer.
void KeepSeenFiles(const Root& root, const host::SeenFiles& seen);

// Calls ObserveThisMachine() and KeepSeenFiles(), and returns the findings.
Result<std::vector<Finding>> FindingsOnThisMachine(const host::Host& host, const plan::ParsedConfig& config);

// Returns the findings with all details.  `root_words` are the words with which a remedy's command selects this
// machine, such as " --root /mnt"; empty for the running machine.
Result<VerifyReport> VerifyReportOf(const Root& root, const CurrentConfig& config, std::vector<Finding> findings,
                                    const Ignored& ignored = {}, const std::string& root_words = "");

// Marks the ignored things, so that their findings do not count.  In `report`, no thing may be marked yet.
VerifyReport MarkIgnored(VerifyReport report, const Ignored& ignored, const std::string& root_words = "");

// Removes the advice to ignore these things.  Ignoring them would not help: the two configs of a change differ in them,
// so the change overwrites them anyway.
void RemoveIgnoreAdvice(const Things& things, VerifyReport& report);

}  // namespace pintle::change
