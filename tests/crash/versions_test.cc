// SPDX-License-Identifier: Apache-2.0

// Tests an upgrade and a downgrade of Pintle in the middle of a change.
//
// Wherever an older Pintle is cut short, a newer one ends the change: the machine is the old one or the new one.  If an
// older Pintle finds a change that a newer one has begun, it makes no call that changes the disk, drives no unit and
// reports the reason.  Afterwards, the newer one still ends the change.  Another version of Pintle is simulated by
// another version in the files on the disk.

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "change/apply.h"
#include "change/claim.h"
#include "change/early.h"
#include "change/format.h"
#include "change/next_boot.h"
#include "crash/faults.h"
#include "crash/histories.h"
#include "host/systemd/systemd_offline.h"
#include "json/parse.h"
#include "support/temporary_directory.h"
#include "support/tree.h"
#include "support/two_deployments.h"

namespace pintle::crash {
namespace {

namespace fs = std::filesystem;
using change::BootableMachine;
using change::Everything;
using change::Format;
using change::NoConfig;
using change::Recovery;
using change::SmallMachine;

// Pintle is replaced at least this often after a kill.
constexpr int kLeastKills = 50;
const int kStride = Stride(5);

std::string ReadAll(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Rewrites each versioned file below `top`, except for those in /etc: a change puts them like other files of /etc, so
// the journal has their hashes.  Returns how many files were rewritten.
int Rewrite(const fs::path& top, const std::function<json::Value(const Format&, json::Value)>& rewrite) {
  int files = 0;
  for (const Format& format : change::AllFormats()) {
    const fs::path path = top / (format.path + 1);
    if (!std::string_view(format.path).starts_with("/var/") || !fs::exists(path)) continue;
    const json::Value document = rewrite(format, ValueOf(json::Parse(ReadAll(path))));
    // A journal is padded with spaces (host/files/paired_file.h).
    std::string text = json::ToText(document);
    text.resize(std::max<std::size_t>(text.size(), fs::file_size(path)), ' ');
    std::ofstream(path, std::ios::binary) << text;
    ++files;
  }
  return files;
}

// Turns the files into those of an older Pintle, which wrote no versions.
int MakeOlder(const fs::path& top) {
  return Rewrite(top, [](const Format& format, json::Value document) {
    return ValueOf(change::WithoutVersion(format, std::move(document)));
  });
}

int MakeNewer(const fs::path& top) {
  return Rewrite(top, [](const Format& format, json::Value document) {
    document["version"] = format.version + 1;
    return document;
  });
}

// Simulates the next version of Pintle, which knows the version that MakeNewer() writes: the files get the version that
// this Pintle knows.
void MakeKnown(const fs::path& top) {
  Rewrite(top, [](const Format& format, json::Value document) {
    document["version"] = format.version;
    return document;
  });
}

// The change of a running machine.
class Running {
 public:
  bool Change() { return change::Apply(host(), NoConfig(), Everything(), MakePlan()).has_value(); }
  plan::Plan MakePlan() const { return plan::Make(NoConfig(), Everything(), machine_.policy, {}); }
  host::Host host() { return machine_.host(); }
  fs::path top() const { return directory_.path(); }
  std::vector<std::string> jobs() const { return machine_.systemd.jobs; }
  void Boot() { machine_.Write("proc/sys/kernel/random/boot_id", std::to_string(++boots_)); }
  std::string Now() const {
    std::string text;
    for (const char* part : {"etc", "home", "usr"}) text += DescribeTree(directory_ / part);
    return text;
  }

 private:
  TemporaryDirectory directory_;
  SmallMachine machine_{directory_.path()};
  int boots_ = 0;
};

// The change that comes with the next boot.
class Staging {
 public:
  bool Change() { return change::Apply(host(), NoConfig(), Everything(), MakePlan()).has_value(); }
  plan::Plan MakePlan() const { return plan::Make(NoConfig(), Everything(), {}, {}); }
  host::Host host() { return machine_.host(); }
  fs::path top() const { return machine_.top(); }
  std::vector<std::string> jobs() { return dynamic_cast<change::RecordingSystemd&>(machine_.host().systemd).jobs; }
  // The shutdown puts the files into the staged deployment, if this Pintle may.
  void Boot() {
    static_cast<void>(change::Finalize(host()).has_value());
    machine_.Boot();
  }
  std::string Now() const { return DescribeTree(machine_.top() / "etc") + DescribeTree(machine_.top() / "var/home"); }

 private:
  TemporaryDirectory directory_;
  BootableMachine machine_{directory_.path()};
};

template <typename Machine>
bool Settle(Machine& machine) {
  for (int turn = 0; turn < 6; ++turn) {
    host::SystemdOffline links(machine.host().root);
    host::Host early = machine.host();
    if (!change::PutFilesEarly({early.root, links, early.clock, early.labels, early.deployments})) return false;
    const auto recovered = change::Recover(machine.host());
    // A recovery that undoes a change after a failure reports the failure; the next one finds nothing to do.
    if (!recovered) continue;
    if (recovered->how == Recovery::kNothingToDo) return true;
    if (recovered->how == Recovery::kRebootNeeded || recovered->how == Recovery::kRebootNeededToUndo) machine.Boot();
  }
  return false;
}

// Runs each operation of an older Pintle on a machine whose journal is newer.
template <typename Machine>
void ExpectThatNothingIsTouched(Machine& machine) {
  using Operation = std::function<Result<>(Machine&)>;
  const auto without_value = [](const auto& result) { return result ? Result<>() : Result<>(result.error()); };
  const std::pair<const char*, Operation> operations[] = {
      {"the claim", [&](Machine& m) { return without_value(change::Claim::Take(m.host().root)); }},
      {"recover", [&](Machine& m) { return without_value(change::Recover(m.host())); }},
      {"recover --files",
       [&](Machine& m) {
         const host::Host host = m.host();
         host::SystemdOffline links(host.root);
         return without_value(change::PutFilesEarly({host.root, links, host.clock, host.labels, host.deployments}));
       }},
      {"recover --give-up", [&](Machine& m) { return without_value(change::GiveUp(m.host())); }},
      {"finalize-staged", [&](Machine& m) { return change::Finalize(m.host()); }},
      {"finalize-staged --drop", [&](Machine& m) { return change::DropUnfinalized(m.host()); }},
      {"a confirmation", [&](Machine& m) { return change::Confirm(m.host()); }},
      {"another change",
       [&](Machine& m) { return without_value(change::Apply(m.host(), NoConfig(), Everything(), m.MakePlan())); }},
  };
  const std::string before = DescribeTree(machine.top());
  const auto jobs = machine.jobs();
  for (const auto& [name, operation] : operations) {
    SCOPED_TRACE(name);
    const Result<> done = operation(machine);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind(), ErrorKind::kTooNew);
    EXPECT_THAT(done.error().message(),
                testing::AllOf(testing::HasSubstr("/var/lib/pintle/change/journal.json: a newer Pintle wrote it in "
                                                  "version 2 of its format, and this one knows version 1"),
                               testing::HasSubstr("install the newer one again"),
                               testing::HasSubstr("`pintle recover --set-aside`")));
    // The fault would end the process at the first call that changes a file.
    const History history = RunWith(CutAt(1), [&] { return operation(machine).has_value(); });
    EXPECT_EQ(history.ending, Ending::kFailed);
    EXPECT_FALSE(history.fault_met);
  }
  EXPECT_EQ(DescribeTree(machine.top()), before);
  EXPECT_EQ(machine.jobs(), jobs);
}

template <typename Machine>
class Replaced : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    change::UseOwnMounts();
    UseMemoryFileSystem();
  }

  Replaced() {
    Machine machine;
    old_ = machine.Now();
    EXPECT_TRUE(machine.Change());
    EXPECT_TRUE(Settle(machine));
    new_ = machine.Now();
  }

  // Counts an end, which has to be the old machine or the new one.
  void ExpectEnd(Machine& machine) {
    ASSERT_TRUE(Settle(machine));
    MakeKnown(machine.top());
    const std::string now = machine.Now();
    ASSERT_THAT(now, testing::AnyOf(old_, new_));
    was_old_ = was_old_ || now == old_;
    was_new_ = was_new_ || now == new_;
    ++kills_;
    CountHistory();
  }

  void ExpectBothEnds() const {
    EXPECT_TRUE(was_old_ && was_new_);
    EXPECT_GE(kills_, kLeastKills);
    fmt::print("{} histories\n", kills_);
  }

  std::string old_;
  std::string new_;
  bool was_old_ = false;
  bool was_new_ = false;
  int kills_ = 0;
};

using Machines = testing::Types<Running, Staging>;
TYPED_TEST_SUITE(Replaced, Machines);

TYPED_TEST(Replaced, ByANewerOneAfterAKillAnywhereEndsTheChange) {
  for (const bool reboots : {false, true}) {
    for (int at = 1;; ++at) {
      SCOPED_TRACE(fmt::format("killed at call {}, {}", at, reboots ? "rebooted" : "upgraded"));
      TypeParam machine;
      const bool was_killed = RunWith(CutAt(at), [&] { return machine.Change(); }).fault_met;
      MakeOlder(machine.top());
      if (reboots) machine.Boot();
      ASSERT_NO_FATAL_FAILURE(this->ExpectEnd(machine));
      if (!was_killed) break;
    }
  }
  this->ExpectBothEnds();
}

TYPED_TEST(Replaced, ByAnOlderOneAfterAKillAnywhereTouchesNothingUntilTheNewerIsBack) {
  int refusals = 0;
  for (const bool reboots : {false, true}) {
    for (int at = 1;; ++at) {
      SCOPED_TRACE(fmt::format("killed at call {}, {}", at, reboots ? "rebooted" : "downgraded"));
      TypeParam machine;
      const bool was_killed = RunWith(CutAt(at), [&] { return machine.Change(); }).fault_met;
      const bool has_begun = fs::exists(machine.top() / (change::format::kJournal.path + 1));
      if (has_begun) {
        MakeNewer(machine.top());
        ASSERT_NO_FATAL_FAILURE(ExpectThatNothingIsTouched(machine));
        // A shutdown and a boot with the older Pintle touch nothing either.
        if (reboots) {
          machine.Boot();
          ASSERT_NO_FATAL_FAILURE(ExpectThatNothingIsTouched(machine));
        }
        MakeKnown(machine.top());
        ++refusals;
      }
      ASSERT_NO_FATAL_FAILURE(this->ExpectEnd(machine));
      if (!was_killed) break;
    }
  }
  EXPECT_GE(refusals, 10);
  this->ExpectBothEnds();
}

TYPED_TEST(Replaced, AgainAndAgainWhileTheRecoveryIsKilledTooEndsTheChange) {
  bool was_killed = true;
  for (int at = 1; was_killed; ++at) {
    for (int recovery_at = 1 + at % kStride;; recovery_at += kStride) {
      SCOPED_TRACE(fmt::format("killed at call {}, its recovery at call {}", at, recovery_at));
      TypeParam machine;
      was_killed = RunWith(CutAt(at), [&] { return machine.Change(); }).fault_met;
      if (!was_killed) break;
      MakeOlder(machine.top());
      const bool recovery_was_killed =
          RunWith(CutAt(recovery_at), [&] { return change::Recover(machine.host()).has_value(); }).fault_met;
      if (fs::exists(machine.top() / (change::format::kJournal.path + 1))) {
        MakeNewer(machine.top());
        ASSERT_NO_FATAL_FAILURE(ExpectThatNothingIsTouched(machine));
        MakeKnown(machine.top());
      }
      ASSERT_NO_FATAL_FAILURE(this->ExpectEnd(machine));
      if (!recovery_was_killed) break;
    }
  }
  EXPECT_GE(this->kills_, kLeastKills);
  fmt::print("{} histories\n", this->kills_);
}

}  // namespace
}  // namespace pintle::crash
