// SPDX-License-Identifier: Apache-2.0
#pragma once

// A machine with an agent on it: the real agent and its local source on a real file tree, and fakes for the service
// manager and the power.
//
// The agent lives in a process of its own, which a fault or a reboot may end, and then in another.  What it tells is
// checked when it is told: done means that all of the new config is on the disk, that no change is under way, and that
// services run with what is on the disk; and no failure leaves a part of one config and a part of another.

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

// What of a machine is in memory, and what its agent has told; it outlives the process of the agent.
struct AgentMemory {
  // By their hashes: the units as the service manager has read them, and the files as a service has.
  std::size_t units_read = 0;
  std::size_t files_read = 0;
  int failing_jobs = 0;  // So many jobs will not succeed.
  int boots = 0;
  bool is_rebooting = false;
  bool changes_its_mind = false;  // Another config comes while one is being applied.

  enum class Told { kNothing, kDone, kFault } told = Told::kNothing;
  int faults = 0;
  char goal[128] = {};
  char fault[2048] = {};
  char wrong[2048] = {};  // What was not as it has to be when something was told.
};

// What follows when the process of the agent has been ended.
enum class Then { kItIsStarted, kThePowerIsCut };

class AgentMachine {
 public:
  AgentMachine();
  ~AgentMachine();
  AgentMachine(const AgentMachine&) = delete;
  AgentMachine& operator=(const AgentMachine&) = delete;

  AgentMemory& memory() { return *memory_; }

  // A machine that is new, or as Keep() had it.
  void MakeNew();
  void Keep();
  void MakeKept();

  // What the files say that the agent goes by; nothing: there are none.
  void Write(const std::optional<plan::TestConfig>& config) const;
  // What comes while a change to the other one is under way; whether anything does.
  bool ComesInBetween(std::optional<plan::TestConfig> config) {
    in_between_ = std::move(config);
    return in_between_.has_value();
  }
  void UsePolicy(bool there_is_one) const;

  // The agent runs until it has come to rest, through all lives that this takes.  Whether the fault, which one of the
  // lives has, was met.
  bool ComesToRest(const Fault& fault = {}, Then then = Then::kItIsStarted, int life = 0);

  // All that a config can change.
  std::string Now() const;
  // What Now() is of a machine with the config that it has now.
  void Learn();

  // Why this is not a machine that has come to `goal`; empty: it is.
  std::string WhyNotDoneWith(const std::string& goal) const;

 private:
  class Life;

  void Boot();
  std::string Wrong(const std::string& goal) const;

  std::filesystem::path directory_;
  std::filesystem::path top_;
  AgentMemory* memory_;
  AgentMemory kept_;
  std::string policy_;
  std::optional<plan::TestConfig> in_between_;
  // What a machine with a config is like, by its name: a directory for links of units stays when they go, so that this
  // is more than one when it may have had another config before.
  std::map<std::string, std::set<std::string>> known_;
};

}  // namespace pintle::crash
