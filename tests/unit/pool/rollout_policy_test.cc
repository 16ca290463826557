// SPDX-License-Identifier: Apache-2.0
#include "pool/rollout_policy.h"

#include "base/time_zone_files.h"
#include "json/fields.h"
#include "json/parse.h"
#include "support/expect.h"
#include "unit/pool/sample.h"

namespace pintle::pool {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

api::RolloutPolicy Read(const std::string& spec) {
  json::Report report;
  auto policy = json::Decode<api::RolloutPolicy>(
      ValueOf(json::Parse(R"({"metadata": {"name": "canary"}, "spec": )" + spec + "}")), report);
  EXPECT_FALSE(report.has_errors());
  return policy;
}

Result<Policy> Compile(const std::string& spec) {
  TimeZoneFiles files;
  return CompilePolicy(Read(spec), [&](const std::string& name) { return files.Find(name); });
}

TEST(RolloutPolicy, HasAllFieldsOfTheDocument) {
  const Policy policy = ValueOf(Compile(R"({
    "pool": "worker",
    "waves": [
      {"name": "canary", "nodes": 1, "soak": "30min", "nodeTimeout": "20min", "readyTimeout": "8min"},
      {"nodes": "10%", "maxUnavailable": "50%", "failureThreshold": "20%",
       "nodeSelector": {"matchLabels": {"tier": "web"}}}
    ],
    "order": {"label": "rack"},
    "approve": "Manual",
    "windows": [{"days": ["Sat"], "start": "22:00", "duration": "4h", "timeZone": "Europe/Berlin"}],
    "windowScope": "DisruptiveChanges",
    "freeze": {"until": "2027-01-07", "reason": "holidays"},
    "gates": [
      {"name": "backup", "when": "Before", "nodeCondition": {"type": "BackupDone"}},
      {"name": "tested", "when": "After", "nodeAnnotation": {"key": "pintle.io/gate-tested", "value": "yes"}},
      {"name": "alerts", "when": "After", "prometheus": {"url": "http://p:9090", "query": "ALERTS"},
       "timeout": "1h", "onTimeout": "Halt"},
      {"name": "probe", "when": "Before", "http": {"url": "https://shop/healthz"}}
    ],
    "stage": "All"
  })"));
  ASSERT_EQ(policy.waves.size(), 3U);
  EXPECT_EQ(policy.waves[0].name, "canary");
  EXPECT_EQ(policy.waves[0].nodes->RoundedUp(40), 1U);
  EXPECT_EQ(policy.waves[0].soak, std::chrono::minutes(30));
  EXPECT_EQ(policy.waves[0].node_timeout, std::chrono::minutes(20));
  EXPECT_EQ(policy.waves[0].ready_timeout, std::chrono::minutes(8));
  EXPECT_EQ(policy.waves[0].failure_threshold->RoundedDown(40), 0U);
  EXPECT_EQ(policy.waves[1].name, "wave 2");
  EXPECT_EQ(policy.waves[1].nodes->RoundedUp(41), 5U);
  EXPECT_EQ(policy.waves[1].max_unavailable->RoundedDown(5), 2U);
  EXPECT_EQ(policy.waves[1].node_timeout, std::chrono::hours(1));
  EXPECT_EQ(policy.waves[1].ready_timeout, std::chrono::minutes(5));
  EXPECT_TRUE(policy.waves[1].selector->Matches({{"tier", "web"}}));
  EXPECT_TRUE(policy.waves[2].has_all_remaining_nodes());
  EXPECT_EQ(policy.waves[2].failure_threshold->RoundedDown(10), 0U);
  EXPECT_FALSE(policy.waves[2].max_unavailable);
  EXPECT_EQ(policy.order_label, "rack");
  EXPECT_TRUE(policy.needs_approval);
  EXPECT_TRUE(policy.are_windows_for_disruptions_only);
  EXPECT_TRUE(policy.stages_all);
  ASSERT_EQ(policy.gates.size(), 4U);
  EXPECT_TRUE(policy.gates[0].is_about_nodes());
  EXPECT_EQ(std::get<api::GateCondition>(policy.gates[0].test).status, "True");
  EXPECT_EQ(policy.gates[1].when, GateTime::kAfter);
  EXPECT_FALSE(policy.gates[2].is_about_nodes());
  EXPECT_EQ(policy.gates[2].on_timeout, GateTimeout::kHalt);
  EXPECT_EQ(policy.gates[3].on_timeout, GateTimeout::kWait);
}

TEST(RolloutPolicy, WithoutWavesHasOneWaveThatNeverHalts) {
  const Policy policy = ValueOf(Compile(R"({"pool": "worker"})"));
  ASSERT_EQ(policy.waves.size(), 1U);
  EXPECT_TRUE(policy.waves[0].has_all_remaining_nodes());
  EXPECT_FALSE(policy.waves[0].failure_threshold);
  EXPECT_FALSE(policy.needs_approval);
  EXPECT_FALSE(policy.stages_all);
}

struct MistakeCase {
  const char* spec;
  const char* problem;
};

TEST(RolloutPolicy, NamesTheFieldAndTheRemedyOfEachMistake) {
  const std::vector<MistakeCase> cases = {
      {R"({})", "spec.pool: name one pool here, or select pools by spec.poolSelector"},
      {R"({"pool": "a", "poolSelector": {"matchLabels": {"a": "b"}}})", "a policy has exactly one of the two fields"},
      {R"({"poolSelector": {}})", "spec.poolSelector: is empty; write matchLabels or matchExpressions"},
      {R"({"poolSelector": {"matchExpressions": [{"key": "a", "operator": "Is"}]}})", "spec.poolSelector: "},
      {R"({"pool": "a", "waves": [{"nodes": 0}]})",
       "spec.waves[0].nodes: \"0\" is neither a number from 1 on nor a percentage from 1%"},
      {R"({"pool": "a", "waves": [{"nodes": "101%"}]})", "spec.waves[0].nodes: \"101%\" is neither"},
      {R"({"pool": "a", "waves": [{"nodes": "two"}]})", "write a value such as 2 or 10%"},
      {R"({"pool": "a", "waves": [{"nodes": "-1%"}]})", "spec.waves[0].nodes: \"-1%\" is neither"},
      {R"({"pool": "a", "waves": [{"nodes": 1, "failureThreshold": -1}]})", "spec.waves[0].failureThreshold: \"-1\""},
      {R"({"pool": "a", "waves": [{"nodes": 1, "maxUnavailable": 0}]})", "spec.waves[0].maxUnavailable: \"0\""},
      {R"({"pool": "a", "waves": [{"nodes": 1, "soak": "soon"}]})", "spec.waves[0].soak: \"soon\" must be a time"},
      {R"({"pool": "a", "waves": [{"nodes": 1, "nodeTimeout": "2y"}]})", "spec.waves[0].nodeTimeout: \"2y\" must be"},
      {R"({"pool": "a", "waves": [{"nodes": 1, "nodeTimeout": "0s"}]})",
       "spec.waves[0].nodeTimeout: \"0s\" must be longer than 0s; write a time such as 30min, or leave the field out"},
      {R"({"pool": "a", "waves": [{"nodes": 1, "readyTimeout": "0s"}]})",
       "spec.waves[0].readyTimeout: \"0s\" must be longer than 0s"},
      {R"({"pool": "a", "gates": [{"name": "g", "when": "After", "http": {"url": "http://a"}, "timeout": "0"}]})",
       "spec.gates[0].timeout: \"0\" must be longer than 0s"},
      {R"({"pool": "a", "waves": [{}, {"nodes": 1}]})",
       "spec.waves[0]: has neither nodes nor nodeSelector, so it leaves no nodes to later waves"},
      {R"({"pool": "a", "waves": [{"nodeSelector": {}}]})", "spec.waves[0].nodeSelector: is empty"},
      {R"({"pool": "a", "order": {"label": "a b"}})", "spec.order.label: \"a b\" is not the key of a label"},
      {R"({"pool": "a", "approve": "manual"})", "spec.approve: \"manual\" is not known; write Automatic or Manual"},
      {R"({"pool": "a", "windowScope": "x"})", "spec.windowScope: \"x\" is not known; write AllChanges or Disr"},
      {R"({"pool": "a", "stage": "x"})", "spec.stage: \"x\" is not known; write None or All"},
      {R"({"pool": "a", "windows": [{"start": "7", "duration": "1h"}]})", "spec.windows[0].start: \"7\" is not"},
      {R"({"pool": "a", "gates": [{"name": "g", "when": "Now", "http": {"url": "http://a"}}]})",
       "spec.gates[0].when: \"Now\" is not known; write Before or After"},
      {R"({"pool": "a", "gates": [{"name": "g", "when": "After"}]})", "spec.gates[0]: has to have exactly one of"},
      {R"({"pool": "a", "gates": [{"name": "a/b", "when": "After", "http": {"url": "http://a"}}]})",
       "spec.gates[0].name: \"a/b\" is not a name"},
      {R"({"pool": "a", "gates": [{"name": "g", "when": "After", "http": {"url": "http://a"}},
                                  {"name": "g", "when": "After", "http": {"url": "http://a"}}]})",
       "spec.gates[1].name: \"g\" is the name of an earlier gate"},
      {R"({"pool": "a", "gates": [{"name": "g", "when": "After", "http": {"url": "file:///etc/passwd"}}]})",
       "spec.gates[0].http.url: is not a URL; write one that begins with http:// or https://"},
      {R"({"pool": "a", "gates": [{"name": "g", "when": "After", "http": {"url": "https://"}}]})",
       "spec.gates[0].http.url: names no server; write a URL such as https://server.example"},
      {R"({"pool": "a", "gates": [{"name": "g", "when": "After", "prometheus": {"url": "http:///", "query": "q"}}]})",
       "spec.gates[0].prometheus.url: names no server; write a URL such as https://server.example"},
      {R"({"pool": "a", "gates": [{"name": "g", "when": "After", "nodeAnnotation": {"key": "x/y"}}]})",
       "spec.gates[0].nodeAnnotation.key: \"x/y\" does not begin with pintle.io/gate-; choose a key that does"},
      {R"({"pool": "a", "gates": [{"name": "g", "when": "After", "http": {"url": "http://a"}, "onTimeout": "Halt"}]})",
       "spec.gates[0].onTimeout: \"Halt\" needs a timeout"},
      {R"({"pool": "a", "gates": [{"name": "g", "when": "After", "http": {"url": "http://a"}, "timeout": "1h",
                                   "onTimeout": "Stop"}]})",
       "spec.gates[0].onTimeout: \"Stop\" is not known; write Wait, Halt or Continue"},
  };
  for (const MistakeCase& row : cases) {
    EXPECT_THAT(MessageOf(Compile(row.spec)), HasSubstr(row.problem)) << row.spec;
  }
}

TEST(RolloutPolicy, ReportsAllMistakesAtOnce) {
  const std::string message = MessageOf(Compile(R"({"approve": "x", "stage": "y"})"));
  EXPECT_THAT(message, testing::AllOf(HasSubstr("spec.pool"), HasSubstr("spec.approve"), HasSubstr("spec.stage")));
}

TEST(RolloutPolicy, HasALimitedNumberOfWavesWindowsAndGates) {
  api::RolloutPolicy policy = Read(R"({"pool": "worker"})");
  const auto compile = [&] {
    return CompilePolicy(policy, [](const std::string&) { return std::make_shared<const TimeZone>(); });
  };
  policy.spec.waves.resize(32);
  for (api::RolloutWave& wave : policy.spec.waves) wave.nodes = api::IntOrString{1};
  policy.spec.windows.resize(32, {.days = {}, .start = "22:00", .duration = "1h", .time_zone = ""});
  for (int i = 0; i < 32; ++i) {
    api::RolloutGate& gate = policy.spec.gates.emplace_back();
    gate.name = "g" + std::to_string(i);
    gate.when = "After";
    gate.http = api::GateHttp{.url = "http://shop"};
  }
  EXPECT_EQ(ValueOf(compile()).waves.size(), 33U) << "the last one has the nodes that are left";
  policy.spec.waves.resize(33);
  policy.spec.windows.resize(1000);
  policy.spec.gates.resize(33);
  EXPECT_EQ(MessageOf(compile()),
            "spec.waves: has 33 waves; write at most 32; spec.windows: has 1000 windows; write at most 32; spec.gates: "
            "has 33 gates; write at most 32");
}

api::RolloutPolicy PolicyNamed(const std::string& name, int age, const std::string& spec) {
  api::RolloutPolicy policy = Read(spec);
  policy.metadata.name = name;
  policy.metadata.creation_timestamp = api::Time{WallTime(std::chrono::seconds(age))};
  return policy;
}

TEST(ChoosePolicy, FindsThePolicyByNameOrBySelector) {
  api::MachineConfigPool pool = PoolWith(kNew);
  pool.metadata.labels["tier"] = "web";
  const api::RolloutPolicy other = PolicyNamed("other", 1, R"({"pool": "infra"})");
  const api::RolloutPolicy named = PolicyNamed("named", 1, R"({"pool": "worker"})");
  const api::RolloutPolicy selecting = PolicyNamed("s", 1, R"({"poolSelector": {"matchLabels": {"tier": "web"}}})");
  const auto choice = [&](std::vector<const api::RolloutPolicy*> policies) {
    return ChoosePolicy(pool, policies).policy;
  };
  EXPECT_EQ(choice({&other}), nullptr);
  EXPECT_EQ(choice({&other, &named}), &named);
  EXPECT_EQ(choice({&other, &selecting}), &selecting);
  pool.metadata.labels.clear();
  EXPECT_EQ(choice({&other, &selecting}), nullptr);
}

TEST(ChoosePolicy, PrefersTheOldestAndThenTheFirstByName) {
  const api::MachineConfigPool pool = PoolWith(kNew);
  const api::RolloutPolicy young = PolicyNamed("a", 3, R"({"pool": "worker"})");
  const api::RolloutPolicy old_b = PolicyNamed("b", 1, R"({"pool": "worker"})");
  const api::RolloutPolicy old_c = PolicyNamed("c", 1, R"({"pool": "worker"})");
  const std::vector<const api::RolloutPolicy*> policies = {&young, &old_c, &old_b};
  const PolicyChoice choice = ChoosePolicy(pool, policies);
  EXPECT_EQ(choice.policy, &old_b);
  EXPECT_THAT(choice.passed_over, ElementsAre(&old_c, &young));
}

TEST(ChoosePolicy, CountsAPolicyThatCannotBeUsedForAllPools) {
  const api::MachineConfigPool pool = PoolWith(kNew);
  const api::RolloutPolicy empty = PolicyNamed("a", 1, R"({"poolSelector": {}})");
  const api::RolloutPolicy wrong =
      PolicyNamed("b", 1, R"({"poolSelector": {"matchExpressions": [{"key": "a", "operator": "?"}]}})");
  for (const api::RolloutPolicy* policy : {&empty, &wrong}) {
    EXPECT_EQ(ChoosePolicy(pool, std::vector{policy}).policy, policy) << policy->metadata.name;
  }
}

TEST(ChoosePolicy, CountsAPolicyWithANameAndASelectorForThePoolsOfBoth) {
  api::MachineConfigPool pool = PoolWith(kNew);
  const api::RolloutPolicy both =
      PolicyNamed("both", 1, R"({"pool": "infra", "poolSelector": {"matchLabels": {"tier": "web"}}})");
  EXPECT_EQ(ChoosePolicy(pool, std::vector{&both}).policy, nullptr);
  pool.metadata.labels["tier"] = "web";
  EXPECT_EQ(ChoosePolicy(pool, std::vector{&both}).policy, &both);
  pool.metadata.labels.clear();
  pool.metadata.name = "infra";
  EXPECT_EQ(ChoosePolicy(pool, std::vector{&both}).policy, &both);
}

}  // namespace
}  // namespace pintle::pool
