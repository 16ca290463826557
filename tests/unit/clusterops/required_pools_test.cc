// SPDX-License-Identifier: Apache-2.0
#include "clusterops/required_pools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clusterops/pool_labels.h"

namespace pintle::clusterops {
namespace {

using std::chrono::minutes;
using testing::HasSubstr;

constexpr WallTime kStart{std::chrono::hours(1000)};
constexpr const char* kRendered = "rendered-master-1";

// A master pool of three updated machines, of the release 4.21.0.
class RequiredPoolsTest : public testing::Test {
 protected:
  RequiredPoolsTest() {
    pool_.metadata.name = "master";
    pool_.metadata.generation = 4;
    pool_.metadata.labels = BuiltInLabels("master");
    pool_.spec.configuration.name = kRendered;
    pool_.status.observed_generation = 4;
    pool_.status.configuration.name = kRendered;
    pool_.status.configuration.source.emplace_back().name = "00-master";
    pool_.status.configuration.source.emplace_back().name = "99-mine";
    pool_.status.machine_count = 3;
    pool_.status.ready_machine_count = 2;
    pool_.status.updated_machine_count = 1;
    pool_.status.unavailable_machine_count = 1;
    SetCondition("Updated", "True", kStart);
    AddConfig("00-master", true);
    AddConfig("99-mine", false);
    AddConfig(kRendered, true).spec.os_image_url = "registry/os@sha256:1";
    configs_[kRendered].metadata.annotations.emplace(api::kReleaseImageVersionAnnotation, "4.21.0");
    worker_pool_.metadata.name = "worker";
    worker_pool_.metadata.labels = BuiltInLabels("worker");
  }

  api::MachineConfig& AddConfig(const std::string& name, bool is_generated) {
    api::MachineConfig& config = configs_[name];
    config.metadata.name = name;
    if (is_generated) {
      config.metadata.annotations.emplace(api::kGeneratedByControllerVersionAnnotation, "hash-1");
    }
    return config;
  }

  void SetCondition(const std::string& type, const std::string& status, WallTime since) {
    std::erase_if(pool_.status.conditions, [&](const api::Condition& known) { return known.type == type; });
    pool_.status.conditions.push_back(
        {.type = type, .status = status, .last_transition_time = api::Time{since}, .reason = "", .message = ""});
  }

  RequiredPools Look(std::optional<WallTime> waiting_since = {}) const {
    const std::vector<const api::MachineConfigPool*> pools = {&pool_, &worker_pool_};
    return LookAtRequiredPools({.pools = pools,
                                .config_named = [this](std::string_view name) -> const api::MachineConfig* {
                                  const auto found = configs_.find(name);
                                  return found == configs_.end() ? nullptr : &found->second;
                                },
                                .controller_version = "hash-1",
                                .release = "4.21.0",
                                .os_images = {{"master", "registry/os@sha256:1"}},
                                .now = now_,
                                .waiting_since = waiting_since});
  }

  api::MachineConfigPool pool_;
  api::MachineConfigPool worker_pool_;
  std::map<std::string, api::MachineConfig, std::less<>> configs_;
  WallTime now_ = kStart + minutes(1);
};

TEST_F(RequiredPoolsTest, AreReadyWithTheConfigurationOfTheRelease) { EXPECT_TRUE(Look().are_ready()); }

TEST_F(RequiredPoolsTest, PoolsThatAreNotRequiredAreNotWaitedFor) {
  worker_pool_.spec.paused = true;
  worker_pool_.status.conditions = {
      {.type = "Degraded", .status = "True", .last_transition_time = {}, .reason = "", .message = ""}};
  EXPECT_TRUE(Look().are_ready());
}

TEST_F(RequiredPoolsTest, APoolThatIsBeingUpdatedIsWaitedForTenMinutesPerMachine) {
  SetCondition("Updated", "False", kStart);
  const RequiredPools waits = Look();
  EXPECT_EQ(waits.failure, "");
  EXPECT_EQ(waits.waiting,
            "required MachineConfigPool master is not ready, retrying. Status: (total: 3, ready 2, updated: 1, "
            "unavailable: 1, degraded: 0)");
  EXPECT_EQ(waits.since, kStart);
  EXPECT_EQ(waits.until, kStart + minutes(30));
  now_ = kStart + minutes(30);
  const RequiredPools failed = Look();
  EXPECT_EQ(failed.failure,
            "during syncRequiredMachineConfigPools: [context deadline exceeded, " + waits.waiting + "]");
  EXPECT_EQ(failed.waiting, "");
  EXPECT_FALSE(failed.until);
}

TEST_F(RequiredPoolsTest, APoolWithoutMachinesHasTenMinutes) {
  pool_.status.machine_count = 0;
  SetCondition("Updated", "False", kStart);
  EXPECT_EQ(Look().until, kStart + minutes(10));
}

TEST_F(RequiredPoolsTest, AStatusThatIsBehindTheSpecDoesNotCount) {
  pool_.metadata.generation = 5;
  EXPECT_THAT(Look().waiting, HasSubstr("required MachineConfigPool master is not ready"));
  // No condition has a time, so the caller's time counts.
  EXPECT_EQ(Look().since, now_);
  EXPECT_EQ(Look(kStart).until, kStart + minutes(30));
}

TEST_F(RequiredPoolsTest, ADegradedPoolIsWaitedForAndThenAFailure) {
  SetCondition("Degraded", "True", kStart);
  pool_.status.conditions.back().message = "Node master-0 is reporting: \"no\"";
  EXPECT_EQ(Look().waiting,
            "MachineConfigPool master is not ready, retrying. Status: (pool degraded: true total: 3, ready 2, updated: "
            "1, unavailable: 1, reason: Node master-0 is reporting: \"no\")");
  now_ = kStart + minutes(31);
  EXPECT_THAT(Look().failure, HasSubstr("[context deadline exceeded, MachineConfigPool master is not ready"));
}

TEST_F(RequiredPoolsTest, APausedPoolWithPendingUpdatesIsAFailureAtOnce) {
  pool_.spec.paused = true;
  SetCondition("Updated", "False", kStart);
  EXPECT_EQ(Look().failure, "required MachineConfigPool master is paused and cannot sync until it is unpaused");
  EXPECT_EQ(Look().waiting, "");
}

TEST_F(RequiredPoolsTest, APausedPoolWithoutPendingUpdatesIsReady) {
  pool_.spec.paused = true;
  EXPECT_TRUE(Look().are_ready());
  // The status is from before the pause.
  pool_.metadata.generation = 5;
  EXPECT_EQ(Look().failure,
            "the required MachineConfigPool master was paused with no pending updates; no further syncing will occur "
            "until it is unpaused");
}

TEST_F(RequiredPoolsTest, ADegradedOrOutdatedPoolIsWaitedForEvenIfItIsPaused) {
  pool_.spec.paused = true;
  configs_[kRendered].spec.os_image_url = "registry/os@sha256:0";
  EXPECT_EQ(Look().failure, "");
  EXPECT_THAT(Look().waiting, HasSubstr("osImageURL mismatch for master in rendered-master-1"));
  SetCondition("Degraded", "True", kStart);
  EXPECT_EQ(Look().failure, "");
  EXPECT_THAT(Look().waiting, HasSubstr("pool degraded: true"));
}

TEST_F(RequiredPoolsTest, TheConfigOfTheNodesCountsAndNotTheTarget) {
  pool_.spec.configuration.name = "rendered-master-2";
  AddConfig("rendered-master-2", true).spec.os_image_url = "registry/os@sha256:1";
  configs_[kRendered].spec.os_image_url = "registry/os@sha256:0";
  EXPECT_THAT(Look().waiting, HasSubstr("osImageURL mismatch for master in rendered-master-1"));
  configs_[kRendered].metadata.annotations[std::string(api::kGeneratedByControllerVersionAnnotation)] = "hash-0";
  EXPECT_THAT(Look().waiting, HasSubstr("controller version mismatch for rendered-master-1 expected hash-1"));
}

TEST_F(RequiredPoolsTest, EachDifferenceFromTheReleaseIsNamed) {
  const std::string all = "all 3 nodes are at latest configuration rendered-master-1";
  const std::vector<std::pair<std::function<void()>, std::string>> cases = {
      {[&] { configs_["00-master"].metadata.annotations.begin()->second = "hash-0"; },
       "controller version mismatch for 00-master expected hash-1 has hash-0: " + all},
      {[&] {
         configs_[kRendered].metadata.annotations.erase(std::string(api::kGeneratedByControllerVersionAnnotation));
       },
       "rendered-master-1 must be created by controller version hash-1: " + all},
      {[&] { configs_[kRendered].spec.os_image_url = "registry/os@sha256:0"; },
       "osImageURL mismatch for master in rendered-master-1 expected: registry/os@sha256:1 got: registry/os@sha256:0"},
      {[&] { configs_[kRendered].metadata.annotations[std::string(api::kReleaseImageVersionAnnotation)] = "4.20.0"; },
       "release image version mismatch for master in rendered-master-1 expected: 4.21.0 got: 4.20.0"},
      {[&] { configs_[kRendered].metadata.annotations.erase(std::string(api::kReleaseImageVersionAnnotation)); },
       "unable to access annotation machineconfiguration.openshift.io/release-image-version for rendered-master-1 "
       "expected: 4.21.0"},
      {[&] { configs_.erase("99-mine"); }, "machineconfig.machineconfiguration.openshift.io \"99-mine\" not found"},
      {[&] { pool_.status.configuration.source.clear(); },
       "list of MachineConfigs that were used to generate configuration for pool master is empty: " + all},
      {[&] { pool_.status.configuration.name.clear(); },
       "configuration status for pool master is empty: all 3 nodes are at latest configuration "},
      {[&] { pool_.spec.configuration.name.clear(); }, "configuration spec for pool master is empty: " + all},
  };
  const auto pool = pool_;
  const auto configs = configs_;
  for (const auto& [change, why] : cases) {
    pool_ = pool;
    configs_ = configs;
    change();
    EXPECT_EQ(Look().waiting,
              "MachineConfigPool master has not progressed to latest configuration: " + why + ", retrying");
  }
}

TEST_F(RequiredPoolsTest, AnImageThatAPersonHasChosenIsNoDifference) {
  configs_[kRendered].spec.os_image_url = "registry/mine@sha256:0";
  EXPECT_FALSE(Look().are_ready());
  configs_[kRendered].metadata.annotations.emplace(api::kOsImageUrlOverriddenAnnotation, "true");
  EXPECT_TRUE(Look().are_ready());
}

}  // namespace
}  // namespace pintle::clusterops
