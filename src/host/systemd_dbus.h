// SPDX-License-Identifier: Apache-2.0
#pragma once

// The service manager of the running machine, over D-Bus.
//
// It is reached by the system bus, or by systemd's private socket while there is no bus, as early in a boot.  A
// connection that is lost, because systemd executes itself anew or the bus is restarted, is made again once.
//
// A connection is read while somebody waits for an answer, and not in between.  So one to which systemd sends signals
// is closed when the call ends: the signals of all later jobs would pile up in it, here and in the bus.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/root.h"
#include "host/systemd.h"

namespace pintle::host {

// For one thread at a time: calls block until they are answered.
class SystemdDbus final : public Systemd {
 public:
  // The root is that of the running machine, "/".
  explicit SystemdDbus(const Root& root);
  ~SystemdDbus() override;

  // Units are enabled in one call, disabled in one and preset in one.  systemd reads its configuration anew if that
  // changed a link.
  Result<> PutEnablement(std::span<const resource::Put<resource::UnitState>> units) override;
  Result<resource::UnitLinks::State> ObserveLinks() override;
  Result<> PutLinks(const resource::UnitLinks::State& links) override;
  Result<> Reload() override;
  Result<> Run(JobKind job, const std::string& unit, std::chrono::milliseconds patience) override;
  Result<UnitStatus> Observe(const std::string& unit) override;

  // For files that have changed under a boot: reads the configuration anew, drops the jobs of these units that have not
  // begun, and queues what the default target wants by now.  A boot to another target than the default keeps its queue.
  Result<> QueueBootAgain(std::span<const std::string> units);

 private:
  class Connection;
  class Use;
  enum class FileChange { kEnable, kDisable, kPreset };
  struct Job {
    std::string unit;
    std::string state;  // "waiting" or "running"
    std::string path;
  };

  Result<> Repeatedly(const std::function<Result<>(Connection&)>& call);
  Result<Connection*> Connected();
  Result<> ChangeFiles(FileChange change, const std::vector<std::string>& units);
  Result<> ChangeFile(FileChange change, const std::string& unit);
  Result<std::string> FileState(const std::string& unit);
  Result<std::vector<Job>> Jobs();
  Result<std::string> AwaitJob(const std::string& path, MonotonicTime deadline);

  const Root& root_;
  std::unique_ptr<Connection> connection_;
  int uses_ = 0;
};

}  // namespace pintle::host
