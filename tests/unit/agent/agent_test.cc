// SPDX-License-Identifier: Apache-2.0
#include "agent/agent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "change/current_config.h"
#include "change/journal.h"
#include "change/rejected.h"
#include "change/staged_image.h"
#include "event/loop.h"
#include "event/watches.h"
#include "ignition/config.h"
#include "support/small_machine.h"
#include "support/temporary_directory.h"
#include "support/two_deployments.h"
#include "unit/event/patience.h"

namespace pintle::agent {
namespace {

using std::chrono::milliseconds;

class NoReboots final : public host::Power {
 public:
  Result<> Reboot(const std::string&) override { return Error(ErrorKind::kUnavailable, "no reboots"); }
  Result<host::Inhibitor> InhibitShutdown(const std::string&) override { return host::Inhibitor(); }
};

// Accepts each request to reboot, and does nothing.
class LostReboots final : public host::Power {
 public:
  Result<> Reboot(const std::string&) override { return {}; }
  Result<host::Inhibitor> InhibitShutdown(const std::string&) override { return host::Inhibitor(); }
};

// Keeps what the agent has requested until a test answers.
class HeldSource final : public Source {
 public:
  using Done = std::function<void(Result<SurveyRequest> request)>;

  void Begin(Listener began) override { listener = std::move(began); }
  void Fetch(const std::optional<Goal>&, const Goal& wanted, Done done) override {
    fetches[wanted.config] = std::move(done);
    if (fetched) fetched(wanted.config);
  }
  void AskForDrain(const Goal&) override {
    if (draining) draining();
  }
  void StopWaiting() override {}
  void ReportWork(const Prepared&) override {}
  void ReportChanging(const Prepared&) override {}
  void ReportChanged(const Prepared&, bool) override {}
  void ReportReboot(const std::string&, std::function<void()> done) override {
    if (rebooting) return rebooting();
    done();
  }
  void ReportSettled(const Goal&) override {}
  void ReportFault(Fault, const std::string& text) override {
    if (failed) failed(text);
  }

  Listener listener;
  std::map<std::string, Done> fetches;
  std::function<void(const std::string& config)> fetched;
  std::function<void()> draining;
  std::function<void()> rebooting;
  std::function<void(const std::string& why)> failed;
};

// A look at a goal, which ends when the test allows it.
struct HeldLook {
  std::atomic<bool> has_begun = false;
  std::atomic<bool> may_end = false;

  SurveyRequest Request(const std::string& config) {
    return {.wanted = ProvidedConfig{Goal{config}, [this]() -> Result<change::CurrentConfig> {
                                       has_begun = true;
                                       while (!may_end) std::this_thread::yield();
                                       return Error(ErrorKind::kUnavailable, "the look ends here");
                                     }}};
  }
};

TEST(Agent, LooksAtTheLastOfTwoGoalsThatArriveDuringALook) {
  TemporaryDirectory directory;
  const change::SmallMachine small(directory.path());
  small.Write("proc/sys/kernel/random/boot_id", "one\n");
  const auto loop = ValueOf(event::Loop::Create());
  const SystemClock clock;
  HeldLook first, second, third;
  auto held = std::make_unique<HeldSource>();
  HeldSource& source = *held;
  Settings settings;
  settings.watch_logins = false;
  settings.metrics_file = "";
  const Root root = ValueOf(Root::Open(directory.path().string()));
  const auto agent = ValueOf(Agent::Create(
      {.loop = *loop,
       .clock = clock,
       .machine = std::make_shared<host::ThisMachine>(ValueOf(Root::Open(directory.path().string())),
                                                      std::make_unique<change::RecordingSystemd>(root),
                                                      std::make_unique<NoReboots>(), nullptr, host::Labels()),
       .settings = std::move(settings),
       .kind = host::AgentSource::kLocal,
       .node = "node",
       .source = std::move(held)}));
  // The answer about the second goal arrives, and then the third goal, while the first look is under way.
  source.fetched = [&](const std::string& config) {
    if (config != "first") return;
    loop->Post([&] {
      source.fetches.at("first")(first.Request("first"));
      source.listener.wanted({"second"});
      source.fetches.at("second")(second.Request("second"));
      source.listener.wanted({"third"});
      first.may_end = true;
    });
  };
  agent->Begin();
  source.listener.wanted({"first"});
  // The answer about the third goal arrives after the look at the first one.
  bool is_answered = false;
  int rounds = 0;
  event::Timer round(
      *loop,
      [&] {
        rounds += first.has_begun ? 1 : 0;
        if (!is_answered && source.fetches.contains("third") && (second.has_begun || rounds > 200)) {
          is_answered = true;
          source.fetches.at("third")(third.Request("third"));
        }
        second.may_end = third.may_end = is_answered;
        third.has_begun ? loop->Stop() : round.After(milliseconds(1));
      },
      milliseconds(1));
  round.After(milliseconds(1));
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop)));
  EXPECT_TRUE(third.has_begun);
}

TEST(Agent, RemovesWithoutAClusterAnImageThatWasFetchedForAConfigOfACluster) {
  TemporaryDirectory directory;
  change::SmallMachine small(directory.path());
  small.policy = {};
  const Root root = ValueOf(Root::Open(directory.path().string()));
  small.Write("proc/sys/kernel/random/boot_id", "one\n");
  plan::TestConfig config;
  config.metadata().name = "local";
  config.spec().config = ignition::Encode(config.ignition());
  ASSERT_TRUE(Succeeded(small.GoFromTo(change::NoConfig(), config)));
  small.Write("proc/sys/kernel/random/boot_id", "two\n");
  ASSERT_TRUE(Succeeded(change::Recover(small.host(), {})));
  ASSERT_TRUE(Succeeded(change::KeepStagedImage(root, change::StagedImage{"rendered-worker-2", ""})));
  const auto open = [&]() -> Result<std::unique_ptr<host::ThisMachine>> {
    return std::make_unique<host::ThisMachine>(ValueOf(Root::Open(directory.path().string())),
                                               std::make_unique<change::RecordingSystemd>(root),
                                               std::make_unique<NoReboots>(), nullptr, host::Labels());
  };
  const auto loop = ValueOf(event::Loop::Create());
  const SystemClock clock;
  auto held = std::make_unique<HeldSource>();
  HeldSource& source = *held;
  Settings settings;
  settings.watch_logins = false;
  settings.metrics_file = "";
  const auto agent = ValueOf(Agent::Create({.loop = *loop,
                                            .clock = clock,
                                            .machine = ValueOf(open()),
                                            .settings = std::move(settings),
                                            .kind = host::AgentSource::kLocal,
                                            .node = "node",
                                            .source = std::move(held),
                                            .open_machine = open}));
  source.fetched = [&](const std::string& name) {
    loop->Post([&, name] { source.fetches.at(name)(SurveyRequest()); });
  };
  event::Timer round(
      *loop, [&] { ValueOf(change::ReadStagedImage(root)) ? round.After(milliseconds(1)) : loop->Stop(); },
      milliseconds(1));
  round.After(milliseconds(1));
  agent->Begin();
  source.listener.wanted({"local"});
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop)));
}

// An agent that recovers from the change to rendered-worker-1, in which someone has edited /etc/motd.
class RecoveringAgent : public testing::Test {
 protected:
  RecoveringAgent() {
    small_.policy = {};
    Boot("one");
    EXPECT_EQ(ValueOf(small_.GoFromTo(change::NoConfig(), change::Everything())), change::Ending::kRebootNeeded);
    small_.Write("etc/motd", "someone else's");
  }

  void Boot(const std::string& id) const { small_.Write("proc/sys/kernel/random/boot_id", id + "\n"); }

  // Runs an agent whose goal is the config of the change, until it requests a reboot or begins a look.
  void RunUntilItHasRecovered() {
    Run([](event::Loop& loop, HeldSource& source) {
      source.fetched = [&](const std::string&) { loop.Stop(); };
      source.rebooting = [&] { loop.Stop(); };
    });
  }

  // Runs an agent until the source stops the loop.
  void Run(const std::function<void(event::Loop&, HeldSource&)>& set_up) {
    const auto loop = ValueOf(event::Loop::Create());
    const SystemClock clock;
    auto held = std::make_unique<HeldSource>();
    HeldSource& source = *held;
    set_up(*loop, source);
    Settings settings;
    settings.watch_logins = false;
    settings.metrics_file = "";
    const auto agent = ValueOf(Agent::Create(
        {.loop = *loop,
         .clock = clock,
         .machine = std::make_shared<host::ThisMachine>(ValueOf(Root::Open(directory_.path().string())),
                                                        std::make_unique<change::RecordingSystemd>(root_),
                                                        std::make_unique<LostReboots>(), nullptr, host::Labels()),
         .settings = std::move(settings),
         .kind = host::AgentSource::kLocal,
         .node = "node",
         .source = std::move(held),
         .reboot_patience = milliseconds(1)}));
    agent->Begin();
    source.listener.wanted({"rendered-worker-1"});
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop)));
  }

  TemporaryDirectory directory_;
  change::SmallMachine small_{directory_.path()};
  const Root root_ = ValueOf(Root::Open(directory_.path().string()));
};

TEST_F(RecoveringAgent, KeepsTheRejectionOfAnotherConfigWhenItUndoesAPersonsChange) {
  ASSERT_TRUE(Succeeded(change::KeepRejected(root_, change::Rejected{"rendered-worker-2", "", "it was not well"})));
  Boot("two");
  RunUntilItHasRecovered();
  const auto rejected = ValueOf(change::ReadRejected(root_));
  ASSERT_TRUE(rejected);
  EXPECT_EQ(rejected->config, "rendered-worker-2");
  EXPECT_EQ(rejected->why, "it was not well");
}

TEST_F(RecoveringAgent, DoesNotRejectAChangeThatWasOnlyCutShort) {
  const change::Journal journal(root_);
  change::Change change = *ValueOf(journal.Read());
  change.phase = change::Phase::kApplying;
  change.awaits_confirmation = true;
  ASSERT_TRUE(Succeeded(journal.Write(change)));
  RunUntilItHasRecovered();
  EXPECT_FALSE(ValueOf(journal.Read()));
  EXPECT_EQ(small_.Read("etc/motd"), "someone else's");
  EXPECT_FALSE(ValueOf(change::ReadRejected(root_)));
}

TEST_F(RecoveringAgent, GoesOnWhenAnEarlierRequestOfTheSourceFails) {
  Boot("two");
  std::vector<std::string> faults;
  Run([&](event::Loop& loop, HeldSource& source) {
    source.failed = [&](const std::string& why) { faults.push_back(why); };
    source.rebooting = [&] { loop.Stop(); };
    // This runs while the agent recovers.
    loop.Post([&] { source.listener.failed("failed to uncordon node: node after 10m"); });
  });
  EXPECT_THAT(faults, testing::IsEmpty());
}

TEST_F(RecoveringAgent, RequestsARebootAgainThatDoesNotCome) {
  Boot("two");
  int reboots = 0;
  std::string text;
  Run([&](event::Loop& loop, HeldSource& source) {
    source.rebooting = [&] {
      if (++reboots > 1) loop.Stop();
    };
    source.failed = [&](const std::string& why) { text = why; };
  });
  EXPECT_THAT(text, testing::HasSubstr("the machine has not rebooted within "));
}

TEST(Agent, StopsAFetchWhenAnotherGoalIsWanted) {
  TemporaryDirectory directory;
  const change::BootableMachine bootable(directory.path());
  const Root root = ValueOf(Root::Open(bootable.top().string()));
  const auto loop = ValueOf(event::Loop::Create());
  const SystemClock clock;
  auto held = std::make_unique<HeldSource>();
  HeldSource& source = *held;
  // A registry that accepts connections and sends nothing.
  std::atomic<bool> is_over = false, was_stopped = false;
  auto deployments = std::make_unique<change::TwoDeployments>(directory.path());
  deployments->fetching = [&](const std::stop_token& stop) {
    loop->Post([&] { source.listener.wanted({"second"}); });
    while (!stop.stop_requested() && !is_over) std::this_thread::yield();
    was_stopped = stop.stop_requested();
  };
  change::CurrentConfig config = change::EmptyCurrentConfig();
  config.object.metadata.name = "first";
  config.object.spec.os_image_url = "quay.io/os@sha256:" + std::string(64, 'a');
  source.fetched = [&](const std::string& name) {
    if (name == "second") return loop->Stop();
    loop->Post([&] {
      source.fetches.at("first")(SurveyRequest{
          .wanted = ProvidedConfig{Goal{"first"}, [&]() -> Result<change::CurrentConfig> { return config; }}});
    });
  };
  source.draining = [&] { loop->Post([&] { source.listener.drained(); }); };
  Settings settings;
  settings.watch_logins = false;
  settings.metrics_file = "/metrics";
  const auto agent = ValueOf(
      Agent::Create({.loop = *loop,
                     .clock = clock,
                     .machine = std::make_shared<host::ThisMachine>(
                         ValueOf(Root::Open(bootable.top().string())), std::make_unique<change::RecordingSystemd>(root),
                         std::make_unique<NoReboots>(), std::move(deployments), host::Labels()),
                     .settings = std::move(settings),
                     .kind = host::AgentSource::kLocal,
                     .node = "node",
                     .source = std::move(held),
                     .open_machine = []() -> Result<std::unique_ptr<host::ThisMachine>> {
                       return Error(ErrorKind::kUnavailable, "nothing is staged");
                     }}));
  agent->Begin();
  source.listener.wanted({"first"});
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop)));
  is_over = true;
  EXPECT_TRUE(was_stopped);
  // The alert about changes of the OS that fail must not fire.
  EXPECT_THAT(ValueOf(root.ReadFile("/metrics")), testing::HasSubstr("\nmcd_pivot_errors_total 0\n"));
}

}  // namespace
}  // namespace pintle::agent
