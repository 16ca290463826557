// SPDX-License-Identifier: Apache-2.0
#include "controller/config_library.h"

#include <atomic>

#include "controller/complaints.h"
#include "event/loop.h"
#include "event/watches.h"
#include "support/expect.h"
#include "unit/controller/manual_clock.h"
#include "unit/controller/small_api_server.h"
#include "unit/event/patience.h"

namespace pintle::controller {
namespace {

void RaiseTo(std::atomic<int>& most, int value) {
  for (int known = most; known < value && !most.compare_exchange_weak(known, value);) continue;
}

const std::string kRead = "GET /apis/machineconfiguration.openshift.io/v1/machineconfigs/";

class ConfigLibraryTest : public testing::Test {
 protected:
  ConfigLibraryTest() {
    ::setenv("no_proxy", "*", 1);
    for (const char* name : {"a", "b"}) {
      server_.Put("machineconfigs",
                  {{"metadata", {{"name", name}}}, {"spec", {{"config", {{"ignition", {{"version", "3.4.0"}}}}}}}});
    }
  }

  // Calls Want() again and again for some time.  After each call, it runs the loop until the configs have been read or
  // the library has asked for another try.
  void Pass(std::chrono::seconds time, const std::set<std::string>& names) {
    const MonotonicTime end = clock_.now + time;
    for (; clock_.now < end; clock_.now += std::chrono::milliseconds(100)) {
      answered_.clear();
      library_.Want(names);
      for (const std::string& name : names) {
        if (library_.IsFetchDone(name)) answered_.insert(name);
      }
      while (answered_.size() < names.size()) ASSERT_TRUE(Succeeded(event::RunPatiently(*loop_)));
    }
  }

  void MarkAnswered(const std::string& name) {
    answered_.insert(name);
    loop_->Stop();
  }

  SmallApiServer server_;
  ManualClock clock_;
  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  std::set<std::string> answered_;
  // In these tests, "a" is always refused, and "b" can always be read.
  ConfigLibrary library_{ValueOf(kube::Client::Create(*loop_, server_.access())),
                         clock_,
                         {.changed = [this] { MarkAnswered("b"); },
                          .retry_at = [this](MonotonicTime) { MarkAnswered("a"); },
                          .trouble = [](const std::string&, const Error&) {}}};
};

TEST_F(ConfigLibraryTest, RetriesARefusedConfigSeldomAndReadsOtherConfigs) {
  for (const kube::Answer& answer :
       {SmallApiServer::Status(403, "Forbidden", "no"), SmallApiServer::Status(503, "ServiceUnavailable", "no"),
        kube::Answer{.body = "<"}}) {
    const std::size_t before = server_.CountOf(kRead + "a");
    server_.Refuse(kRead + "a", answer);
    Pass(std::chrono::minutes(1), {"a", "b"});
    const std::size_t count = server_.CountOf(kRead + "a") - before;
    EXPECT_GE(count, 3U);
    EXPECT_LE(count, 10U);
    EXPECT_TRUE(library_.configs().contains("b"));
    EXPECT_FALSE(library_.IsFetchDone("a"));
    library_.Clear();
  }
}

TEST_F(ConfigLibraryTest, WaitsForRetryAfter) {
  kube::Answer answer = SmallApiServer::Status(429, "TooManyRequests", "no");
  answer.headers.push_back("Retry-After: 25");
  server_.Refuse(kRead + "a", answer);
  Pass(std::chrono::minutes(1), {"a"});
  EXPECT_EQ(server_.CountOf(kRead + "a"), 3U);
}

// A library that wants the config "a", which does not exist, is refused or is invalid at first.
class UnusableConfigTest : public testing::Test {
 protected:
  UnusableConfigTest() { ::setenv("no_proxy", "*", 1); }

  void CreateTheConfig() {
    server_.Put("machineconfigs",
                {{"metadata", {{"name", "a"}}}, {"spec", {{"config", {{"ignition", {{"version", "3.4.0"}}}}}}}});
  }

  // Calls Want() once a second until the condition holds.
  void RunUntil(const std::function<bool()>& is_so) {
    event::Timer look(
        *loop_,
        [&] {
          if (is_so()) return loop_->Stop();
          clock_.now += std::chrono::seconds(1);
          library_.Want(wanted_);
          look.After(std::chrono::milliseconds(1));
        },
        std::chrono::milliseconds(1));
    look.After(std::chrono::milliseconds(0));
    EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  }
  void Pass(std::chrono::seconds time) {
    const MonotonicTime end = clock_.now + time;
    RunUntil([&] { return clock_.now > end; });
  }

  SmallApiServer server_;
  ManualClock clock_;
  std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create());
  int changes_ = 0;
  std::set<std::string> wanted_ = {"a"};
  int troubles_ = 0;
  int logged_ = 0;  // The number of troubles that the controller logs.
  Complaints complaints_;
  ConfigLibrary library_{ValueOf(kube::Client::Create(*loop_, server_.access())),
                         clock_,
                         {.changed = [this] { ++changes_; },
                          .retry_at = [](MonotonicTime) {},
                          .trouble =
                              [this](const std::string& action, const Error& error) {
                                ++troubles_;
                                if (complaints_.ShouldLog(action, error.message(), clock_.now)) ++logged_;
                              }}};
};

TEST_F(UnusableConfigTest, IsReadAgainLessAndLessOftenUntilItExists) {
  RunUntil([&] { return library_.IsFetchDone("a"); });
  Pass(std::chrono::minutes(10));
  EXPECT_TRUE(library_.IsFetchDone("a"));
  EXPECT_TRUE(library_.configs().empty());
  EXPECT_GE(server_.CountOf(kRead + "a"), 3U);
  EXPECT_LE(server_.CountOf(kRead + "a"), 12U);
  EXPECT_EQ(changes_, 1) << "nothing has changed since the first attempt";
  EXPECT_EQ(troubles_, 1);
  CreateTheConfig();
  RunUntil([&] { return library_.configs().contains("a"); });
  EXPECT_EQ(changes_, 2);
}

TEST_F(UnusableConfigTest, IsReadAtOnceIfItIsWantedAgain) {
  RunUntil([&] { return library_.IsFetchDone("a"); });
  Pass(std::chrono::minutes(10));
  CreateTheConfig();
  library_.Want({});
  library_.Want({"a"});
  event::Timer look(
      *loop_,
      [&] {
        if (library_.IsFetchDone("a")) return loop_->Stop();
        look.After(std::chrono::milliseconds(1));
      },
      std::chrono::milliseconds(1));
  look.After(std::chrono::milliseconds(0));
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_TRUE(library_.configs().contains("a"));
}

// The report on a paused pool waits for its configs, and must not wait for ever.
TEST_F(UnusableConfigTest, CountsAsFetchedAfterAWhileIfItIsRefused) {
  for (const kube::Answer& answer : {SmallApiServer::Status(403, "Forbidden", "no"), kube::Answer{.body = "<"}}) {
    server_.Refuse(kRead + "a", answer);
    const MonotonicTime before = clock_.now;
    RunUntil([&] { return library_.IsFetchDone("a"); });
    EXPECT_GE(clock_.now - before, std::chrono::minutes(1))
        << "a refusal must not count as final while an API server may be restarting";
    Pass(std::chrono::minutes(10));
    EXPECT_TRUE(library_.IsFetchDone("a"));
    EXPECT_TRUE(library_.configs().empty());
    EXPECT_EQ(changes_, 1);
    CreateTheConfig();
    server_.Refuse(SmallApiServer::Refusal());
    RunUntil([&] { return library_.configs().contains("a"); });
    EXPECT_EQ(changes_, 2);
    library_.Clear();
    changes_ = 0;
  }
}

TEST_F(UnusableConfigTest, IsReadAgainIfItIsInvalid) {
  server_.Put("machineconfigs",
              {{"metadata", {{"name", "a"}}}, {"spec", {{"config", {{"ignition", {{"version", "99.0.0"}}}}}}}});
  RunUntil([&] { return library_.IsFetchDone("a"); });
  Pass(std::chrono::minutes(10));
  EXPECT_TRUE(library_.IsFetchDone("a"));
  EXPECT_TRUE(library_.configs().empty());
  EXPECT_LE(server_.CountOf(kRead + "a"), 12U);
  EXPECT_EQ(changes_, 1);
  EXPECT_EQ(troubles_, 1);
  CreateTheConfig();
  RunUntil([&] { return library_.configs().contains("a"); });
  EXPECT_EQ(changes_, 2);
}

TEST_F(UnusableConfigTest, IsLoggedOnceEvenIfAnotherOneIsUnusableToo) {
  server_.Refuse([](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    return SmallApiServer::Status(403, "Forbidden", "no " + request.line);
  });
  wanted_ = {"a", "b"};
  Pass(std::chrono::minutes(10));
  EXPECT_GE(troubles_, 6);
  EXPECT_EQ(logged_, 2);
}

TEST_F(ConfigLibraryTest, FetchesAFewConfigsAtATimeAndKeepsOnlyTheirParsedForm) {
  std::set<std::string> names;
  for (char name = 'a'; name <= 'p'; ++name) {
    names.insert(std::string(1, name));
    server_.Put("machineconfigs", {{"metadata", {{"name", std::string(1, name)}}},
                                   {"spec", {{"config", {{"ignition", {{"version", "3.4.0"}}}}}}}});
  }
  std::atomic<int> requested = 0;
  std::atomic<int> fetched = 0;
  std::atomic<int> most = 0;
  server_.Refuse([&](const kube::ReceivedRequest&) -> std::optional<kube::Answer> {
    RaiseTo(most, ++requested - fetched);
    return std::nullopt;
  });
  ConfigLibrary library(ValueOf(kube::Client::Create(*loop_, server_.access())), clock_,
                        {.changed =
                             [&] {
                               if (++fetched == static_cast<int>(names.size())) loop_->Stop();
                             },
                         .retry_at = [](MonotonicTime) {},
                         .trouble = [](const std::string&, const Error& error) { ADD_FAILURE() << error.message(); }});
  library.Want(names);
  EXPECT_TRUE(Succeeded(event::RunPatiently(*loop_)));
  EXPECT_GE(most, 1);
  EXPECT_LE(most, 4);
  EXPECT_EQ(library.configs().size(), names.size());
  for (const auto& [name, config] : library.configs()) EXPECT_TRUE(config.object.spec.config.is_null()) << name;
}

}  // namespace
}  // namespace pintle::controller
