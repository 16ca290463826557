// SPDX-License-Identifier: Apache-2.0
#pragma once

// A machine with an agent: the real agent and its local source on a real file tree, with fakes for systemd and the
// power.
//
// The agent runs in a process of its own.  A fault or a reboot may end this process, and then the agent is started in
// another one.  Each of these processes is called a life.  Each report of the agent is checked at once.  If it reports
// Done, all of the new config must be on the disk, no change may be under way, and services must run with the files on
// the disk.  No failure may leave parts of two configs.

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "crash/faults.h"
#include "support/configs.h"

namespace pintle::crash {

// The memory of a machine, and the reports of its agent.  It outlives the process of the agent.
struct AgentMemory {
  // Hashes of the units that systemd has read, and of the files that a service has read.
  std::size_t units_read = 0;
  std::size_t files_read = 0;
  int failing_jobs = 0;  // This many jobs will fail.
  int boots = 0;
  bool is_rebooting = false;
  bool changes_its_mind = false;  // The test sets another config while the agent applies one.

  enum class LastReport { kNone, kDone, kFault } last_report = LastReport::kNone;
  int faults = 0;
  char goal[128] = {};           // The config with which the agent last reported Done.
  char fault[2048] = {};         // The text of the last fault.
  char false_report[2048] = {};  // Describes a report that was not true.
};

// Selects what follows when a fault has ended the process of the agent: it is started again, or the power is cut.
enum class AfterCut { kRestart, kPowerCut };

class AgentMachine {
 public:
  AgentMachine();
  ~AgentMachine();
  AgentMachine(const AgentMachine&) = delete;
  AgentMachine& operator=(const AgentMachine&) = delete;

  AgentMemory& memory() { return *memory_; }

  // MakeNew() makes a new machine; MakeSaved() makes one in the state in which Save() was called.
  void MakeNew();
  void Save();
  void MakeSaved();

  // Writes the files of the config for the agent, or removes them.
  void Write(const std::optional<plan::TestConfig>& config) const;
  // Sets the config that appears while a change is under way; returns whether there is one.
  bool ComesInBetween(std::optional<plan::TestConfig> config) {
    in_between_ = std::move(config);
    return in_between_.has_value();
  }
  // Without a policy, every change needs a reboot.
  void UsePolicy(bool there_is_one) const;

  // Runs the agent, in as many processes as it takes, until it has nothing left to do.  The process number `life` has
  // the fault.  Returns whether the fault occurred.
  bool ComesToRest(const Fault& fault = {}, AfterCut next = AfterCut::kRestart, int life = 0);

  // Runs the agent in one process, until it has nothing left to do or the fault ends the process.
  History LivesOnce(const Fault& fault = {});
  // Cuts the power, and boots.
  void Boot();

  // Describes everything that a config can change.
  std::string Now() const;
  // Describes everything that outlives a boot, with Pintle's own files.
  std::string Disk() const;
  // Returns the path of a file of the machine in the file system of the test.
  std::filesystem::path At(const std::string& path) const { return top_ / path.substr(1); }
  // Stores Now() as a correct state of a machine with its current config.
  void Learn();

  // Returns why the machine has not reached `goal`, or "" if it has.
  std::string WhyNotDoneWith(const std::string& goal) const;

 private:
  class Life;

  // Returns what is not as `goal` wants it, or "".
  std::string Wrong(const std::string& goal) const;

  std::filesystem::path directory_;
  std::filesystem::path top_;
  AgentMemory* memory_;
  AgentMemory kept_;  // The memory at the last Save().
  std::string policy_;
  std::optional<plan::TestConfig> in_between_;
  // The correct states of a machine with a config, by the config's name.  There may be several, because directories for
  // the links of units stay when they are empty, so the state depends on earlier configs.
  std::map<std::string, std::set<std::string>> known_;
};

}  // namespace pintle::crash
