// SPDX-License-Identifier: Apache-2.0
#include "agent/survey.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/configs.h"

namespace pintle::agent {
namespace {

using std::chrono::hours;
using testing::ElementsAre;
using testing::HasSubstr;

const WallTime kMoment = WallTime(hours(500'000));  // 2027-01-15T08:00:00Z
constexpr const char* kImage = "quay.io/os@sha256:4f0a";
constexpr const char* kOtherImage = "quay.io/os@sha256:5e1b";

plan::TestConfig FirstConfig() {
  plan::TestConfig config;
  config.WithFile("/etc/motd", "data:,one").WithFile("/etc/issue", "data:,one");
  return config;
}

// Differs from the first config in /etc/motd only.
plan::TestConfig SecondConfig() {
  plan::TestConfig config = FirstConfig();
  config.metadata().name = "rendered-worker-2";
  config.ignition().storage.files.front().contents.source = "data:,two";
  return config;
}

change::CurrentConfig AsRead(const machineconfig::ParsedConfig& config) {
  return {.object = config.object, .ignition = config.ignition, .writers = {}};
}

// A machine that has its first config, and a policy by which changes of files need no reboot.
Observation SeenMachine() {
  Observation seen{.current = AsRead(FirstConfig()), .is_on_disk = true};
  seen.policy.files = {{.path = "/etc", .actions = {{.type = "None", .reload = {}, .restart = {}}}}};
  seen.abilities.has_deployments = true;
  return seen;
}

void Want(Observation& seen, const plan::TestConfig& to) {
  seen.names_goal = true;
  seen.to = AsRead(to);
}

// Adds a finding about a thing whose state is neither that of the current config nor that of the wanted one.
void AddFinding(Observation& seen, const std::string& about) {
  const change::Finding finding{about, about + " differs", ""};
  seen.findings.push_back(finding);
  if (seen.to) seen.losses.push_back(finding);
  seen.report.config = seen.current.object.metadata.name;
  change::ReportedThing& thing = seen.report.things.emplace_back();
  thing.about = about;
  thing.problems = {finding.text};
  thing.remedies = {"pintle restore " + about, "pintle ignore --until 1d " + about};
}

void Ignore(Observation& seen, const std::string& about, WallTime until = kMoment + hours(1)) {
  seen.ignored.push_back({about, until});
}

// Makes the machine new: its first config is only assumed, and its OS is not the one that the config names.
void ComeWithAnotherOs(Observation& seen) {
  seen.is_new = true;
  seen.is_on_disk = false;
  seen.is_assumed = true;
  seen.as_booted = seen.current.object;
  seen.as_booted->spec.os_image_url = kOtherImage;
  seen.current.object.spec.os_image_url = kImage;
  if (seen.to) seen.to->object.spec.os_image_url = kImage;
  AddFinding(seen, "os");
}

std::string ChangeText(const Prepared& prepared) {
  std::vector<std::string> actions;
  for (const plan::Action& action : prepared.plan.actions) actions.push_back(action.what.type);
  std::string text = fmt::format("change {} to {} by [{}]", GoalOf(prepared.from).config, GoalOf(prepared.to).config,
                                 fmt::join(actions, ", "));
  if (prepared.plan.drain.is_needed) text += " after a drain";
  if (prepared.is_forced) text += " by force";
  if (!prepared.left_alone.empty()) text += fmt::format(" without {}", fmt::join(prepared.left_alone, " and "));
  return text;
}

// Lists all results of a survey.
std::string SurveyText(const Survey& survey) {
  const Outlook& outlook = survey.outlook;
  std::vector<std::string> parts;
  const auto add = [&](bool is_so, std::string text) {
    if (is_so) parts.push_back(std::move(text));
  };
  add(outlook.is_cut_short, "cut short");
  add(!outlook.waits.empty(), "waits: " + outlook.waits);
  add(!outlook.drift.empty(), "drift: " + outlook.drift);
  add(!outlook.why_unreconcilable.empty(), "unreconcilable: " + outlook.why_unreconcilable);
  add(outlook.has_goal, "there");
  add(outlook.is_outdated, "outdated");
  if (survey.prepared) parts.push_back(ChangeText(*survey.prepared));
  add(outlook.drains, "drains");
  if (survey.failure) parts.push_back("failure: " + survey.failure->message());
  add(survey.policy.has_value(), "stores the policy");
  add(survey.current.has_value(), "has " + survey.current.value_or(Goal()).config);
  add(survey.findings > 0, fmt::format("{} findings", survey.findings));
  add(!survey.warnings.empty(), fmt::format("{} warnings", survey.warnings.size()));
  if (survey.ignoring_ends) parts.push_back("until " + ToRfc3339(*survey.ignoring_ends));
  add(!survey.left_aside.empty(), "left aside: " + survey.left_aside);
  return fmt::format("{}", fmt::join(parts, "\n"));
}

struct SurveyRow {
  std::string name;
  std::function<void(Observation& seen)> given;
  std::vector<std::string> expected;
  // The goal of the look; by default the wanted config, or without one the current config.
  std::optional<Goal> goal = {};
};

const std::string kHas = "has rendered-worker-1";
const std::string kPolicy = "stores the policy";
const std::string kDrift = "drift: unexpected on-disk state validating against rendered-worker-1: ";
const std::string kInAnHour = "until 2027-01-15T09:00:00Z";

std::vector<SurveyRow> SurveyRows() {
  return {
      // The journal.
      {"a change that was cut short comes before everything else",
       [](Observation& seen) {
         seen.pending = change::Pending::kCutShort;
         AddFinding(seen, "/etc/motd");
       },
       {"cut short"}},
      {"a change that waits for a reboot is reported",
       [](Observation& seen) { seen.pending = change::Pending::kWaitsForReboot; },
       {"waits: a change of this machine waits for a reboot: reboot it, or give the change up with `pintle recover "
        "--give-up`"}},

      // A machine that keeps its config.
      {"a machine without findings is there", [](Observation&) {}, {"there", kHas}},
      {"a finding is drift",
       [](Observation& seen) { AddFinding(seen, "/etc/motd"); },
       {kDrift + "/etc/motd differs", kHas, "1 findings"}},
      {"all findings are reported at once",
       [](Observation& seen) {
         AddFinding(seen, "/etc/motd");
         AddFinding(seen, "/etc/issue");
       },
       {kDrift + "/etc/motd differs; /etc/issue differs", kHas, "2 findings"}},
      {"an ignored finding does not count",
       [](Observation& seen) {
         AddFinding(seen, "/etc/motd");
         Ignore(seen, "/etc/motd");
       },
       {"there", kHas, "1 warnings", kInAnHour}},
      {"another finding beside an ignored one counts",
       [](Observation& seen) {
         AddFinding(seen, "/etc/motd");
         AddFinding(seen, "/etc/issue");
         Ignore(seen, "/etc/motd");
       },
       {kDrift + "/etc/issue differs", kHas, "1 findings", "1 warnings", kInAnHour}},
      {"ignoring has ended at its time",
       [](Observation& seen) {
         AddFinding(seen, "/etc/motd");
         Ignore(seen, "/etc/motd", kMoment);
       },
       {kDrift + "/etc/motd differs", kHas, "1 findings"}},
      {"the next look is due when the first ignoring ends",
       [](Observation& seen) {
         Ignore(seen, "/etc/motd", kMoment + hours(2));
         Ignore(seen, "/etc/issue", kMoment + hours(1));
       },
       {"there", kHas, "2 warnings", kInAnHour}},
      {"a machine without a config that is to have none is there",
       [](Observation& seen) {
         seen.current = change::EmptyCurrentConfig();
         seen.is_on_disk = false;
       },
       {"there", "has mco-empty-mc"}},
      {"a config that is only assumed is written to the disk",
       [](Observation& seen) {
         seen.is_on_disk = false;
         seen.is_assumed = true;
       },
       {"change rendered-worker-1 to rendered-worker-1 by [None]"}},
      {"the policy is stored wherever a source has named the goal",
       [](Observation& seen) {
         seen.is_on_disk = false;
         seen.is_assumed = true;
         seen.names_goal = true;
       },
       {"change rendered-worker-1 to rendered-worker-1 by [None]", kPolicy}},
      {"a machine that got another config meanwhile is looked at again",
       [](Observation&) {},
       {"outdated", kHas},
       Goal{"rendered-worker-3"}},
      {"drift is reported even if the machine got another config meanwhile",
       [](Observation& seen) { AddFinding(seen, "/etc/motd"); },
       {kDrift + "/etc/motd differs", kHas, "1 findings"},
       Goal{"rendered-worker-3"}},

      // A machine that gets another config.
      {"another config is work",
       [](Observation& seen) { Want(seen, SecondConfig()); },
       {"change rendered-worker-1 to rendered-worker-2 by [None]", kPolicy, kHas}},
      {"a change that no policy covers needs a reboot and a drain",
       [](Observation& seen) {
         Want(seen, SecondConfig());
         seen.policy = {};
       },
       {"change rendered-worker-1 to rendered-worker-2 by [Reboot] after a drain", "drains", kPolicy, kHas}},
      {"an edit that the change would overwrite stops it",
       [](Observation& seen) {
         Want(seen, SecondConfig());
         AddFinding(seen, "/etc/motd");
       },
       {kDrift + "/etc/motd differs", kHas, "1 findings"}},
      {"an edit that is as the new config wants it does not stop the change",
       [](Observation& seen) {
         Want(seen, SecondConfig());
         AddFinding(seen, "/etc/motd");
         seen.losses.clear();
       },
       {"change rendered-worker-1 to rendered-worker-2 by [None]", kPolicy, kHas, "1 findings"}},
      {"an ignored thing on which both configs agree is left alone",
       [](Observation& seen) {
         Want(seen, SecondConfig());
         AddFinding(seen, "/etc/issue");
         Ignore(seen, "/etc/issue");
       },
       {"change rendered-worker-1 to rendered-worker-2 by [None] without /etc/issue", kPolicy, kHas, "1 warnings",
        kInAnHour}},
      {"an ignored thing that the new config changes counts, and no other ignored thing does",
       [](Observation& seen) {
         Want(seen, SecondConfig());
         AddFinding(seen, "/etc/motd");
         AddFinding(seen, "/etc/issue");
         Ignore(seen, "/etc/motd");
         Ignore(seen, "/etc/issue");
       },
       {kDrift + "/etc/motd differs; /etc/motd is ignored, but rendered-worker-2 changes it: `pintle restore "
                 "/etc/motd` puts it back first",
        kHas, "1 findings", "2 warnings", kInAnHour}},
      {"the explanation names ignored things only",
       [](Observation& seen) {
         Want(seen, SecondConfig());
         AddFinding(seen, "/etc/motd");
         Ignore(seen, "/etc/issue");
       },
       {kDrift + "/etc/motd differs", kHas, "1 findings", "1 warnings", kInAnHour}},
      {"users whose keys cannot be read do not stop the change",
       [](Observation& seen) {
         Want(seen, SecondConfig());
         AddFinding(seen, "core");
         seen.out_of_reach = {"core"};
       },
       {"change rendered-worker-1 to rendered-worker-2 by [None] without core", kPolicy, kHas, "1 findings"}},
      {"files that the source writes are left alone",
       [](Observation& seen) {
         Want(seen, SecondConfig());
         seen.written_by_source = {"/etc/kubernetes/ca.crt"};
       },
       {"change rendered-worker-1 to rendered-worker-2 by [None] without /etc/kubernetes/ca.crt", kPolicy, kHas}},
      {"a change of the OS needs a reboot",
       [](Observation& seen) {
         Want(seen, SecondConfig());
         seen.to->object.spec.os_image_url = kImage;
       },
       {"change rendered-worker-1 to rendered-worker-2 by [Reboot] after a drain", "drains", kPolicy, kHas}},

      // By force.
      {"force changes a machine in spite of its findings, with a reboot",
       [](Observation& seen) {
         AddFinding(seen, "/etc/motd");
         seen.is_forced = true;
       },
       {"change rendered-worker-1 to rendered-worker-1 by [Reboot] after a drain by force", "drains", kHas,
        "1 findings"}},
      {"force leaves a machine alone that is there", [](Observation& seen) { seen.is_forced = true; }, {"there", kHas}},
      {"force overwrites edits, also those of ignored things",
       [](Observation& seen) {
         Want(seen, SecondConfig());
         AddFinding(seen, "/etc/motd");
         AddFinding(seen, "/etc/issue");
         Ignore(seen, "/etc/issue");
         seen.is_forced = true;
       },
       {"change rendered-worker-1 to rendered-worker-2 by [Reboot] after a drain by force", "drains", kPolicy, kHas,
        "1 findings", "1 warnings", kInAnHour}},
      {"force does not touch keys that cannot be read",
       [](Observation& seen) {
         Want(seen, SecondConfig());
         seen.out_of_reach = {"core"};
         seen.is_forced = true;
       },
       {"change rendered-worker-1 to rendered-worker-2 by [Reboot] after a drain by force without core", "drains",
        kPolicy, kHas}},

      // Changes that cannot be made.
      {"a section that is set when a machine is installed cannot change",
       [](Observation& seen) {
         Want(seen, SecondConfig());
         seen.to->ignition.storage.disks.emplace_back().device = "/dev/sda";
       },
       {"unreconcilable: can't reconcile config rendered-worker-1 with rendered-worker-2: configs rendered-worker-1, "
        "rendered-worker-2 are not reconcilable: new machineconfig \"rendered-worker-1\" is not reconcilable against "
        "\"rendered-worker-2\": ignition disks section contains changes",
        kPolicy, kHas}},
      {"an override lets that section change",
       [](Observation& seen) {
         Want(seen, SecondConfig());
         seen.to->ignition.storage.disks.emplace_back().device = "/dev/sda";
         seen.overrides.storage = {"Disks"};
       },
       {"change rendered-worker-1 to rendered-worker-2 by [None]", kPolicy, kHas}},
      {"a name that leads elsewhere is an error",
       [](Observation& seen) { Want(seen, SecondConfig().WithUnit("a/b.service", "[Service]\n")); },
       {"failure: \"a/b.service\" is not a name for a unit; write it with letters, digits and :-_.\\@ only", kPolicy,
        kHas}},
      {"a machine without deployments cannot change its OS",
       [](Observation& seen) {
         Want(seen, SecondConfig());
         seen.to->object.spec.os_image_url = kImage;
         seen.abilities.has_deployments = false;
       },
       {"failure: this machine is not a running OSTree host, so it cannot change OS image (spec.osImageURL); remove "
        "spec.osImageURL",
        kPolicy, kHas}},
      {"a machine without OSTree leaves the OS aside",
       [](Observation& seen) {
         Want(seen, SecondConfig());
         seen.current.object.spec.os_image_url = kImage;
         seen.to->object.spec.os_image_url = kOtherImage;
         seen.abilities = {};
         seen.abilities.is_package_based = true;
       },
       {"change rendered-worker-1 to rendered-worker-2 by [None]", kPolicy, kHas,
        "left aside: this machine has no OSTree, so these parts of the config are not applied: OS image"}},
      {"registries that cannot be read are an error",
       [](Observation& seen) { Want(seen, SecondConfig().WithFile("/etc/containers/registries.conf", "data:,%5B")); },
       {"failure: failed decoding TOML content from file /etc/containers/registries.conf: toml: line 1: unexpected '='",
        kPolicy, kHas}},
      {"an action that this version does not know is an error",
       [](Observation& seen) {
         Want(seen, SecondConfig());
         seen.policy.files.front().actions.front().type = "Dance";
       },
       {"failure: this version of Pintle does not know the action \"Dance\"", kPolicy, kHas}},
      {"contents that cannot be read are an error",
       [](Observation& seen) {
         Want(seen, SecondConfig());
         seen.current.ignition.storage.files.front().contents.source = "data:;base64,?";
         Ignore(seen, "/etc/issue");
       },
       {"failure: could not decode file \"/etc/motd\": not a data URL: invalid data character", kHas, "1 warnings",
        kInAnHour}},

      // A new machine.
      {"the first config of a new machine brings its OS, without a drain",
       [](Observation& seen) { ComeWithAnotherOs(seen); },
       {"change rendered-worker-1 to rendered-worker-1 by [Reboot]", "1 findings"}},
      {"a new machine that is to have another config is drained",
       [](Observation& seen) {
         Want(seen, SecondConfig());
         ComeWithAnotherOs(seen);
       },
       {"change rendered-worker-1 to rendered-worker-2 by [Reboot] after a drain", "drains", kPolicy, "1 findings"}},
      {"a new machine with other findings has drifted",
       [](Observation& seen) {
         ComeWithAnotherOs(seen);
         AddFinding(seen, "/etc/motd");
       },
       {kDrift + "os differs; /etc/motd differs", "2 findings"}},
      {"a machine that is not new has drifted from its OS",
       [](Observation& seen) {
         ComeWithAnotherOs(seen);
         seen.is_new = false;
       },
       {kDrift + "os differs", "1 findings"}},
      {"force drains a new machine, too",
       [](Observation& seen) {
         ComeWithAnotherOs(seen);
         seen.as_booted.reset();
         seen.is_forced = true;
       },
       {"change rendered-worker-1 to rendered-worker-1 by [Reboot] after a drain by force", "drains", "1 findings"}},
      {"a new machine without findings changes like any other",
       [](Observation& seen) {
         Want(seen, SecondConfig());
         seen.is_new = true;
         seen.is_on_disk = false;
         seen.is_assumed = true;
         seen.out_of_reach = {"core"};
       },
       {"change rendered-worker-1 to rendered-worker-2 by [None] without core", kPolicy}},
      {"a new machine that has its config on the disk has drifted from its OS",
       [](Observation& seen) {
         ComeWithAnotherOs(seen);
         seen.is_on_disk = true;
         seen.is_assumed = false;
       },
       {kDrift + "os differs", kHas, "1 findings"}},
  };
}

TEST(Survey, HasTheResultOfTheTable) {
  for (const SurveyRow& row : SurveyRows()) {
    Observation seen = SeenMachine();
    row.given(seen);
    const Goal goal = row.goal.value_or(GoalOf(seen.to ? *seen.to : seen.current));
    EXPECT_EQ(SurveyText(SurveyOf(seen, goal, kMoment)), fmt::format("{}", fmt::join(row.expected, "\n"))) << row.name;
  }
}

TEST(Survey, HasEverythingThatTheChangeNeeds) {
  Observation seen = SeenMachine();
  Want(seen, SecondConfig());
  seen.to->writers = {{"/etc/motd", {"99-motd"}}};
  const Survey survey = SurveyOf(seen, GoalOf(*seen.to), kMoment);
  ASSERT_TRUE(survey.prepared);
  EXPECT_EQ(survey.prepared->plan.writers, seen.to->writers);
  // The plan refers to the configs that are kept beside it.
  ASSERT_EQ(survey.prepared->plan.difference.changed_files.size(), 1u);
  EXPECT_EQ(survey.prepared->plan.difference.changed_files[0].to, &survey.prepared->to.ignition.storage.files[0]);
  ASSERT_TRUE(survey.policy);
  EXPECT_EQ(survey.policy->files.front().path, "/etc");
  EXPECT_THAT(survey.paths, ElementsAre("/etc/motd", "/etc/issue"));
}

TEST(Survey, PlansTheFirstChangeFromTheOsOfTheInstalledMachine) {
  Observation seen = SeenMachine();
  ComeWithAnotherOs(seen);
  const Survey survey = SurveyOf(seen, GoalOf(seen.current), kMoment);
  ASSERT_TRUE(survey.prepared);
  EXPECT_EQ(survey.prepared->from.object.spec.os_image_url, kOtherImage);
  EXPECT_EQ(survey.prepared->to.object.spec.os_image_url, kImage);
}

TEST(Survey, ListsIgnoredFindingsWithTheCommandThatEndsIgnoringThem) {
  Observation seen = SeenMachine();
  AddFinding(seen, "/etc/motd");
  AddFinding(seen, "/etc/issue");
  Ignore(seen, "/etc/issue");
  const Survey survey = SurveyOf(seen, GoalOf(seen.current), kMoment);
  EXPECT_THAT(survey.findings_text, HasSubstr("pintle ignore --until 1d /etc/motd"));
  EXPECT_THAT(survey.findings_text, HasSubstr("pintle ignore --end /etc/issue"));
  EXPECT_THAT(survey.findings_text, HasSubstr("\"ignoredUntil\": \"2027-01-15T09:00:00Z\""));
  EXPECT_THAT(survey.warnings, ElementsAre(HasSubstr("/etc/issue is ignored until 2027-01-15T09:00:00Z")));
}

}  // namespace
}  // namespace pintle::agent
