// SPDX-License-Identifier: Apache-2.0
#include "ctl/firstboot.h"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "base/log.h"
#include "base/output.h"
#include "base/printable.h"
#include "change/claim.h"
#include "change/first_boot.h"
#include "ctl/carry_out.h"
#include "ctl/recover.h"
#include "ctl/verbs.h"
#include "host/ostree/named_deployment.h"
#include "machineconfig/input.h"

namespace pintle::ctl {
namespace {

// The id of the warning that the first boot's work has failed and is tried again.
constexpr log::MessageId kFirstBootFailed{"f0d1d1f11dab4010b6c01b4532e77d7d"};

using std::chrono::seconds;

constexpr auto kFirstRetry = seconds(1);
constexpr auto kLongestRetry = seconds(60);
// If the shutdown has not ended this process after this time, the shutdown has failed.
constexpr auto kShutdownPatience = std::chrono::minutes(15);

// Returns the image that is booted, or nullopt on a machine without OSTree.  With --root, the kernel's command line
// names the deployment.
Result<std::optional<host::DeployedImage>> BootedImage(const Machine& machine, const CommandLine& line) {
  if (machine.IsRunning()) {
    const host::Host host = machine.host();
    if (host.deployments == nullptr) return std::optional<host::DeployedImage>();
    return TRY(host.deployments->Observe()).booted;
  }
  const std::string text = TRY(machineconfig::ReadInput(line.Value("--command-line").value_or("/proc/cmdline")));
  return host::NamedDeployment(machine.root(), text);
}

struct AttemptResult {
  ExitStatus status = ExitStatus::kSuccess;
  bool is_rebooting = false;
};

class FirstBootWork {
 public:
  explicit FirstBootWork(const CommandLine& line)
      : line_(line), file_(line.Value("--file").value_or(change::kFirstConfig)) {}

  // Ends a change that was cut short before, and then does the work of the first boot.
  Result<AttemptResult> Attempt() const {
    const Machine machine = TRY(Machine::Of(line_));
    const auto claim = TRY(change::Claim::Take(machine.root(), change::kClaimPatience));
    const RecoveryOutcome recovered = TRY(EndInterruptedChange(machine), "ending what was cut short");
    if (recovered.how != change::Recovery::kNothingToDo)
      PrintToStderr("pintle: firstboot: " + RecoveredText(recovered));
    if (WaitsForReboot(recovered)) return RebootFor(machine, recovered);
    // A change that failed and was undone, such as one whose deployment did not boot, is not tried again at once.
    const bool has_failed = recovered.how == change::Recovery::kUndone && !recovered.reason.empty();
    if (has_failed) return Error(ErrorKind::kInvalid, RecoveredText(recovered));
    if (IsUnderWay(recovered)) return AttemptResult();
    const auto first_boot = TRY(change::FindFirstBoot(machine.host(), file_, TRY(BootedImage(machine, line_))));
    if (!first_boot) {
      Print(fmt::format("Nothing to do: there is no {}.\n", Printable(file_)));
      return AttemptResult();
    }
    return Complete(machine, *first_boot);
  }

 private:
  AndThen then() const { return line_.Has("--no-reboot") ? AndThen::kLeaveReboot : AndThen::kReboot; }

  // Reboots to complete a change that waits for a reboot, unless the reboot is left to someone else.
  Result<AttemptResult> RebootFor(const Machine& machine, const RecoveryOutcome& recovered) const {
    const bool reboots = then() == AndThen::kReboot && machine.IsRunning();
    if (!reboots) return AttemptResult{ExitStatus::kDiffers};
    TRY(machine.Reboot(fmt::format("the change to {} needs it", recovered.to)));
    return AttemptResult{ExitStatus::kSuccess, true};
  }

  Result<AttemptResult> Complete(const Machine& machine, const change::FirstBoot& first_boot) const {
    const std::string& name = first_boot.to.object.metadata.name;
    if (first_boot.is_late) PrintToStderr(fmt::format("pintle: firstboot: this machine has {} already\n", name));
    if (first_boot.HasWork() && line_.Has("--if-nothing-to-do")) {
      Print(fmt::format("There is something to do: the OS is not yet as {} wants it.\n", Printable(name)));
      return AttemptResult{ExitStatus::kDiffers};
    }
    const change::ChangeEvent event{.verb = "firstboot", .from = first_boot.from.object.metadata.name, .to = name};
    const std::string outcome = TRY(CarryOut(machine, then(), event, [&](const change::Progress& progress) {
      return change::Complete(machine.host(), first_boot, progress);
    }));
    Print(OutcomeText(outcome, fmt::format("the OS is as {} wants it", name), machine.RootOptionText()));
    const auto status = outcome == outcome::kRebootPending ? ExitStatus::kDiffers : ExitStatus::kSuccess;
    return AttemptResult{status, outcome == outcome::kRebooting};
  }

  const CommandLine& line_;
  std::string file_;
};

// Waits for the reboot, because units that are ordered after the unit of this verb must not start with the old image.
Result<ExitStatus> AwaitShutdown() {
  std::this_thread::sleep_for(kShutdownPatience);
  return Error(ErrorKind::kUnavailable, "everything is in place, but the machine does not reboot");
}

void LogRetry(const Error& error, seconds delay) {
  log::Warning(fmt::format("firstboot: {}; trying again in {}", error.message(), delay), kFirstBootFailed,
               {{change::record_field::kError, error.message()}});
}

}  // namespace

Result<ExitStatus> Firstboot(const CommandLine& line) {
  if (!line.operands().empty()) return Error(ErrorKind::kInvalid, "this verb takes no arguments");
  if (line.Has("--command-line") && !line.Has("--root")) {
    return Error(ErrorKind::kInvalid, "--command-line goes with --root");
  }
  const FirstBootWork work(line);
  const bool tries_once = line.Has("--once") || line.Has("--if-nothing-to-do") || line.Has("--root");
  for (seconds delay = kFirstRetry;; delay = std::min(2 * delay, kLongestRetry)) {
    const auto attempted = work.Attempt();
    if (attempted) return attempted->is_rebooting ? AwaitShutdown() : attempted->status;
    // If only a newer Pintle could do the work, trying again is of no use, and other units wait for this one.
    const bool is_hopeless = attempted.error().kind() == ErrorKind::kTooNew;
    if (tries_once || is_hopeless) return attempted.error();
    LogRetry(attempted.error(), delay);
    std::this_thread::sleep_for(delay);
  }
}

}  // namespace pintle::ctl
