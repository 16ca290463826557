// SPDX-License-Identifier: Apache-2.0
#pragma once

// What on a machine is not as its config says, with all that a person needs to choose between mending, keeping and
// ignoring it.

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
#include "json/fields.h"

namespace pintle::change {

struct Drift {
  std::string about;                         // A path, a unit, a user.
  std::vector<std::string> problems;         // In the words of the Machine Config Operator.
  std::vector<std::string> details;          // What there is to say beyond them, with secrets masked.
  std::vector<std::string> written_by;       // The configs that say what it should be; none: that is not known.
  std::string difference;                    // From what the config says to what is there, with secrets masked.
  std::vector<std::string> remedies;         // Commands.
  std::optional<std::string> ignored_until;  // Until then it does not count.  RFC 3339.

  static constexpr auto kFields = json::FieldList{
      json::Required{"about", &Drift::about},
      json::Required{"problems", &Drift::problems},
      json::Field{"details", &Drift::details},
      json::Required{"writtenBy", &Drift::written_by},
      json::Field{"difference", &Drift::difference},
      json::Required{"remedies", &Drift::remedies},
      json::Field{"ignoredUntil", &Drift::ignored_until},
  };
};

struct Drifts {
  std::string config;
  std::string text;  // All findings that count, in one line; empty: everything else is as it should be.
  std::vector<Drift> all;

  // The problems that count.
  std::size_t count() const;

  static constexpr auto kFields = json::FieldList{
      json::Required{"config", &Drifts::config},
      json::Required{"text", &Drifts::text},
      json::Required{"findings", &Drifts::all},
  };
};

// On the machine that runs: files that have not been touched since they were last looked at in this boot are not read
// again.
Result<std::vector<Finding>> FindingsOnThisMachine(const host::Host& host, const plan::ParsedConfig& config);

// All there is to say of findings.  `root_words` is what a command about the machine needs: " --root /mnt", or nothing.
Result<Drifts> DriftsOf(const Root& root, const CurrentConfig& config, std::vector<Finding> findings,
                        const Ignored& ignored = {}, const std::string& root_words = "");

// A change that says otherwise of a thing does not leave it alone because it is ignored.
void AdviseNotToIgnore(const Things& things, Drifts& drifts);

}  // namespace pintle::change
