// SPDX-License-Identifier: Apache-2.0
#pragma once

// A change of a node from one config to another, as the journal keeps it.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/machine_configuration.h"
#include "host/files/fingerprint.h"
#include "json/field_list.h"
#include "plan/step.h"

namespace pintle::change {

// The phase of a change, which decides what recovery does after a crash.
enum class Phase {
  kApplying,  // Some of the steps may have been put: go back to the old config.
  kApplied,   // All steps have been put: go on to the new config.
  kUndoing,   // The change failed or was given up: go back to the old config, and restart the services with it.
};

// The properties by which a deployment is recognized.
struct KnownDeployment {
  std::string id;
  std::string commit;
  std::vector<std::string> kernel_arguments;

  static constexpr auto kFields = json::FieldList{
      json::Required{"id", &KnownDeployment::id},
      json::Required{"commit", &KnownDeployment::commit},
      json::Required{"kernelArguments", &KnownDeployment::kernel_arguments},
  };
};

// The part of a change that is left to the next boot.
struct NextBoot {
  std::string replaces;  // The id of the deployment that was booted when the change began.
  // Things that are as the new config wants them, and that the merge of /etc must not change (HoldUnchanged()).
  std::vector<plan::Step> held;
  bool is_finalized = false;  // The files were put into the new deployment.
  // The id of the deployment that was pending when the change began; empty if there was none.
  std::string found_pending;
  // The deployment that was staged for this change; nullopt if none was staged yet.
  std::optional<KnownDeployment> staged;

  static constexpr auto kFields = json::FieldList{
      json::Required{"replaces", &NextBoot::replaces},
      json::Required{"held", &NextBoot::held},
      json::Required{"isFinalized", &NextBoot::is_finalized},
      json::Field{"found", &NextBoot::found_pending},
      json::Field{"staged", &NextBoot::staged},
  };
};

struct Change {
  Phase phase = Phase::kApplying;
  std::string from;      // The name of the old config.
  std::string to;        // The name of the new config.
  std::string to_image;  // The image that was built for the new config; empty if there is none.
  // The id of the boot in which the change began.  If recovery has put files that need another reboot, this is the id
  // of the boot in which it put them.  Such files are those of the old state, and those of a new deployment that was
  // booted without its files.
  std::string boot_id;
  // The steps for the things that were not as the new config wants them.  RecordLinks() adds a step for the links of
  // units.  There are no steps, and no steps of the undo, if the old state is back and only a reboot is missing.
  std::vector<plan::Step> steps;
  std::vector<plan::Step> undo;  // The steps that put these things back, in this order.
  std::vector<api::NodeDisruptionAction> actions;

  // The fingerprints of files whose states `undo` puts back and which this process has observed.  They are not stored
  // in the journal.
  host::Fingerprints fingerprints;

  std::optional<NextBoot> next_boot;
  std::string reason;  // The reason why the change is undone.

  // Set if the maker of the change has to confirm after the reboot that the machine is healthy.
  bool awaits_confirmation = false;
  // The number of boots that recovery has counted since the change was applied, and the id of the last of these boots.
  std::int64_t boots = 0;
  std::string counted_boot_id;

  static constexpr auto kFields = json::FieldList{
      json::Required{"phase", &Change::phase},     json::Required{"from", &Change::from},
      json::Required{"to", &Change::to},           json::Required{"bootID", &Change::boot_id},
      json::Required{"steps", &Change::steps},     json::Required{"undo", &Change::undo},
      json::Required{"actions", &Change::actions}, json::Required{"nextBoot", &Change::next_boot},
      json::Field{"reason", &Change::reason},      json::Field{"awaitsConfirmation", &Change::awaits_confirmation},
      json::Field{"boots", &Change::boots},        json::Field{"countedBootID", &Change::counted_boot_id},
      json::Field{"toImage", &Change::to_image},
  };
};

}  // namespace pintle::change

namespace pintle::json {

template <>
inline constexpr auto kNames<change::Phase> = std::array{
    std::pair{change::Phase::kApplying, "applying"},
    std::pair{change::Phase::kApplied, "applied"},
    std::pair{change::Phase::kUndoing, "undoing"},
};

}  // namespace pintle::json
