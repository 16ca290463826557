// SPDX-License-Identifier: Apache-2.0
#include "pool/layering.h"

#include "support/expect.h"
#include "unit/pool/sample.h"

namespace pintle::pool {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const api::MachineOSConfig& Config() {
  static const api::MachineOSConfig config = [] {
    api::MachineOSConfig c;
    c.metadata.name = "mosc";
    c.spec.machine_config_pool.name = "worker";
    c.status.current_image_pull_spec = "os@sha256:aa";
    return c;
  }();
  return config;
}

api::MachineOSBuild Build(const std::string& name, const std::string& from, const std::string& state) {
  api::MachineOSBuild build;
  build.metadata.name = name;
  build.spec.machine_config.name = from;
  build.spec.machine_os_config.name = "mosc";
  build.status.digested_image_push_spec = "os@sha256:aa";
  if (!state.empty()) {
    build.status.conditions.push_back(
        {.type = state, .status = "True", .last_transition_time = {}, .reason = "", .message = ""});
  }
  return build;
}

TEST(FindLayering, FindsTheBuildThatTheConfigNames) {
  std::vector<api::MachineOSConfig> configs = {Config()};
  configs[0].metadata.annotations.emplace(api::kCurrentBuildAnnotation, "second");
  const std::vector<api::MachineOSBuild> builds = {Build("first", kNew, ""), Build("second", kNew, "")};
  EXPECT_EQ(FindLayering(PoolWith(kNew), configs, builds).build, &builds[1]);
}

TEST(FindLayering, IgnoresABuildOfAnotherConfig) {
  std::vector<api::MachineOSConfig> configs = {Config()};
  configs[0].metadata.annotations.emplace(api::kCurrentBuildAnnotation, "old");
  const std::vector<api::MachineOSBuild> builds = {Build("old", kOld, ""), Build("new", kNew, "")};
  EXPECT_EQ(FindLayering(PoolWith(kNew), configs, builds).build, &builds[1]);
  EXPECT_EQ(FindLayering(PoolWith("newer"), configs, builds).build, nullptr);
}

TEST(FindLayering, FindsNothingForAPoolWithoutConfig) {
  api::MachineConfigPool pool = PoolWith(kNew);
  pool.metadata.name = "infra";
  const std::vector<api::MachineOSConfig> configs = {Config()};
  const std::vector<api::MachineOSBuild> builds = {Build("b", kNew, "")};
  EXPECT_FALSE(FindLayering(pool, configs, builds).is_layered());
}

TEST(CheckImage, AllowsTheImageThatWasBuiltLast) {
  const api::MachineOSBuild build = Build("b", kNew, "Succeeded");
  const ImageReadiness image = CheckImage({.config = &Config(), .build = &build});
  EXPECT_TRUE(image.can_apply);
  EXPECT_EQ(image.reason, "Image built successfully, pullspec: os@sha256:aa");
}

TEST(CheckImage, ReportsWhyTheImageIsNotReady) {
  const auto check = [](const std::string& state) {
    const api::MachineOSBuild build = Build("b", kNew, state);
    const ImageReadiness image = CheckImage({.config = &Config(), .build = &build});
    EXPECT_FALSE(image.can_apply);
    return image.reason;
  };
  EXPECT_EQ(check(""), "Image is not ready yet");
  EXPECT_EQ(check("Prepared"), "Image is not ready yet");
  EXPECT_EQ(check("Building"), "Image build pending");
  EXPECT_EQ(check("Failed"), "Image build failed");
  EXPECT_EQ(check("Interrupted"), "Image is not ready yet");
  EXPECT_EQ(CheckImage({.config = &Config(), .build = nullptr}).reason,
            "No MachineOSConfig or MachineOSBuild for this pool");
}

TEST(CheckImage, NamesTheMissingConfigOfABuild) {
  api::MachineOSBuild build = Build("b", kNew, "Succeeded");
  build.metadata.labels.emplace(api::kMachineOSConfigNameLabel, "gone");
  EXPECT_EQ(CheckImage({.config = nullptr, .build = &build}).error,
            "orphaned MachineOSBuild \"b\" found, but MachineOSConfig \"gone\" not found");
}

TEST(Rollout, SetsConfigAndImageTogether) {
  const api::MachineConfigPool pool = PoolWith(kNew, {3});
  const api::MachineOSBuild build = Build("b", kNew, "Succeeded");
  const auto with_image = [](const api::Node& node, const std::string& image) {
    return Annotated(Annotated(node, api::kDesiredImageAnnotation, image), api::kCurrentImageAnnotation, image);
  };
  const std::vector<api::Node> nodes = {NodeAt("a", kOld), with_image(NodeAt("b", kNew), "os@sha256:00"),
                                        with_image(NodeAt("c", kNew), "os@sha256:aa")};
  const auto states = States(nodes);
  Situation situation = SituationOf(pool, states);
  situation.layering = {.config = &Config(), .build = &build};

  const Rollout rollout = Decide(situation);

  EXPECT_THAT(Names(rollout.updates), ElementsAre("a", "b"));
  EXPECT_EQ(PatchText(rollout.updates[0].patch),
            R"({"metadata":{"annotations":{"machineconfiguration.openshift.io/desiredConfig":"rendered-worker-new",)"
            R"("machineconfiguration.openshift.io/desiredImage":"os@sha256:aa"}}})");
  EXPECT_EQ(PatchText(rollout.updates[1].patch),
            R"({"metadata":{"annotations":{"machineconfiguration.openshift.io/desiredImage":"os@sha256:aa"}}})");
}

TEST(Rollout, RemovesTheImageFromAPoolThatIsNoLongerLayered) {
  const api::Node node = Annotated(NodeAt("a", kNew), api::kCurrentImageAnnotation, "os@sha256:aa");
  const Rollout rollout = Decide(PoolWith(kNew), {Annotated(node, api::kDesiredImageAnnotation, "os@sha256:aa")});
  ASSERT_THAT(Names(rollout.updates), ElementsAre("a"));
  EXPECT_EQ(PatchText(rollout.updates[0].patch),
            R"({"metadata":{"annotations":{"machineconfiguration.openshift.io/desiredImage":null}}})");
}

TEST(Rollout, IgnoresABuildWithoutItsConfig) {
  const api::MachineConfigPool pool = PoolWith(kNew);
  const api::MachineOSBuild build = Build("b", kNew, "Succeeded");
  const std::vector<api::Node> nodes = {NodeAt("a", kOld)};
  const auto states = States(nodes);
  Situation situation = SituationOf(pool, states);
  situation.layering = {.config = nullptr, .build = &build};
  const Rollout rollout = Decide(situation);
  EXPECT_THAT(rollout.updates, IsEmpty());
  EXPECT_EQ(rollout.status.conditions.at(1).message, "All nodes are updating to MachineConfig rendered-worker-new");
}

}  // namespace
}  // namespace pintle::pool
