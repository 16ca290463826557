// SPDX-License-Identifier: Apache-2.0
#pragma once

// Implements Systemd for the running machine, over D-Bus.
//
// systemd is reached over the system bus or, early in a boot when there is no bus yet, over its private socket.  A
// connection may be lost because systemd re-executes itself or the bus is restarted.  Then a request that may be
// repeated is made once more over a new connection, and a wait for a job goes on over a new connection.
//
// Nobody reads from a connection between two calls.  So a connection on which systemd sends signals is closed when the
// call ends.  Otherwise the signals of all later jobs would pile up in the connection and in the bus.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/root.h"
#include "host/systemd/systemd.h"

namespace pintle::host {

// Calls block until they are answered.  An object must be used by one thread at a time.
class SystemdDbus final : public Systemd {
 public:
  // The time limit of a call, except for Reload() and Run().  systemd answers late while it reloads its configuration
  // or starts many units.
  static constexpr auto kPatience = std::chrono::seconds(90);

  // `root` is that of the running machine, "/".
  explicit SystemdDbus(const Root& root, std::chrono::microseconds patience = kPatience);
  ~SystemdDbus() override;

  // Makes one call for all units that follow their presets, one for all units to enable, and one for all units to
  // disable.  If a call fails, makes one call for each of its units.  A unit that is still enabled until the next boot
  // is disabled by one more call; PutLinks() does not undo it.  Reloads systemd's configuration if a link has changed.
  Result<> PutEnablement(std::span<const resource::Put<resource::UnitState>> units) override;
  Result<resource::UnitLinks::State> ObserveLinks() override;
  Result<> PutLinks(const resource::UnitLinks::State& links) override;
  Result<> Reload() override;
  Result<> Run(JobKind job, const std::string& unit, std::chrono::milliseconds patience) override;
  Result<UnitStatus> Observe(const std::string& unit) override;

  // Applies changes of unit files that were made during the boot.  Reloads the configuration, cancels the jobs of these
  // units that have not begun, and queues the jobs that the default target needs now.  If the machine boots to another
  // target, no job is queued.
  Result<> QueueBootAgain(std::span<const std::string> units);

 private:
  class Connection;
  class ConnectionUse;
  enum class EnablementChange { kEnable, kDisable, kDisableAtRuntime, kPreset };
  struct Job {
    std::string unit;
    std::string state;  // "waiting" or "running"
    std::string path;
  };

  Result<> CallIdempotent(const std::function<Result<>(Connection&)>& call);
  Result<Connection*> Connect();
  Result<> ChangeEnablements(EnablementChange change, const std::vector<std::string>& units);
  Result<> ChangeEnablement(EnablementChange change, const std::string& unit);
  // Removes the links below /run of the units that `systemctl enable --runtime` has enabled until the next boot.
  // Returns whether there were any.
  Result<bool> DisableAtRuntime(const std::vector<std::string>& units);
  Result<std::string> UnitFileState(const std::string& unit);
  Result<std::vector<Job>> Jobs();
  Result<std::string> AwaitJob(const std::string& path, MonotonicTime deadline);

  const Root& root_;
  const std::chrono::microseconds patience_;
  std::unique_ptr<Connection> connection_;
  int uses_ = 0;  // The number of ConnectionUse objects.
};

}  // namespace pintle::host
