// SPDX-License-Identifier: Apache-2.0

// Tests the promise of the agent: wherever it is killed, and whichever call fails, it continues by itself until the
// machine has all of its config, and all its reports on the way are true.

#include "agent/agent.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "change/format.h"
#include "crash/agent_machine.h"
#include "crash/faults.h"
#include "crash/histories.h"
#include "json/parse.h"
#include "support/small_machine.h"
#include "support/tree.h"

namespace pintle::crash {
namespace {

using change::Everything;
using Config = std::optional<plan::TestConfig>;

// This many failed histories are printed in full.
constexpr std::size_t kMostPrinted = 12;

// A config in which each thing of Everything() differs or is missing.
plan::TestConfig SomethingElse() {
  plan::TestConfig config;
  config.WithFile("/etc/motd", "data:,theirs").WithFile("/etc/other", "data:,other");
  config.ignition().storage.files.back().mode = 0600;
  config.WithUnit("ours.service", "[Service]\nExecStart=/bin/false\n[Install]\nWantedBy=multi-user.target\n");
  config.ignition().systemd.units.back().enabled = false;
  config.WithUser("core", {"ssh-ed25519 AAAA two", "ssh-ed25519 AAAA three"});
  return config;
}

struct Scenario {
  std::string name;
  std::function<Config()> before;
  std::function<Config()> after;
  // The config that appears while the change to `after` is under way.
  std::function<Config()> in_between = [] { return Config(); };
  bool reboots = false;
  int failing_jobs = 0;
};

void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }

const auto kNothing = [] { return Config(); };
const auto kEverything = [] { return Config(Everything()); };
const auto kSomethingElse = [] { return Config(SomethingElse()); };

const Scenario kScenarios[] = {
    {.name = "ToTheFirstConfig", .before = kNothing, .after = kEverything},
    {.name = "ToAnotherConfig", .before = kEverything, .after = kSomethingElse},
    {.name = "ToNoConfig", .before = kEverything, .after = kNothing},
    {.name = "WhileAnotherConfigComes", .before = kNothing, .after = kEverything, .in_between = kSomethingElse},
    {.name = "WithAReboot", .before = kNothing, .after = kEverything, .reboots = true},
    {.name = "WithAServiceThatFailsTwice", .before = kNothing, .after = kEverything, .failing_jobs = 2},
};

class AnAgentsChange : public testing::TestWithParam<Scenario> {
 protected:
  static void SetUpTestSuite() {
    UseMemoryFileSystem();
    // The agent connects to this address.  There is no bus.
    ::setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent", 1);
  }

  // Saves the machine with which each history begins: it has settled with the old config, and the new one is written.
  AnAgentsChange() {
    const Scenario& scenario = GetParam();
    LearnStateWith(scenario.after());
    LearnStateWith(scenario.in_between());
    machine_.MakeNew();
    Settle(scenario.before());
    machine_.UsePolicy(!scenario.reboots);
    machine_.Write(scenario.after());
    machine_.memory().failing_jobs = scenario.failing_jobs;
    machine_.memory().changes_its_mind = machine_.ComesInBetween(scenario.in_between());
    machine_.Save();
    machine_.ComesToRest();
    goal_ = machine_.memory().goal;
    machine_.Learn();
  }

  ~AnAgentsChange() override {
    fmt::print("{} histories, {} went wrong\n", histories_, wrong_.size());
    for (std::size_t i = 0; i < std::min(wrong_.size(), kMostPrinted); ++i) fmt::print("  {}\n", wrong_[i]);
  }

  // Runs the agent with this fault on the saved machine, and returns whether the fault occurred.
  bool RunHistory(const Fault& fault, const std::string& description, AfterCut next = AfterCut::kRestart,
                  int life = 0) {
    machine_.MakeSaved();
    const bool was_met = machine_.ComesToRest(fault, next, life);
    if (was_met) {
      ++histories_;
      CountHistory();
    }
    const std::string why = machine_.WhyNotDoneWith(goal_);
    if (!why.empty()) wrong_.push_back(fmt::format("{} of life {}: {}", description, life, why));
    return was_met;
  }

  int Lives() const { return GetParam().reboots ? 2 : 1; }

  void ExpectNothingWentWrong() const {
    EXPECT_EQ(wrong_.size(), 0U);
    EXPECT_GT(histories_, 0);
  }

  AgentMachine machine_;
  std::string goal_;
  int histories_ = 0;
  std::vector<std::string> wrong_;

  // Sets the version in a journal, or removes it, as in a journal of a Pintle that wrote no versions.
  static void SetVersion(const std::filesystem::path& journal, std::optional<std::int64_t> version) {
    std::ostringstream read;
    read << std::ifstream(journal, std::ios::binary).rdbuf();
    json::Value document = ValueOf(json::Parse(read.str()));
    if (version) {
      document["version"] = *version;
    } else {
      document.Erase("version");
    }
    std::string text = json::ToText(document);
    text.resize(std::max(text.size(), read.str().size()), ' ');  // A journal is padded with spaces.
    std::ofstream(journal, std::ios::binary) << text;
  }

  // Runs an agent that does not know the version of the journal; returns what it has done wrong, or "".
  std::string WhyOlderAgentDoesMore() {
    AgentMemory& memory = machine_.memory();
    const std::string before = machine_.Disk();
    const std::size_t units = memory.units_read;
    const std::size_t files = memory.files_read;
    const int jobs = memory.failing_jobs;
    memory.fault[0] = '\0';
    machine_.LivesOnce();
    if (memory.false_report[0] != '\0') return memory.false_report;
    const std::string fault = memory.fault;
    if (fault.find("journal.json: a newer Pintle wrote it in version 2") == std::string::npos) {
      return fmt::format("it reports \"{}\"", fault);
    }
    if (machine_.Disk() != before) return "it has changed the disk";
    const bool drove_units = memory.units_read != units || memory.files_read != files || memory.failing_jobs != jobs;
    return drove_units || memory.is_rebooting ? "it has driven units" : "";
  }

 private:
  // Learns the state of a machine that never had another config.
  void LearnStateWith(const Config& config) {
    if (!config) return;
    machine_.MakeNew();
    Settle(std::nullopt);
    Settle(config);
  }
  void Settle(const Config& config) {
    machine_.Write(config);
    machine_.ComesToRest();
    EXPECT_EQ(machine_.WhyNotDoneWith(machine_.memory().goal), "");
    machine_.Learn();
  }
};

TEST_P(AnAgentsChange, SettlesWithTheNewConfig) {
  machine_.MakeSaved();
  machine_.ComesToRest();
  EXPECT_EQ(machine_.WhyNotDoneWith(goal_), "");
  EXPECT_NE(goal_, "");
  ++histories_;
}

TEST_P(AnAgentsChange, CutShortAnywhereContinuesWhenTheAgentStartsAgain) {
  for (int life = 0; life < Lives(); ++life) {
    for (int at = 1; RunHistory(CutAt(at), fmt::format("cut at call {}", at), AfterCut::kRestart, life); ++at) continue;
  }
  ExpectNothingWentWrong();
}

TEST_P(AnAgentsChange, CutShortAnywhereByAPowerCutContinuesAfterTheBoot) {
  for (int life = 0; life < Lives(); ++life) {
    for (int at = 1; RunHistory(CutAt(at), fmt::format("power cut at call {}", at), AfterCut::kPowerCut, life); ++at) {
      continue;
    }
  }
  ExpectNothingWentWrong();
}

// By night, the first scenario is tried with each error at each call, and the others with one error at each call.  By
// day, the first one is tried with one or two errors at each call, and the others with one at each second call.
TEST_P(AnAgentsChange, ThatTheDiskRefusesOnceAnywhereContinues) {
  constexpr std::array kErrors = {ENOSPC, EIO, EROFS};
  const std::size_t rounds = GetParam().name == kScenarios[0].name ? kErrors.size() : 1;
  for (std::size_t round = 0; round < rounds; ++round) {
    for (int life = 0; life < Lives(); ++life) {
      for (int at = 1 + static_cast<int>(round) % Stride(1);; at += Stride(1)) {
        const int errno_value = kErrors[(round + static_cast<std::size_t>(at)) % kErrors.size()];
        const Fault fault = {.at = at, .kind = FaultKind::kError, .errno_value = errno_value};
        if (!RunHistory(fault, fmt::format("errno {} at call {}", errno_value, at), AfterCut::kRestart, life)) break;
      }
    }
  }
  ExpectNothingWentWrong();
}

// By night, there is a history for each odd call in which the disk is full from that call on, and one for each even
// call in which the disk is read-only from that call on.  By day, there are half as many.
TEST_P(AnAgentsChange, ThatTheDiskRefusesForAWhileContinuesAfterwards) {
  const Fault full = {.at = 1, .kind = FaultKind::kDiskFull, .errno_value = ENOSPC, .lasts = true};
  const Fault read_only = {.at = 2, .kind = FaultKind::kError, .errno_value = EROFS, .lasts = true};
  for (const Fault& first : {full, read_only}) {
    for (int life = 0; life < Lives(); ++life) {
      for (Fault fault = first;; fault.at += Stride(2)) {
        const std::string what = fmt::format("errno {} from call {} on", fault.errno_value, fault.at);
        if (!RunHistory(fault, what, AfterCut::kRestart, life)) break;
      }
    }
  }
  ExpectNothingWentWrong();
}

// By night, the agent is cut short at each third call, and by day at each sixth.
//
// Between the two newer agents there is a downgrade: the older agent reports the journal that it does not know, changes
// nothing on the disk and drives no unit.  Then the newer agent begins, with a journal that has no version.
TEST_P(AnAgentsChange, CutShortIsLeftAloneByAnOlderAgentAndContinuesWithTheNewerOne) {
  const std::filesystem::path journal = machine_.At(change::format::kJournal.path);
  int downgrades = 0;
  for (const AfterCut next : {AfterCut::kRestart, AfterCut::kPowerCut}) {
    for (int at = next == AfterCut::kRestart ? 1 : 2;; at += Stride(3)) {
      machine_.MakeSaved();
      if (!machine_.LivesOnce(CutAt(at)).fault_met) break;
      if (next == AfterCut::kPowerCut) machine_.Boot();
      if (std::filesystem::exists(journal)) {
        SetVersion(journal, change::format::kJournal.version + 1);
        const std::string why = WhyOlderAgentDoesMore();
        if (!why.empty()) wrong_.push_back(fmt::format("cut at call {}: {}", at, why));
        SetVersion(journal, std::nullopt);
        ++downgrades;
      }
      machine_.ComesToRest();
      const std::string why = machine_.WhyNotDoneWith(goal_);
      if (!why.empty()) wrong_.push_back(fmt::format("cut at call {}, then upgraded: {}", at, why));
      ++histories_;
      CountHistory();
    }
  }
  EXPECT_GE(downgrades, 5);
  ExpectNothingWentWrong();
}

INSTANTIATE_TEST_SUITE_P(Agent, AnAgentsChange, testing::ValuesIn(kScenarios),
                         [](const auto& scenario) { return scenario.param.name; });

}  // namespace
}  // namespace pintle::crash
