// SPDX-License-Identifier: Apache-2.0
#include "host/systemd/systemd_dbus.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/c_ptr.h"
#include "base/printable.h"
#include "host/systemd/enablement.h"
#include "host/systemd/types_dbus.h"
#include "host/systemd/unit_links.h"
#include "host/systemd/unit_name.h"

namespace pintle::host {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kSystemdName = "org.freedesktop.systemd1";
constexpr const char* kSystemdPath = "/org/freedesktop/systemd1";
constexpr const char* kSystemdManager = "org.freedesktop.systemd1.Manager";
constexpr const char* kJob = "org.freedesktop.systemd1.Job";
constexpr const char* kUnit = "org.freedesktop.systemd1.Unit";
constexpr const char* kPrivateSocket = "unix:path=/run/systemd/private";

constexpr auto kReloadPatience = std::chrono::minutes(5);  // A reload takes long with many units and a busy disk.
constexpr auto kOwnerPatience = seconds(30);               // The time limit for systemd to take its name on the bus.

microseconds LeftUntil(MonotonicTime deadline) {
  const auto left = std::chrono::duration_cast<microseconds>(deadline - SystemClock().Monotonic());
  return std::max(left, microseconds(0));
}

std::uint64_t Microseconds(microseconds duration) { return static_cast<std::uint64_t>(duration.count()); }

// Returns "" if memory runs out.
std::string ObjectPathOf(const std::string& unit) {
  const CPtr<char, ::free> path = [&] {
    char* made = nullptr;
    static_cast<void>(::sd_bus_path_encode("/org/freedesktop/systemd1/unit", unit.c_str(), &made));
    return CPtr<char, ::free>(made);
  }();
  return path == nullptr ? "" : path.get();
}

std::string_view VerbOf(JobKind job) {
  switch (job) {
    case JobKind::kStart:
      return "starting";
    case JobKind::kStop:
      return "stopping";
    case JobKind::kRestart:
      return "restarting";
    case JobKind::kTryRestart:
      return "restarting (if it runs)";
    case JobKind::kReload:
      return "reloading";
    case JobKind::kReloadOrRestart:
      return "reloading or restarting";
  }
  std::abort();
}

const char* MethodOf(JobKind job) {
  switch (job) {
    case JobKind::kStart:
      return "StartUnit";
    case JobKind::kStop:
      return "StopUnit";
    case JobKind::kRestart:
      return "RestartUnit";
    case JobKind::kTryRestart:
      return "TryRestartUnit";
    case JobKind::kReload:
      return "ReloadUnit";
    case JobKind::kReloadOrRestart:
      return "ReloadOrRestartUnit";
  }
  std::abort();
}

std::string JournalHint(const std::string& unit) { return fmt::format("see `journalctl -u {}`", ShellQuoted(unit)); }

std::string FailureText(std::string_view result) {
  if (result == "failed") return "it failed";
  if (result == "timeout") return "it took longer than its own timeout allows";
  if (result == "canceled") return "the job was cancelled by someone else";
  if (result == "dependency") return "a unit that it needs failed";
  if (result == "skipped") return "it is not running";
  if (result.empty()) return "its job did not end in time, and may still run";
  if (result == "assert") return "an assertion of the unit is not true";
  if (result == "invalid" || result == "unsupported") return "the unit cannot do that";
  return fmt::format("its job ended with \"{}\"", result);
}

// Returns the D-Bus interface that has the result of a unit's last run, such as org.freedesktop.systemd1.Service.
std::optional<std::string> InterfaceWithResult(const std::string& unit) {
  static constexpr std::string_view kTypes[] = {"service", "socket", "mount",     "swap",
                                                "timer",   "path",   "automount", "scope"};
  const std::optional<UnitName> name = UnitName::Parse(unit);
  if (!name || std::find(std::begin(kTypes), std::end(kTypes), name->type()) == std::end(kTypes)) return std::nullopt;
  std::string type(name->type());
  type[0] = static_cast<char>(type[0] - 'a' + 'A');
  return fmt::format("org.freedesktop.systemd1.{}", type);
}

}  // namespace

class SystemdDbus::Connection {
 public:
  // `patience` is the time limit of each call that has no limit of its own.
  static Result<std::unique_ptr<Connection>> Open(microseconds patience) {
    Result<Bus> bus = OpenSystemBus();
    if (!bus) return OpenPrivate(bus.error(), patience);
    std::unique_ptr<Connection> connection(new Connection(*std::move(bus), true));
    TRY(connection->SetPatience(patience));
    TRY(connection->WaitForSystemd());
    return connection;
  }

  bool is_lost() const { return is_lost_; }
  // Returns whether systemd sends signals on this connection.  On its private socket, systemd sends signals without a
  // subscription.
  bool gets_signals() const { return watch_ != nullptr || !is_on_bus_; }

  using Filler = std::function<int(sd_bus_message*)>;

  // With a patience of 0, the call has the time limit of the connection.
  Result<Message> Call(const char* path, const char* interface, const char* method, const Filler& fill,
                       microseconds patience = microseconds(0)) {
    Message message;
    int result = ::sd_bus_message_new_method_call(bus_.get(), Out(message), kSystemdName, path, interface, method);
    if (result >= 0) result = fill(message.get());
    if (result < 0) return ErrorOf(BusError(), result);
    BusError bus_error;
    Message answer;
    result = ::sd_bus_call(bus_.get(), message.get(), Microseconds(patience), bus_error.get(), Out(answer));
    if (result < 0) return ErrorOf(bus_error, result);
    return answer;
  }

  Result<Message> CallManager(const char* method, const Filler& fill, microseconds patience = microseconds(0)) {
    return Call(kSystemdPath, kSystemdManager, method, fill, patience);
  }

  Result<std::string> Property(const std::string& path, const std::string& interface, const char* name) {
    BusError bus_error;
    char* made = nullptr;
    const int result = ::sd_bus_get_property_string(bus_.get(), kSystemdName, path.c_str(), interface.c_str(), name,
                                                    bus_error.get(), &made);
    const CPtr<char, ::free> value(made);
    if (result < 0) return ErrorOf(bus_error, result);
    return std::string(value.get());
  }

  // Returns whether the unit has a job, or a loaded unit wants or requires it.
  Result<bool> IsNeeded(const std::string& path) {
    BusError bus_error;
    Message job;
    std::uint32_t id = 0;
    const char* job_path = nullptr;
    int result =
        ::sd_bus_get_property(bus_.get(), kSystemdName, path.c_str(), kUnit, "Job", bus_error.get(), Out(job), "(uo)");
    if (result >= 0) result = ::sd_bus_message_read(job.get(), "(uo)", &id, &job_path);
    if (result < 0) return ErrorOf(bus_error, result);
    if (id != 0) return true;
    for (const char* name : {"WantedBy", "RequiredBy"}) {
      Message units;
      result =
          ::sd_bus_get_property(bus_.get(), kSystemdName, path.c_str(), kUnit, name, bus_error.get(), Out(units), "as");
      if (result >= 0) result = ::sd_bus_message_enter_container(units.get(), 'a', "s");
      if (result >= 0) result = ::sd_bus_message_at_end(units.get(), 0);
      if (result < 0) return ErrorOf(bus_error, result);
      if (result == 0) return true;
    }
    return false;
  }

  // Makes this connection record the results of jobs.
  Result<> WatchJobs() {
    if (watch_ != nullptr) return {};
    const int result = ::sd_bus_match_signal(bus_.get(), Out(watch_), is_on_bus_ ? kSystemdName : nullptr, kSystemdPath,
                                             kSystemdManager, "JobRemoved", &Connection::OnJobRemoved, this);
    if (result < 0) return ErrorOf(BusError(), result);
    TRY(CallManager("Subscribe", [](sd_bus_message*) { return 0; }), "subscribing to systemd's signals");
    return {};
  }

  // Returns the result of the job, or "" if it has not ended by the deadline.
  Result<std::string> AwaitJob(const std::string& path, MonotonicTime deadline) {
    for (;;) {
      const auto ended = ended_.find(path);
      if (ended != ended_.end()) return ended->second;
      const int done = ::sd_bus_process(bus_.get(), nullptr);
      if (done < 0) return ErrorOf(BusError(), done);
      if (done > 0) continue;
      const microseconds left = LeftUntil(deadline);
      if (left == microseconds(0)) return std::string();
      const int waited = ::sd_bus_wait(bus_.get(), Microseconds(left));
      if (waited < 0 && waited != -EINTR) return ErrorOf(BusError(), waited);
    }
  }

 private:
  Connection(Bus bus, bool is_on_bus) : bus_(std::move(bus)), is_on_bus_(is_on_bus) {}

  static Result<std::unique_ptr<Connection>> OpenPrivate(const Error& bus_error, microseconds patience) {
    Result<Bus> bus = OpenPeer(kPrivateSocket);
    if (bus) {
      std::unique_ptr<Connection> connection(new Connection(*std::move(bus), false));
      TRY(connection->SetPatience(patience));
      return connection;
    }
    return Error(ErrorKind::kUnavailable,
                 fmt::format("systemd can be reached neither on the system bus ({}) nor by its private socket ({})",
                             Error::FromErrno("open", bus_error.errno_value()).message(),
                             Error::FromErrno("open", bus.error().errno_value()).message()));
  }

  // sd-bus also reads properties with this time limit.  Its default is 25 s.
  Result<> SetPatience(microseconds patience) {
    const int result = ::sd_bus_set_method_call_timeout(bus_.get(), Microseconds(patience));
    return result < 0 ? ErrorOf(BusError(), result) : Result<>();
  }

  // Converts the error of a call, and records whether the connection is lost.
  Error ErrorOf(const BusError& bus_error, int result) {
    is_lost_ = is_lost_ || bus_error.IsNobodyThere(result);
    Error error = bus_error.ToError(result);
    return is_lost_ ? Error(ErrorKind::kUnavailable, error.message()) : error;
  }

  // After systemd has re-executed itself, it takes some time to own its name on the bus again.
  Result<> WaitForSystemd() {
    bool has_owner = false;
    Slot slot;
    const std::string match =
        fmt::format("type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='{}'", kSystemdName);
    int result = ::sd_bus_add_match(bus_.get(), Out(slot), match.c_str(), &Connection::OnOwner, &has_owner);
    if (result < 0) return ErrorOf(BusError(), result).While("watching for systemd on the bus");
    BusError bus_error;
    Message answer;
    result = ::sd_bus_call_method(bus_.get(), "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                  "NameHasOwner", bus_error.get(), Out(answer), "s", kSystemdName);
    int owned = 0;
    if (result >= 0) result = ::sd_bus_message_read(answer.get(), "b", &owned);
    if (result < 0) return ErrorOf(bus_error, result).While("looking for systemd on the bus");
    has_owner = has_owner || owned != 0;
    const MonotonicTime deadline = SystemClock().Monotonic() + kOwnerPatience;
    while (!has_owner) {
      const int done = ::sd_bus_process(bus_.get(), nullptr);
      if (done < 0) return ErrorOf(BusError(), done).While("waiting for systemd on the bus");
      if (done > 0) continue;
      const microseconds left = LeftUntil(deadline);
      if (left == microseconds(0)) return Error(ErrorKind::kUnavailable, "systemd is not on the system bus");
      const int waited = ::sd_bus_wait(bus_.get(), Microseconds(left));
      if (waited < 0 && waited != -EINTR) return ErrorOf(BusError(), waited).While("waiting for systemd on the bus");
    }
    return {};
  }

  static int OnOwner(sd_bus_message* message, void* has_owner, sd_bus_error*) {
    const char *name = nullptr, *before = nullptr, *after = nullptr;
    if (::sd_bus_message_read(message, "sss", &name, &before, &after) >= 0)
      *static_cast<bool*>(has_owner) = *after != '\0';
    return 0;
  }

  static int OnJobRemoved(sd_bus_message* message, void* self, sd_bus_error*) {
    std::uint32_t id = 0;
    const char *path = nullptr, *unit = nullptr, *result = nullptr;
    if (::sd_bus_message_read(message, "uoss", &id, &path, &unit, &result) >= 0) {
      static_cast<Connection*>(self)->ended_[path] = result;
    }
    return 0;
  }

  Bus bus_;
  bool is_on_bus_;
  bool is_lost_ = false;
  Slot watch_;
  std::map<std::string, std::string> ended_;  // The results of jobs by their object paths.
};

// Exists while a public function runs.  Public functions may call each other.  When the outermost one returns, the
// destructor closes the connection if systemd sends signals on it.
class SystemdDbus::ConnectionUse {
 public:
  explicit ConnectionUse(SystemdDbus& systemd) : systemd_(systemd) { ++systemd_.uses_; }
  ~ConnectionUse() {
    if (--systemd_.uses_ > 0 || systemd_.connection_ == nullptr) return;
    if (systemd_.connection_->gets_signals()) systemd_.connection_.reset();
  }
  ConnectionUse(const ConnectionUse&) = delete;
  ConnectionUse& operator=(const ConnectionUse&) = delete;

 private:
  SystemdDbus& systemd_;
};

SystemdDbus::SystemdDbus(const Root& root, microseconds patience) : root_(root), patience_(patience) {}
SystemdDbus::~SystemdDbus() = default;

Result<SystemdDbus::Connection*> SystemdDbus::Connect() {
  if (connection_ != nullptr && connection_->is_lost()) connection_.reset();
  if (connection_ == nullptr) connection_ = TRY(Connection::Open(patience_));
  return connection_.get();
}

// Makes a call that may be repeated.  If the connection is lost, the call is made again once, over a new connection.
Result<> SystemdDbus::CallIdempotent(const std::function<Result<>(Connection&)>& call) {
  Connection* connection = TRY(Connect());
  Result<> result = call(*connection);
  if (result || !connection->is_lost()) return result;
  return call(*TRY(Connect()));
}

Result<> SystemdDbus::ChangeEnablements(EnablementChange change, const std::vector<std::string>& units) {
  std::vector<char*> words;
  for (const std::string& unit : units) words.push_back(const_cast<char*>(unit.c_str()));
  words.push_back(nullptr);
  const bool is_runtime = change == EnablementChange::kDisableAtRuntime;
  const bool disables = change == EnablementChange::kDisable || is_runtime;
  const auto fill = [&](sd_bus_message* message) {
    const int result = ::sd_bus_message_append_strv(message, words.data());
    // The arguments are runtime and, except for DisableUnitFiles, force = true.
    if (result < 0 || disables) return result < 0 ? result : ::sd_bus_message_append(message, "b", is_runtime ? 1 : 0);
    return ::sd_bus_message_append(message, "bb", 0, 1);
  };
  const char* method = disables                              ? "DisableUnitFiles"
                       : change == EnablementChange::kEnable ? "EnableUnitFiles"
                                                             : "PresetUnitFiles";
  return CallIdempotent([&](Connection& connection) -> Result<> {
    TRY(connection.CallManager(method, fill));
    return {};
  });
}

Result<> SystemdDbus::ChangeEnablement(EnablementChange change, const std::string& unit) {
  const char* doing = change == EnablementChange::kEnable   ? "enabling"
                      : change == EnablementChange::kPreset ? "presetting"
                                                            : "disabling";
  Result<> result = ChangeEnablements(change, {unit});
  if (result) return {};
  const std::string state = TRY(UnitFileState(unit), fmt::format("{} {}", doing, unit));
  const std::optional<UnitName> name = UnitName::Parse(unit);
  if (state.empty() && name && result.error().kind() == ErrorKind::kNotFound) return RemoveUnitLinks(root_, *name);
  // Presets skip units that cannot be enabled.
  const bool cannot_be_enabled = state.starts_with("masked") || state == "generated" || state == "transient";
  if (change == EnablementChange::kPreset && cannot_be_enabled) return {};
  return std::move(result).error().While(fmt::format("{} {}", doing, unit));
}

Result<bool> SystemdDbus::DisableAtRuntime(const std::vector<std::string>& units) {
  bool has_changed = false;
  for (const std::string& unit : units) {
    const Result<std::string> state = UnitFileState(unit);
    if (!state && state.error().kind() == ErrorKind::kUnavailable) {
      return Error(state.error()).While("looking at " + unit);
    }
    // Other errors do not matter here: systemd does not start a unit that it cannot look up.
    if (!state || *state != "enabled-runtime") continue;
    TRY(ChangeEnablement(EnablementChange::kDisableAtRuntime, unit));
    has_changed = true;
  }
  return has_changed;
}

Result<> SystemdDbus::PutEnablement(std::span<const resource::Put<resource::UnitState>> units) {
  const ConnectionUse use(*this);
  // systemd's error names the unit that caused it only in its text.  So if the call for all units fails, there is one
  // call for each unit.
  const auto put = [&](EnablementChange change, const std::vector<std::string>& names) -> Result<> {
    if (names.empty() || ChangeEnablements(change, names)) return {};
    for (const std::string& unit : names) TRY(ChangeEnablement(change, unit));
    return {};
  };
  const resource::UnitLinks::State before = TRY(ObserveLinks());
  const UnitsByEnablement sorted = SortByEnablement(units);
  TRY(put(EnablementChange::kPreset, sorted.preset));
  // EnableUnitFiles keeps the links that an earlier [Install] section of a unit asked for, so RemoveUnitLinks()
  // comes first.
  for (const std::string& unit : sorted.enabled) {
    if (const auto name = UnitName::Parse(unit)) TRY(RemoveUnitLinks(root_, *name));
  }
  TRY(put(EnablementChange::kEnable, sorted.enabled));
  TRY(put(EnablementChange::kDisable, sorted.disabled));
  const bool has_changed_run = TRY(DisableAtRuntime(sorted.disabled));
  TRY(SyncUnitLinks(root_));
  if (!has_changed_run && TRY(ObserveLinks()).targets == before.targets) return {};
  return Reload();
}

Result<resource::UnitLinks::State> SystemdDbus::ObserveLinks() { return ObserveUnitLinks(root_); }

Result<> SystemdDbus::PutLinks(const resource::UnitLinks::State& links) {
  if (json::Equal(TRY(ObserveLinks()), links)) return {};
  TRY(PutUnitLinks(root_, links));
  return Reload();
}

Result<> SystemdDbus::Reload() {
  const ConnectionUse use(*this);
  TRY(CallIdempotent([](Connection& connection) -> Result<> {
        TRY(connection.CallManager(
            "Reload", [](sd_bus_message*) { return 0; }, kReloadPatience));
        return {};
      }),
      "making systemd reload its configuration");
  return {};
}

Result<std::vector<SystemdDbus::Job>> SystemdDbus::Jobs() {
  std::vector<Job> jobs;
  TRY(CallIdempotent([&](Connection& connection) -> Result<> {
        const Message answer = TRY(connection.CallManager("ListJobs", [](sd_bus_message*) { return 0; }));
        int result = ::sd_bus_message_enter_container(answer.get(), 'a', "(usssoo)");
        std::uint32_t id = 0;
        const char *unit = nullptr, *type = nullptr, *state = nullptr, *path = nullptr, *unit_path = nullptr;
        jobs.clear();
        while (result >= 0) {
          result = ::sd_bus_message_read(answer.get(), "(usssoo)", &id, &unit, &type, &state, &path, &unit_path);
          if (result <= 0) break;
          jobs.push_back({unit, state, path});
        }
        return result < 0 ? Result<>(BusError().ToError(result)) : Result<>();
      }),
      "listing the jobs of systemd");
  return jobs;
}

Result<> SystemdDbus::QueueBootAgain(std::span<const std::string> units) {
  constexpr const char* kDefaultTarget = "default.target";
  const ConnectionUse use(*this);
  TRY(Reload());
  const auto is_touched = [&](const Job& job) {
    return job.state == "waiting" && std::find(units.begin(), units.end(), job.unit) != units.end();
  };
  const std::vector<Job> jobs = TRY(Jobs());
  for (const Job& job : jobs) {
    if (!is_touched(job)) continue;
    // The error is ignored: a job that has ended meanwhile cannot be cancelled, and need not be.
    static_cast<void>(TRY(Connect())->Call(job.path.c_str(), kJob, "Cancel", [](sd_bus_message*) { return 0; }));
  }
  // default.target is an alias of the target that the machine boots to.
  const std::string target = TRY(TRY(Connect())->Property(ObjectPathOf(kDefaultTarget), kUnit, "Id"), kDefaultTarget);
  const bool is_booting_to_it =
      std::any_of(jobs.begin(), jobs.end(), [&](const Job& job) { return job.unit == target; });
  if (!is_booting_to_it) return {};
  TRY(CallIdempotent([&](Connection& connection) -> Result<> {
        TRY(connection.CallManager("StartUnit", [&](sd_bus_message* message) {
          return ::sd_bus_message_append(message, "ss", target.c_str(), "replace");
        }));
        return {};
      }),
      fmt::format("starting {}", target));
  return {};
}

// Returns "unknown" if the job has ended while there was no connection.  Then the caller has to look at the state of
// the unit.
Result<std::string> SystemdDbus::AwaitJob(const std::string& path, MonotonicTime deadline) {
  for (;;) {
    Connection& connection = *TRY(Connect());
    TRY(connection.WatchJobs());
    auto result = connection.AwaitJob(path, deadline);
    if (result || !connection.is_lost()) return result;
    Connection& new_connection = *TRY(Connect());
    TRY(new_connection.WatchJobs());
    const auto state = new_connection.Property(path, kJob, "State");
    if (!state && !new_connection.is_lost()) return std::string("unknown");
  }
}

Result<> SystemdDbus::Run(JobKind job, const std::string& unit, milliseconds patience) {
  const ConnectionUse use(*this);
  const auto doing = [&] { return fmt::format("{} {}", VerbOf(job), unit); };
  const MonotonicTime deadline = SystemClock().Monotonic() + patience;
  std::string path;
  const auto begin = [&](Connection& connection) -> Result<> {
    TRY(connection.WatchJobs());
    const Message answer = TRY(connection.CallManager(MethodOf(job), [&](sd_bus_message* message) {
      return ::sd_bus_message_append(message, "ss", unit.c_str(), "replace");
    }));
    const char* made = nullptr;
    const int result = ::sd_bus_message_read(answer.get(), "o", &made);
    if (result < 0) return BusError().ToError(result);
    path = made;
    return {};
  };
  // Starting or stopping a unit twice is harmless.  Jobs of other kinds are not repeated: a second restart would
  // interrupt the service once more.
  if (job == JobKind::kStart || job == JobKind::kStop) {
    TRY(CallIdempotent(begin), doing());
  } else {
    TRY(begin(*TRY(Connect(), doing())), doing());
  }
  std::string result = TRY(AwaitJob(path, deadline), doing());
  if (result.empty()) {
    Connection& connection = *TRY(Connect(), doing());
    // A job that has ended meanwhile cannot be cancelled.
    const auto cancelled = connection.Call(path.c_str(), kJob, "Cancel", [](sd_bus_message*) { return 0; });
    if (cancelled) {
      return Error(ErrorKind::kUnavailable, fmt::format("the job did not end within {} ms and was cancelled; {}",
                                                        patience.count(), JournalHint(unit)))
          .While(doing());
    }
    result = TRY(AwaitJob(path, SystemClock().Monotonic()), doing());
  }
  if (result == "unknown") {
    const UnitStatus status = TRY(Observe(unit), doing());
    const bool is_wanted = (status.active_state == "active") == (job != JobKind::kStop) || job == JobKind::kTryRestart;
    result = is_wanted && status.active_state != "failed" ? "done" : "failed";
  }
  if (result == "done") return {};
  std::string details;
  if (const auto interface = InterfaceWithResult(unit)) {
    const auto unit_result = TRY(Connect(), doing())->Property(ObjectPathOf(unit), *interface, "Result");
    if (unit_result && *unit_result != "success") details = fmt::format(" (its result is \"{}\")", *unit_result);
  }
  const bool may_pass = result == "canceled" || result == "timeout" || result.empty();
  return Error(may_pass ? ErrorKind::kUnavailable : ErrorKind::kSystem,
               fmt::format("{}{}; {}", FailureText(result), details, JournalHint(unit)))
      .While(doing());
}

Result<std::string> SystemdDbus::UnitFileState(const std::string& unit) {
  std::string state;
  TRY(CallIdempotent([&](Connection& connection) -> Result<> {
    const auto answer = connection.CallManager("GetUnitFileState", [&](sd_bus_message* message) {
      return ::sd_bus_message_append(message, "s", unit.c_str());
    });
    if (!answer && answer.error().kind() == ErrorKind::kNotFound) return {};
    if (!answer) return answer.error();
    const char* text = nullptr;
    const int result = ::sd_bus_message_read((*answer).get(), "s", &text);
    if (result < 0) return BusError().ToError(result);
    state = text;
    return {};
  }));
  return state;
}

Result<UnitStatus> SystemdDbus::Observe(const std::string& unit) {
  const ConnectionUse use(*this);
  const auto doing = [&] { return "looking at " + unit; };
  UnitStatus status;
  TRY(CallIdempotent([&](Connection& connection) -> Result<> {
        status.load_state = TRY(connection.Property(ObjectPathOf(unit), kUnit, "LoadState"));
        status.active_state = TRY(connection.Property(ObjectPathOf(unit), kUnit, "ActiveState"));
        status.is_needed = TRY(connection.IsNeeded(ObjectPathOf(unit)));
        return {};
      }),
      doing());
  status.file_state = TRY(UnitFileState(unit), doing());
  return status;
}

}  // namespace pintle::host
