// SPDX-License-Identifier: Apache-2.0
#include "crash/agent_machine.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "agent/agent.h"
#include "agent/local_source.h"
#include "base/clock.h"
#include "crash/stopped_time.h"
#include "event/loop.h"
#include "event/watches.h"
#include "host/this_machine.h"
#include "ignition/config.h"
#include "json/fields.h"
#include "json/parse.h"
#include "support/small_machine.h"
#include "support/tree.h"

namespace pintle {

// Replaces the function of base/memory.cc, which would take a third of the time of these short-lived processes.
void ReleaseIdleMemory() {}

}  // namespace pintle

namespace pintle::crash {

namespace fs = std::filesystem;
using LastReport = AgentMemory::LastReport;

namespace {

// Without a report for this long, the agent has nothing left to do: it never waits longer before its next try or look.
constexpr auto kQuiet = std::chrono::seconds(90);
constexpr auto kQuietWhenDone = std::chrono::seconds(5);
// An agent that is still busy after this time will never rest.
constexpr auto kPatience = std::chrono::minutes(30);
// If a fault lasts, it ends when the agent has reported this many failures.
constexpr int kFailuresUntilFaultEnds = 3;
constexpr int kMaxLives = 8;

constexpr const char* kConfigs = "srv/config.d";
constexpr const char* kConfig = "srv/config.d/50-test.ign";
constexpr const char* kPolicy = "srv/policy.json";
constexpr const char* kChange = "var/lib/pintle/change";
constexpr const char* kLock = "var/lib/pintle/lock";

template <std::size_t size>
void CopyText(char (&place)[size], std::string_view text) {
  place[text.copy(place, size - 1)] = '\0';
}

std::size_t HashOf(const std::string& text) { return std::hash<std::string>()(text); }

// Returns a hash of all units.
std::size_t HashOfUnits(const fs::path& top) { return HashOf(DescribeTree(top / "etc/systemd")); }
// Returns a hash of the files that watcher.service reads when it starts.
std::size_t HashOfFiles(const fs::path& top) {
  std::string all;
  for (const char* name : {"etc/motd", "etc/new/deep/file", "etc/other"}) {
    std::ifstream in(top / name, std::ios::binary);
    all += fmt::format("{} {}\n", in.good(), std::string(std::istreambuf_iterator<char>(in), {}));
  }
  return HashOf(all);
}

// Describes the first line in which the two texts differ.
std::string Difference(const std::string& known, const std::string& now) {
  std::istringstream left(known);
  std::istringstream right(now);
  std::string is_known;
  std::string is_now;
  while (std::getline(left, is_known) && std::getline(right, is_now)) {
    if (is_known != is_now) return fmt::format("\"{}\" instead of \"{}\"", is_now, is_known);
  }
  return "more or fewer files";
}

void CopyTree(const fs::path& from, const fs::path& to) {
  struct stat status;
  if (::lstat(from.c_str(), &status) != 0) throw std::runtime_error("lstat " + from.string());
  if (S_ISDIR(status.st_mode)) {
    fs::create_directory(to);
    for (const fs::directory_entry& entry : fs::directory_iterator(from)) {
      CopyTree(entry.path(), to / entry.path().filename());
    }
  } else if (S_ISLNK(status.st_mode)) {
    fs::copy_symlink(from, to);
  } else {
    fs::copy_file(from, to);
  }
  if (::lchown(to.c_str(), status.st_uid, status.st_gid) != 0) throw std::runtime_error("lchown " + to.string());
  if (!S_ISLNK(status.st_mode)) fs::permissions(to, fs::perms(status.st_mode & 07777));
}

// Reads the units at a reload, as systemd does, and has a service that reads its files when it starts.
class RememberingSystemd final : public host::Systemd {
 public:
  RememberingSystemd(const Root& root, fs::path top, AgentMemory& memory)
      : links_(root), top_(std::move(top)), memory_(memory) {}

  Result<> PutEnablement(std::span<const resource::Put<resource::UnitState>> units) override {
    return links_.PutEnablement(units);
  }
  Result<resource::UnitLinks::State> ObserveLinks() override { return links_.ObserveLinks(); }
  Result<> PutLinks(const resource::UnitLinks::State& links) override { return links_.PutLinks(links); }
  Result<host::UnitStatus> Observe(const std::string& unit) override { return links_.Observe(unit); }

  Result<> Reload() override {
    if (!CountCallOfFake()) return Error(ErrorKind::kUnavailable, "systemd does not answer");
    const Uncounted reading;
    memory_.units_read = HashOfUnits(top_);
    return {};
  }
  Result<> Run(host::JobKind, const std::string& unit, std::chrono::milliseconds) override {
    if (!CountCallOfFake()) return Error(ErrorKind::kUnavailable, "systemd does not answer");
    // The service reads its files, even if it then fails.
    const Uncounted reading;
    memory_.files_read = HashOfFiles(top_);
    if (memory_.failing_jobs == 0) return {};
    --memory_.failing_jobs;
    return Error(ErrorKind::kInvalid, unit + " does not start");
  }

 private:
  change::RecordingSystemd links_;
  fs::path top_;
  AgentMemory& memory_;
};

// Ends the agent's loop at a reboot, and with it the process.
class RebootingPower final : public host::Power {
 public:
  RebootingPower(event::Loop& loop, AgentMemory& memory) : loop_(loop), memory_(memory) {}

  Result<> Reboot(const std::string&) override {
    if (!CountCallOfFake()) return Error(ErrorKind::kUnavailable, "logind does not answer");
    memory_.is_rebooting = true;
    loop_.Stop();
    return {};
  }
  Result<host::Inhibitor> InhibitShutdown(const std::string&) override { return host::Inhibitor(); }

 private:
  event::Loop& loop_;
  AgentMemory& memory_;
};

// Forwards everything to the real source, and calls the listeners.
class ObservedSource final : public agent::Source {
 public:
  struct Listeners {
    std::function<void(const agent::Goal& goal)> wanted;
    std::function<void()> changing;
    std::function<void(const agent::Goal& goal)> settled;
    std::function<void(const std::string& text)> fault;
  };

  ObservedSource(std::unique_ptr<agent::Source> source, Listeners listeners)
      : source_(std::move(source)), listeners_(std::move(listeners)) {}

  void Begin(Listener listener) override {
    listener.wanted = [this, forward = std::move(listener.wanted)](agent::Goal goal) {
      listeners_.wanted(goal);
      forward(std::move(goal));
    };
    source_->Begin(std::move(listener));
  }
  void Fetch(const std::optional<agent::Goal>& current, const agent::Goal& wanted,
             std::function<void(Result<agent::SurveyRequest> request)> done) override {
    source_->Fetch(current, wanted, std::move(done));
  }
  void AskForDrain(const agent::Goal& goal) override { source_->AskForDrain(goal); }
  void StopWaiting() override { source_->StopWaiting(); }
  void ReportWork(const agent::Prepared& change) override { source_->ReportWork(change); }
  void ReportChanging(const agent::Prepared& change) override {
    listeners_.changing();
    source_->ReportChanging(change);
  }
  void ReportChanged(const agent::Prepared& change, bool needs_reboot) override {
    source_->ReportChanged(change, needs_reboot);
  }
  void ReportReboot(const std::string& why, std::function<void()> done) override {
    source_->ReportReboot(why, std::move(done));
  }
  void ReportSettled(const agent::Goal& goal) override {
    listeners_.settled(goal);
    source_->ReportSettled(goal);
  }
  void ReportFault(agent::Fault fault, const std::string& text) override {
    listeners_.fault(text);
    source_->ReportFault(fault, text);
  }

 private:
  std::unique_ptr<agent::Source> source_;
  Listeners listeners_;
};

}  // namespace

// ---- in the agent's process -----------------------------------------------------------------------------------------

class AgentMachine::Life {
 public:
  Life(AgentMachine& machine, bool fault_lasts)
      : machine_(machine),
        memory_(*machine.memory_),
        fault_lasts_(fault_lasts),
        quiet_(*loop_, [this] { BecomeQuiet(); }),
        patience_(*loop_, [this] { loop_->Stop(); }) {}

  bool Live() {
    const auto lived = TryToLive();
    if (!lived) Complain("the agent has ended: " + lived.error().message());
    return lived.has_value();
  }

 private:
  Result<> TryToLive() {
    auto source = TRY(agent::LocalSource::Create(
        *loop_, root_, clock_, {.directory = machine_.top_ / kConfigs, .policy_file = machine_.top_ / kPolicy}));
    agent::Settings settings;
    settings.watch_logins = false;
    settings.metrics_file = "";
    const auto agent = TRY(agent::Agent::Create(
        {.loop = *loop_,
         .clock = clock_,
         .machine = std::make_shared<host::ThisMachine>(
             TRY(Root::Open(machine_.top_.string())),
             std::make_unique<RememberingSystemd>(root_, machine_.top_, memory_),
             std::make_unique<RebootingPower>(*loop_, memory_), nullptr, host::Labels()),
         .settings = std::move(settings),
         .kind = host::AgentSource::kLocal,
         .node = "node",
         .source = std::make_unique<ObservedSource>(
             std::move(source),
             ObservedSource::Listeners{[this](const agent::Goal&) { Wanted(); }, [this] { Changing(); },
                                       [this](const agent::Goal& goal) { Settled(goal); },
                                       [this](const std::string& text) { Failed(text); }})}));
    agent->Begin();
    quiet_.After(kQuiet);
    patience_.After(kPatience);
    return loop_->Run();
  }

  void Settled(const agent::Goal& goal) {
    const Uncounted looking;
    quiet_.After(kQuietWhenDone);
    memory_.last_report = LastReport::kDone;
    CopyText(memory_.goal, goal.config);
    if (const std::string wrong = machine_.Wrong(goal.config); !wrong.empty()) {
      Complain(fmt::format("reported that it is done with {}: {}", goal.config, wrong));
    }
  }

  void Failed(const std::string& text) {
    const Uncounted looking;
    quiet_.After(kQuiet);
    memory_.last_report = LastReport::kFault;
    CopyText(memory_.fault, text);
    if (text.empty()) Complain("reported a fault without a reason");
    ++memory_.faults;
    // A change that could not be undone at once is reported before the agent ends it by itself.
    const bool is_not_undone_yet =
        (fault_lasts_ && !IsFaultOver()) || text.find("when this was undone") != std::string::npos;
    if (fault_lasts_ && memory_.faults == kFailuresUntilFaultEnds) EndFault();
    const bool needs_newer_pintle = text.find("a newer Pintle wrote it") != std::string::npos;
    if ((is_not_undone_yet || needs_newer_pintle) && fs::exists(machine_.top_ / kChange / "journal.json")) return;
    const std::string now = machine_.Now();
    const bool is_whole = std::any_of(machine_.known_.begin(), machine_.known_.end(),
                                      [&](const auto& known) { return known.second.contains(now); });
    if (!is_whole && !machine_.known_.empty()) {
      Complain(fmt::format("reported \"{}\", but the files are those of no config", text));
    }
  }

  // Sets another config, and claims the machine until the agent has received that config.
  void Changing() {
    if (!machine_.in_between_ || !memory_.changes_its_mind) return;
    const Uncounted writing;
    memory_.changes_its_mind = false;
    lock_ = UniqueFd(::open((machine_.top_ / kLock).c_str(), O_RDWR | O_CLOEXEC));
    if (!lock_ || ::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) Complain("the machine is claimed already");
    machine_.Write(machine_.in_between_);
  }
  void Wanted() { lock_ = UniqueFd(); }

  void BecomeQuiet() {
    if (!fault_lasts_ || IsFaultOver()) return loop_->Stop();
    EndFault();
    quiet_.After(kQuiet);
  }

  void Complain(const std::string& complaint) {
    if (memory_.false_report[0] == '\0') CopyText(memory_.false_report, complaint);
    loop_->Stop();
  }

  AgentMachine& machine_;
  AgentMemory& memory_;
  const bool fault_lasts_;
  const SystemClock clock_;
  const Root root_ = ValueOf(Root::Open(machine_.top_.string()));
  const std::unique_ptr<event::Loop> loop_ = ValueOf(event::Loop::Create(event::Loop::Jobs::kInTurns));
  event::Timer quiet_;
  event::Timer patience_;
  UniqueFd lock_;
};

// ---- in the process of the test -------------------------------------------------------------------------------------

AgentMachine::AgentMachine() {
  std::string name = (fs::temp_directory_path() / "pintle-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
  directory_ = name;
  fs::permissions(directory_, fs::perms(0755));
  top_ = directory_ / "machine";
  void* const shared = ::mmap(nullptr, sizeof(AgentMemory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::runtime_error("mmap");
  memory_ = new (shared) AgentMemory;
}

AgentMachine::~AgentMachine() {
  ::munmap(memory_, sizeof(AgentMemory));
  fs::remove_all(directory_);
}

void AgentMachine::MakeNew() {
  fs::remove_all(top_);
  fs::create_directory(top_);
  const change::SmallMachine machine(top_);
  policy_ = json::ToText(json::Encode(machine.policy));
  fs::create_directories(top_ / "srv");
  UsePolicy(true);
  // The agent gets absolute paths of this process.  The link makes them valid below the machine's root as well.
  fs::create_directories(top_ / directory_.relative_path());
  fs::create_directory_symlink("/", top_ / top_.relative_path());
  *memory_ = AgentMemory();
  Boot();
}

void AgentMachine::Save() {
  fs::remove_all(directory_ / "kept");
  CopyTree(top_, directory_ / "kept");
  kept_ = *memory_;
}

void AgentMachine::MakeSaved() {
  fs::remove_all(top_);
  CopyTree(directory_ / "kept", top_);
  *memory_ = kept_;
}

void AgentMachine::Write(const std::optional<plan::TestConfig>& config) const {
  fs::create_directories(top_ / kConfigs);
  if (!config) {
    fs::remove(top_ / kConfig);
    return;
  }
  const plan::ParsedConfig parsed = *config;
  const fs::path beside = top_ / kConfigs / ".beside";
  std::ofstream(beside) << json::ToText(ignition::Encode(parsed.ignition));
  fs::rename(beside, top_ / kConfig);
}

void AgentMachine::UsePolicy(bool there_is_one) const {
  std::ofstream(top_ / kPolicy) << (there_is_one ? policy_ : "{}");
}

bool AgentMachine::ComesToRest(const Fault& fault, AfterCut next, int life) {
  bool was_met = false;
  for (int now = 0; now < kMaxLives; ++now) {
    const Fault faulty = now == life ? fault : Fault();
    const History history = LivesOnce(faulty);
    was_met = was_met || (now == life && history.fault_met);
    if (memory_->is_rebooting || (history.ending == Ending::kCutShort && next == AfterCut::kPowerCut)) {
      Boot();
    } else if (history.ending != Ending::kCutShort) {
      return was_met;
    }
  }
  CopyText(memory_->false_report, "the machine reboots again and again");
  return was_met;
}

History AgentMachine::LivesOnce(const Fault& fault) {
  return RunWith(fault, [&] {
    StopTime();
    return Life(*this, fault.lasts).Live();
  });
}

// Boots the machine; its services start with the files that are on the disk.
void AgentMachine::Boot() {
  memory_->is_rebooting = false;
  fs::create_directories(top_ / "proc/sys/kernel/random");
  std::ofstream(top_ / "proc/sys/kernel/random/boot_id") << ++memory_->boots;
  memory_->units_read = HashOfUnits(top_);
  memory_->files_read = HashOfFiles(top_);
}

std::string AgentMachine::Now() const {
  std::string text;
  for (const char* part : {"etc", "home", "usr"}) text += DescribeTree(top_ / part);
  return text;
}

std::string AgentMachine::Disk() const {
  std::string text;
  for (const char* part : {"etc", "home", "usr", "var"}) text += DescribeTree(top_ / part);
  return text;
}

void AgentMachine::Learn() { known_[memory_->goal].insert(Now()); }

std::string AgentMachine::Wrong(const std::string& goal) const {
  if (fs::exists(top_ / kChange / "journal.json")) return "a change is under way";
  const std::string now = Now();
  const auto known = known_.find(goal);
  if (known != known_.end() && !known->second.contains(now)) {
    return fmt::format("the files are not those of the config: {}", Difference(*known->second.begin(), now));
  }
  if (memory_->units_read != HashOfUnits(top_)) return "systemd has read other units";
  if (memory_->files_read != HashOfFiles(top_)) return "a service runs with other files";
  return "";
}

std::string AgentMachine::WhyNotDoneWith(const std::string& goal) const {
  if (memory_->false_report[0] != '\0') return memory_->false_report;
  if (memory_->last_report != LastReport::kDone) return fmt::format("it is not done: {}", memory_->fault);
  if (memory_->goal != goal) return fmt::format("it is done with {}", memory_->goal);
  return Wrong(goal);
}

}  // namespace pintle::crash
