// SPDX-License-Identifier: Apache-2.0
#include "host/systemd/systemd_offline.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include "host/systemd/enablement.h"
#include "unit/host/systemd/unit_tree.h"

extern char** environ;

namespace pintle::host {
namespace {

namespace fs = std::filesystem;
using resource::Enablement;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using Links = std::map<std::string, std::string>;

resource::Put<resource::UnitState> PutUnit(const std::string& unit, Enablement enablement) {
  return {unit, {{enablement}}};
}

Result<> PutAll(const UnitTree& tree, const std::vector<resource::Put<resource::UnitState>>& units) {
  const Root root = tree.root();
  return SystemdOffline(root).PutEnablement(units);
}

constexpr const char* kWanted = "[Service]\nExecStart=true\n[Install]\nWantedBy=multi-user.target\n";

TEST(SystemdOffline, EnablesAUnitAsItsInstallSectionDescribes) {
  const UnitTree tree;
  tree.Put("usr/lib/systemd/system/a.service",
           "[Install]\nWantedBy=multi-user.target\nRequiredBy=b.target\nUpheldBy=c.service\nAlias=x.service\n");
  EXPECT_TRUE(Succeeded(PutAll(tree, {PutUnit("a.service", Enablement::kEnabled)})));
  const std::string file = "/usr/lib/systemd/system/a.service";
  EXPECT_EQ(tree.Links(), (Links{{"b.target.requires", ""},
                                 {"b.target.requires/a.service", file},
                                 {"c.service.upholds", ""},
                                 {"c.service.upholds/a.service", file},
                                 {"multi-user.target.wants", ""},
                                 {"multi-user.target.wants/a.service", file},
                                 {"x.service", file}}));
}

TEST(SystemdOffline, DisablesAUnitAndLeavesNoEmptyFolder) {
  const UnitTree tree;
  tree.Put("usr/lib/systemd/system/a.service", kWanted);
  tree.Link("etc/systemd/system/multi-user.target.wants/a.service", "/usr/lib/systemd/system/a.service");
  EXPECT_TRUE(Succeeded(PutAll(tree, {PutUnit("a.service", Enablement::kDisabled)})));
  EXPECT_THAT(tree.Links(), IsEmpty());
}

TEST(SystemdOffline, EnablingAgainRemovesTheLinksOfAnEarlierInstallSection) {
  const UnitTree tree;
  tree.Put("etc/systemd/system/a.service", kWanted);
  tree.Link("etc/systemd/system/graphical.target.wants/a.service", "/etc/systemd/system/a.service");
  EXPECT_TRUE(Succeeded(PutAll(tree, {PutUnit("a.service", Enablement::kEnabled)})));
  EXPECT_THAT(tree.Links(), ElementsAre(Pair("a.service", ""), Pair("multi-user.target.wants", ""),
                                        Pair("multi-user.target.wants/a.service", "/etc/systemd/system/a.service")));
}

TEST(SystemdOffline, EnablingATemplateLeavesInstancesThatWereEnabledByName) {
  const UnitTree tree;
  tree.Put("usr/lib/systemd/system/a@.service", "[Install]\nWantedBy=multi-user.target\nDefaultInstance=one\n");
  tree.Link("etc/systemd/system/multi-user.target.wants/a@two.service", "/usr/lib/systemd/system/a@.service");
  EXPECT_TRUE(Succeeded(PutAll(tree, {PutUnit("a@.service", Enablement::kEnabled)})));
  EXPECT_THAT(tree.Links(),
              ElementsAre(Pair("multi-user.target.wants", ""),
                          Pair("multi-user.target.wants/a@one.service", "/usr/lib/systemd/system/a@.service"),
                          Pair("multi-user.target.wants/a@two.service", "/usr/lib/systemd/system/a@.service")));
}

TEST(SystemdOffline, AUnitWithoutAFileLosesTheLinksThatNameIt) {
  for (const Enablement enablement : {Enablement::kEnabled, Enablement::kDisabled, Enablement::kPreset}) {
    const UnitTree tree;
    tree.Link("etc/systemd/system/multi-user.target.wants/gone.service", "/usr/lib/systemd/system/gone.service");
    tree.Link("etc/systemd/system/other.service", "/usr/lib/systemd/system/gone.service");
    tree.Link("etc/systemd/system/b.target.requires/other.service", "/usr/lib/systemd/system/gone.service");
    EXPECT_TRUE(Succeeded(PutAll(tree, {PutUnit("gone.service", enablement)})));
    EXPECT_THAT(tree.Links(), IsEmpty());
  }
}

TEST(SystemdOffline, PresetsSkipUnitsThatCannotBeEnabled) {
  const UnitTree tree;
  tree.Link("etc/systemd/system/masked.service", "/dev/null");
  tree.Put("run/systemd/generator/made.service", kWanted);
  tree.Put("usr/lib/systemd/system/a.service", kWanted);
  EXPECT_TRUE(Succeeded(
      PutAll(tree, {PutUnit("masked.service", Enablement::kPreset), PutUnit("made.service", Enablement::kPreset),
                    PutUnit("a.service", Enablement::kPreset)})));
  EXPECT_THAT(tree.Links(),
              ElementsAre(Pair("masked.service", "/dev/null"), Pair("multi-user.target.wants", ""),
                          Pair("multi-user.target.wants/a.service", "/usr/lib/systemd/system/a.service")));
}

TEST(SystemdOffline, APresetMayLeaveAUnitUnchanged) {
  const UnitTree tree;
  tree.Put("usr/lib/systemd/system/a.service", kWanted);
  tree.Put("usr/lib/systemd/system-preset/10-a.preset", "ignore a.*\ndisable *\n");
  tree.Link("etc/systemd/system/graphical.target.wants/a.service", "/usr/lib/systemd/system/a.service");
  const Links before = tree.Links();
  EXPECT_TRUE(Succeeded(PutAll(tree, {PutUnit("a.service", Enablement::kPreset)})));
  EXPECT_EQ(tree.Links(), before);
}

TEST(SystemdOffline, AnErrorNamesTheUnit) {
  const UnitTree tree;
  tree.Put("usr/lib/systemd/system/good.service", kWanted);
  tree.Put("usr/lib/systemd/system/bad.service", "[Install]\nWantedBy=nonsense\n");
  tree.Link("etc/systemd/system/masked.service", "/dev/null");
  EXPECT_EQ(MessageOf(PutAll(
                tree, {PutUnit("good.service", Enablement::kEnabled), PutUnit("bad.service", Enablement::kEnabled)})),
            "enabling bad.service: \"nonsense\" is not the name of a unit");
  EXPECT_EQ(MessageOf(PutAll(tree, {PutUnit("masked.service", Enablement::kEnabled)})),
            "enabling masked.service: the unit masked.service is masked");
  EXPECT_THAT(MessageOf(PutAll(tree, {PutUnit("../x", Enablement::kEnabled)})),
              HasSubstr("\"../x\" is not the name of a unit"));
}

TEST(SystemdOffline, DisablesAUnitAndItsAliasEvenIfTheUnitNamesOthersThatAreNoUnits) {
  const UnitTree tree;
  tree.Put("usr/lib/systemd/system/a.service", "[Install]\nWantedBy=multi-user.target\nAlso=other\n");
  tree.Link("etc/systemd/system/b.service", "/usr/lib/systemd/system/a.service");
  tree.Link("etc/systemd/system/multi-user.target.wants/a.service", "/usr/lib/systemd/system/a.service");
  EXPECT_TRUE(Succeeded(
      PutAll(tree, {PutUnit("a.service", Enablement::kDisabled), PutUnit("b.service", Enablement::kDisabled)})));
  EXPECT_THAT(tree.Links(), IsEmpty());
}

TEST(SystemdOffline, ASpecifierThatOnlyARunningMachineKnowsIsAnError) {
  const UnitTree tree;
  tree.Put("usr/lib/systemd/system/a.service", "[Install]\nWantedBy=%H.target\n");
  EXPECT_THAT(MessageOf(PutAll(tree, {PutUnit("a.service", Enablement::kEnabled)})),
              HasSubstr("\"%H\" cannot be expanded"));
}

// ---- compared with systemctl ----------------------------------------------------------------------------------------

int StatusOf(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, arguments.front(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (failed != 0 || ::waitpid(child, &status, 0) != child) throw std::runtime_error("cannot run " + words.front());
  return WEXITSTATUS(status);
}

// Makes random units, links and presets.  They have only a few different names, so that they conflict.
class RandomMachine {
 public:
  explicit RandomMachine(unsigned seed) : random_(seed) {}

  void Fill(const UnitTree& tree) {
    for (const std::string& unit : kUnits) {
      if (Chance(75)) PutUnit(tree, unit);
    }
    for (int links = Number(4); links > 0; --links) AddLink(tree);
    for (int files = Number(4); files > 0; --files) PutPresets(tree);
  }

  std::string Verb() { return Pick({"enable", "enable", "disable", "preset"}); }
  std::vector<std::string> UnitNames() {
    std::vector<std::string> words = {Name()};
    while (Chance(30)) words.push_back(Name());
    return words;
  }

 private:
  static const std::vector<std::string> kUnits;
  static const std::vector<std::string> kTargets;

  int Number(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  bool Chance(int percent) { return Number(100) < percent; }
  std::string Pick(const std::vector<std::string>& all) {
    return all[static_cast<std::size_t>(Number(static_cast<int>(all.size())))];
  }

  std::string Name() {
    return Chance(80) ? Pick(kUnits) : Pick({"t@one.service", "t@two.service", "gone.service", "n@1.socket"});
  }

  std::string InstallLine() {
    switch (Number(9)) {
      case 0:
      case 1:
        return "WantedBy=" + Pick(kTargets) + (Chance(30) ? " " + Pick(kTargets) : "");
      case 2:
        return "RequiredBy=\"" + Pick(kTargets) + "\"";
      case 3:
        return "Alias=" + Pick({"x.service", "y.service", "x@.service", "a.service", "x.timer", "t@three.service",
                                "multi-user.target.wants/a.service", "x-%p.service", "%j.service", "x@%i.service"});
      case 4:
        return "Also=" + Pick({"a.service", "b.socket", "t@one.service", "t@.service", "%p.timer", "gone.service"});
      case 5:
        return "DefaultInstance=" + Pick({"one", "two", "%p"});
      case 6:
        return "WantedBy=";
      case 7:
        return "WantedBy=multi-user.target \\\n# a comment\n  graphical.target";
      default:
        return Pick({"; a comment", "Unknown=1", "[Service]\nWantedBy=no.target\n[Install]", "WantedBy=%i.target",
                     "RequiredBy=%n.wants.target", "WantedBy=%p%%.target", "WantedBy=x-%N.slice", "Alias=%m.service"});
    }
  }

  std::string UnitContents() {
    std::string text = "[Unit]\nDescription=x\n";
    if (Chance(90)) text += "[Install]\n";
    for (int lines = Number(5); lines > 0; --lines) text += InstallLine() + "\n";
    return text;
  }

  void PutUnit(const UnitTree& tree, const std::string& unit) {
    const std::string folder = Pick({"etc/systemd/system", "usr/lib/systemd/system", "usr/lib/systemd/system",
                                     "usr/local/lib/systemd/system", "run/systemd/system"});
    if (Chance(4)) {
      tree.Put("opt/" + unit, UnitContents());
      tree.Link("etc/systemd/system/" + unit, "/opt/" + unit);
    } else if (Chance(4)) {
      tree.Link(folder + "/" + unit, "/dev/null");
    } else {
      tree.Put(folder + "/" + unit, Chance(97) ? UnitContents() : "");
    }
    if (Chance(10))
      tree.Put(Pick({"etc", "usr/lib"}) + "/systemd/system/" + unit + ".d/" + Pick({"10", "20"}) + ".conf",
               UnitContents());
  }

  void AddLink(const UnitTree& tree) {
    const std::string unit = Pick(kUnits);
    const std::string target =
        "/" + Pick({"usr/lib/systemd/system/", "etc/systemd/system/", "usr/lib/systemd/system/"}) + unit;
    const std::string name =
        Pick({Pick(kTargets) + ".wants/" + unit, Pick(kTargets) + ".requires/" + unit, "x.service", "y.service",
              "multi-user.target.wants/t@four.service", "multi-user.target.wants/x.service"});
    const std::string folder = Chance(85) ? "etc/systemd/system/" : "usr/lib/systemd/system/";
    if (!fs::is_symlink(tree / (folder + name)) && !fs::exists(tree / (folder + name)))
      tree.Link(folder + name, target);
  }

  void PutPresets(const UnitTree& tree) {
    std::string text = "# presets\n\n";
    for (int lines = Number(5); lines > 0; --lines) {
      text += Pick({"enable ", "disable ", "enable\t", "  disable ", "nonsense "}) +
              Pick({"a.service", "*.socket", "t@.service one two", "t@.service", "t@one.service", "b.*", "c.timer  ",
                    "[ab].service", "a.service b.service", "?-*.service"}) +
              "\n";
    }
    if (Chance(30)) text += "disable *\n";
    tree.Put(Pick({"etc", "run", "usr/local/lib", "usr/lib"}) + "/systemd/system-preset/" +
                 Pick({"10-a", "50-b", "90-c"}) + ".preset",
             text);
  }

  std::mt19937 random_;
};

const std::vector<std::string> RandomMachine::kUnits = {"a.service", "a.timer",     "b.service",  "b.socket",
                                                        "c.timer",   "d-e.service", "t@.service", "n@.socket",
                                                        "x.service", "e.mount",     "m.target"};
const std::vector<std::string> RandomMachine::kTargets = {"multi-user.target", "graphical.target", "m.target",
                                                          "o@.target", "o@1.target"};

Result<> RunOurs(const std::string& verb, const Root& root, const std::vector<std::string>& units) {
  if (verb == "enable") return EnableUnits(root, units);
  return verb == "disable" ? DisableUnits(root, units) : PresetUnits(root, units);
}

std::vector<std::string> Systemctl(const UnitTree& tree, const std::string& verb,
                                   const std::vector<std::string>& units) {
  std::vector<std::string> words = {"systemctl", "--root=" + tree.path().string(), "--force", verb};
  words.insert(words.end(), units.begin(), units.end());
  return words;
}

TEST(SystemdOffline, ChangesTheLinksThatSystemctlChanges) {
  constexpr unsigned kMachines = 100;
  if (StatusOf({"systemctl", "--version"}) != 0) FAIL() << "systemctl is not installed, but this test needs it";
  int successes = 0;
  int changes = 0;
  for (unsigned seed = 0; seed < kMachines; ++seed) {
    const UnitTree ours;
    const UnitTree theirs;
    RandomMachine(seed).Fill(ours);
    RandomMachine machine(seed);
    machine.Fill(theirs);
    for (int step = 0; step < 3; ++step) {
      const std::string verb = machine.Verb();
      const std::vector<std::string> units = machine.UnitNames();
      const Links before = theirs.Links();
      const int status = StatusOf(Systemctl(theirs, verb, units));
      const Result<> result = RunOurs(verb, ours.root(), units);
      SCOPED_TRACE(fmt::format("machine {}, step {}: {} {}: exit status {}, {}", seed, step, verb,
                               fmt::join(units, " "), status, result ? "success" : result.error().message()));
      // systemctl looks up a unit's state before it disables the unit, and fails on a broken link of that name.
      if (verb == "disable" && status != 0) break;
      ASSERT_EQ(result.has_value(), status == 0);
      ASSERT_EQ(ours.Links(), theirs.Links());
      successes += status == 0 ? 1 : 0;
      changes += theirs.Links() == before ? 0 : 1;
    }
  }
  fmt::print("{} calls of {} succeeded, {} changed something\n", successes, kMachines * 3, changes);
  EXPECT_GT(changes, 60);
}

}  // namespace
}  // namespace pintle::host
