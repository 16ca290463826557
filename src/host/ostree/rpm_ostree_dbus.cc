// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/rpm_ostree_dbus.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "host/ostree/lock_holder.h"
#include "host/systemd/types_dbus.h"

namespace pintle::host {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

using Filler = std::function<int(sd_bus_message*)>;
using Words = std::vector<std::string>;

constexpr const char* kRpmOstreeName = "org.projectatomic.rpmostree1";
constexpr const char* kSysrootPath = "/org/projectatomic/rpmostree1/Sysroot";
constexpr const char* kSysroot = "org.projectatomic.rpmostree1.Sysroot";
constexpr const char* kOs = "org.projectatomic.rpmostree1.OS";
constexpr const char* kClient = "pintle";

constexpr auto kUnitStartPatience = seconds(90);
// The daemon may have to read all deployments on the disk first.
constexpr auto kRpmOstreePatience = std::chrono::minutes(5);
constexpr auto kBusyPollInterval = seconds(1);  // The end of some busy states is not announced by a signal.
constexpr int kMostRegistrationAttempts = 5;

bool IsBusy(const BusError& bus_error) {
  // The message is compared as well, since the D-Bus name that GLib makes of G_IO_ERROR_BUSY is harder to recognise.
  return bus_error.name() == "org.projectatomic.rpmostreed.Error.UpdateInProgress" ||
         bus_error.message().find("ransaction in progress") != std::string_view::npos;
}

Error OneLineError(const BusError& bus_error, int result) {
  const Error error = bus_error.ToError(result);
  return Error(error.kind(), OneLine(error.message()));
}

int AppendWords(sd_bus_message* message, const Words& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return ::sd_bus_message_append_strv(message, pointers.data());
}

// Writes the entries of a D-Bus a{sv}.
class Dictionary {
 public:
  explicit Dictionary(sd_bus_message* message) : message_(message) {
    result_ = ::sd_bus_message_open_container(message_, 'a', "{sv}");
  }

  Dictionary& Text(const char* key, const std::string& value) {
    if (result_ >= 0) result_ = ::sd_bus_message_append(message_, "{sv}", key, "s", value.c_str());
    return *this;
  }
  Dictionary& Flag(const char* key) {
    if (result_ >= 0) result_ = ::sd_bus_message_append(message_, "{sv}", key, "b", 1);
    return *this;
  }
  Dictionary& List(const char* key, const Words& words) {
    if (words.empty() || result_ < 0) return *this;
    KeepFirstError(::sd_bus_message_open_container(message_, 'e', "sv"));
    KeepFirstError(::sd_bus_message_append(message_, "s", key));
    KeepFirstError(::sd_bus_message_open_container(message_, 'v', "as"));
    KeepFirstError(AppendWords(message_, words));
    KeepFirstError(::sd_bus_message_close_container(message_));
    KeepFirstError(::sd_bus_message_close_container(message_));
    return *this;
  }
  int Close() {
    KeepFirstError(::sd_bus_message_close_container(message_));
    return result_;
  }

 private:
  void KeepFirstError(int result) {
    if (result_ >= 0) result_ = result;
  }

  sd_bus_message* message_;
  int result_ = 0;
};

std::string TitleOf(const RpmOstreeUpdate& update) {
  using Depth = RpmOstreeUpdate::Depth;
  std::vector<std::string> parts;
  if (!update.refspec.empty()) {
    parts.push_back(fmt::format("{} {}", update.depth == Depth::kFetch ? "fetching" : "deploying", update.refspec));
  }
  const auto add = [&](const char* doing, const Words& packages) {
    if (!packages.empty()) parts.push_back(fmt::format("{} {}", doing, fmt::join(packages, ", ")));
  };
  add("uninstalling", update.uninstall);
  add("resetting overrides of", update.override_reset);
  add("removing from the image", update.override_remove);
  add("installing", update.install);
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

class RpmOstree::Connection {
 public:
  static Result<std::unique_ptr<Connection>> Open(Systemd& systemd, RpmOstreeSettings settings) {
    std::unique_ptr<Connection> connection(new Connection(systemd, std::move(settings)));
    TRY(connection->Watch());
    TRY(connection->Register());
    return connection;
  }

  ~Connection() {
    // A daemon that has ended has no clients any more.
    if (!is_gone_) static_cast<void>(CallOnce(kSysrootPath, kSysroot, "UnregisterClient", &NoOptions));
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Calls a method that makes a transaction for the booted OS, and follows the transaction to its end.
  Result<> Transact(const char* method, const Filler& fill) {
    if (is_gone_) TRY(Register());
    const std::string address = TRY(Begin(method, fill));
    // If the connection to the transaction is lost, it is made again once.
    for (int attempt = 0; attempt < 2; ++attempt) {
      const auto end = TRY(FollowTransaction(address, WatchedDaemon{bus_.get(), is_gone_}, settings_));
      if (end == TransactionEnd::kDone) return {};
      if (!TRY(IsOurTransactionActive())) break;
    }
    return Error(ErrorKind::kUnavailable,
                 "the connection to rpm-ostree's transaction was lost, and its outcome is not known; "
                 "see `journalctl -u rpm-ostreed`");
  }

 private:
  Connection(Systemd& systemd, RpmOstreeSettings settings) : systemd_(systemd), settings_(std::move(settings)) {}

  Result<> Watch() {
    bus_ = TRY(OpenSystemBus());
    const std::string owner =
        fmt::format("type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='{}'", kRpmOstreeName);
    int result = ::sd_bus_add_match(bus_.get(), Out(owner_watch_), owner.c_str(), &OnOwner, this);
    if (result >= 0) {
      result = ::sd_bus_match_signal(bus_.get(), Out(busy_watch_), kRpmOstreeName, kSysrootPath, kPropertiesInterface,
                                     "PropertiesChanged", &OnProperties, this);
    }
    if (result < 0) return BusError().ToError(result).While("watching for rpm-ostree on the bus");
    return {};
  }

  static int OnOwner(sd_bus_message* message, void* self, sd_bus_error*) {
    auto& connection = *static_cast<Connection*>(self);
    const char *name = nullptr, *before = nullptr, *after = nullptr;
    if (::sd_bus_message_read(message, "sss", &name, &before, &after) >= 0 && connection.owner_ == before) {
      connection.is_gone_ = true;
    }
    return 0;
  }

  static int OnProperties(sd_bus_message*, void* self, sd_bus_error*) {
    static_cast<Connection*>(self)->has_changed_ = true;
    return 0;
  }

  static int NoOptions(sd_bus_message* message) { return Dictionary(message).Close(); }
  static int NoArguments(sd_bus_message*) { return 0; }

  // The daemon exits when it has had no clients for a while, and may be about to exit now.
  Result<> Register() {
    for (int attempt = 1;; ++attempt) {
      TRY(Start(), "starting rpm-ostree's daemon");
      const Result<> registered = RegisterOnce();
      if (registered) return {};
      const bool is_gone = registered.error().kind() == ErrorKind::kUnavailable;
      if (!is_gone || attempt == kMostRegistrationAttempts) return registered.error();
    }
  }

  Result<> RegisterOnce() {
    BusError bus_error;
    const auto [result, answer] = Attempt(kSysrootPath, kSysroot, "RegisterClient", bus_error,
                                          [](sd_bus_message* m) { return Dictionary(m).Text("id", kClient).Close(); });
    if (result < 0) return OneLineError(bus_error, result).While("registering as a client of rpm-ostree");
    owner_ = ::sd_bus_message_get_sender(answer.get());
    is_gone_ = false;
    TRY(CallOnce(kSysrootPath, kSysroot, "Reload", &NoArguments), "making rpm-ostree reload the deployments");
    return ReadBooted();
  }

  Result<> Start() {
    const UnitStatus status = TRY(systemd_.Observe(kRpmOstreeUnit));
    if (status.active_state == "active") return {};
    return systemd_.Run(JobKind::kStart, kRpmOstreeUnit, kUnitStartPatience);
  }

  Result<> ReadBooted() {
    BusError bus_error;
    Message answer;
    const char* path = nullptr;
    int result = ::sd_bus_get_property(bus_.get(), kRpmOstreeName, kSysrootPath, kSysroot, "Booted", bus_error.get(),
                                       Out(answer), "o");
    if (result >= 0) result = ::sd_bus_message_read(answer.get(), "o", &path);
    if (result < 0) return OneLineError(bus_error, result).While("asking rpm-ostree for the booted OS");
    booted_ = path;
    if (booted_ == "/") return Error(ErrorKind::kNotFound, "rpm-ostree knows of no OS that is booted");
    return {};
  }

  struct AttemptResult {
    int result;
    Message answer;
  };

  AttemptResult Attempt(const char* path, const char* interface, const char* method, BusError& bus_error,
                        const Filler& fill) {
    Message call, answer;
    int result = ::sd_bus_message_new_method_call(bus_.get(), Out(call), kRpmOstreeName, path, interface, method);
    if (result >= 0) result = fill(call.get());
    const auto patience =
        static_cast<std::uint64_t>(std::chrono::duration_cast<microseconds>(kRpmOstreePatience).count());
    if (result >= 0) result = ::sd_bus_call(bus_.get(), call.get(), patience, bus_error.get(), Out(answer));
    return {result, std::move(answer)};
  }

  Result<> CallOnce(const char* path, const char* interface, const char* method, const Filler& fill) {
    BusError bus_error;
    const auto [result, answer] = Attempt(path, interface, method, bus_error, fill);
    if (result < 0) return OneLineError(bus_error, result);
    return {};
  }

  // Begins a transaction, after waiting for the end of someone else's.  Returns the address of the new transaction.
  Result<std::string> Begin(const char* method, const Filler& fill) {
    const MonotonicTime deadline = SystemClock().Monotonic() + settings_.patience;
    for (;;) {
      has_changed_ = false;
      BusError bus_error;
      const auto [result, answer] = Attempt(booted_.c_str(), kOs, method, bus_error, fill);
      if (result >= 0) {
        const char* address = nullptr;
        const int read = ::sd_bus_message_read(answer.get(), "s", &address);
        if (read < 0) return BusError().ToError(read).While(method);
        return std::string(address);
      }
      if (!IsBusy(bus_error)) return OneLineError(bus_error, result);
      if (SystemClock().Monotonic() >= deadline) return StillBusyError(OneLineError(bus_error, result).message());
      TRY(WaitWhileBusy(deadline));
    }
  }

  static Error StillBusyError(const std::string& text) {
    // rpm-ostree does not name a process that holds the lock without a transaction.
    const auto holder = text.starts_with("System") ? LockHolder("/ostree/lock") : std::nullopt;
    return Error(ErrorKind::kUnavailable,
                 fmt::format("rpm-ostree is busy: {}{}", text, holder ? fmt::format(" by {}", *holder) : ""));
  }

  Result<> WaitWhileBusy(MonotonicTime deadline) {
    const MonotonicTime next_poll = std::min(deadline, SystemClock().Monotonic() + kBusyPollInterval);
    while (!has_changed_ && !is_gone_) {
      if (settings_.stop.stop_requested()) return Error(ErrorKind::kCancelled, "it was cancelled");
      const int result = ::sd_bus_process(bus_.get(), nullptr);
      if (result < 0) return BusError().ToError(result).While("waiting for rpm-ostree");
      if (result > 0) continue;
      const auto left = std::chrono::ceil<milliseconds>(next_poll - SystemClock().Monotonic());
      if (left <= milliseconds(0)) break;
      TRY(AwaitEither(bus_.get(), nullptr, settings_.stop, left));
    }
    if (is_gone_) return Register();
    return {};
  }

  // Returns whether the active transaction of rpm-ostree is ours.
  Result<bool> IsOurTransactionActive() {
    BusError bus_error;
    Message answer;
    const char *method = nullptr, *sender = nullptr, *path = nullptr, *us = nullptr;
    int result = ::sd_bus_get_property(bus_.get(), kRpmOstreeName, kSysrootPath, kSysroot, "ActiveTransaction",
                                       bus_error.get(), Out(answer), "(sss)");
    if (result >= 0) result = ::sd_bus_message_read(answer.get(), "(sss)", &method, &sender, &path);
    if (result >= 0) result = ::sd_bus_get_unique_name(bus_.get(), &us);
    // The daemon may have ended, and a new daemon may have sent the answer.  ProcessAll() reads the signal that the
    // daemon has ended.
    static_cast<void>(ProcessAll(bus_.get()));
    if (is_gone_ || bus_error.IsNobodyThere(result)) return DaemonEnded();
    if (result < 0) return OneLineError(bus_error, result).While("asking rpm-ostree what it is doing");
    return *method != '\0' && std::string_view(sender) == us;
  }

  Systemd& systemd_;
  RpmOstreeSettings settings_;
  Bus bus_;
  Slot owner_watch_;
  Slot busy_watch_;
  std::string owner_;         // The daemon's unique name on the bus.
  std::string booted_;        // The path of the booted OS.
  bool is_gone_ = true;       // True if there is no daemon with which this client is registered.
  bool has_changed_ = false;  // True if a property of the daemon has changed since the last attempt to begin.
};

RpmOstree::RpmOstree(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
RpmOstree::~RpmOstree() = default;

Result<std::string> RpmOstree::ActiveTransaction(Systemd& systemd) {
  if (TRY(systemd.Observe(kRpmOstreeUnit), "looking for rpm-ostree").active_state != "active") return std::string();
  const Bus bus = TRY(OpenSystemBus());
  BusError bus_error;
  Message answer;
  const char *method = nullptr, *sender = nullptr, *path = nullptr;
  int result = ::sd_bus_get_property(bus.get(), kRpmOstreeName, kSysrootPath, kSysroot, "ActiveTransaction",
                                     bus_error.get(), Out(answer), "(sss)");
  if (result >= 0) result = ::sd_bus_message_read(answer.get(), "(sss)", &method, &sender, &path);
  if (bus_error.IsNobodyThere(result)) return std::string();
  if (result < 0) return OneLineError(bus_error, result).While("asking rpm-ostree what it is doing");
  return std::string(method);
}

Result<std::unique_ptr<RpmOstree>> RpmOstree::Connect(Systemd& systemd, RpmOstreeSettings settings) {
  auto connection = TRY(Connection::Open(systemd, std::move(settings)));
  return std::unique_ptr<RpmOstree>(new RpmOstree(std::move(connection)));
}

Result<> RpmOstree::Update(const RpmOstreeUpdate& update) {
  using Depth = RpmOstreeUpdate::Depth;
  const std::string title = TitleOf(update);
  const auto fill = [&](sd_bus_message* message) {
    Dictionary modifiers(message);
    if (!update.refspec.empty()) modifiers.Text("set-refspec", update.refspec);
    modifiers.List("install-packages", update.install).List("uninstall-packages", update.uninstall);
    modifiers.List("override-remove-packages", update.override_remove);
    modifiers.List("override-reset-packages", update.override_reset);
    int result = modifiers.Close();
    if (result < 0) return result;
    Dictionary options(message);
    options.Text("initiating-command-line", fmt::format("{}: {}", kClient, title));
    // With this option, a package that someone has layered already is no error.
    options.Flag("idempotent-layering");
    if (update.refspec.empty()) options.Flag("no-pull-base");
    if (update.depth == Depth::kFetch) options.Flag("download-only");
    if (update.depth == Depth::kDeployWithoutFetching) options.Flag("cache-only");
    return options.Close();
  };
  TRY(connection_->Transact("UpdateDeployment", fill), "rpm-ostree: " + title);
  return {};
}

Result<> RpmOstree::SetKernelArguments(const Words& from, const Words& to) {
  const auto fill = [&](sd_bus_message* message) {
    const std::string before = fmt::format("{}", fmt::join(from, " ")), after = fmt::format("{}", fmt::join(to, " "));
    int result = ::sd_bus_message_append(message, "s", before.c_str());
    // The method also has lists of arguments to add, to replace and to delete.
    for (int list = 0; list < 3 && result >= 0; ++list) result = AppendWords(message, {});
    if (result < 0) return result;
    // All arguments are set at once, so that their order is ours and none is duplicated.
    return Dictionary(message)
        .Text("initiating-command-line", fmt::format("{}: kernel arguments", kClient))
        .Text("final-kernel-args", after)
        .Close();
  };
  TRY(connection_->Transact("KernelArgs", fill), "rpm-ostree: changing kernel arguments");
  return {};
}

Result<> RpmOstree::CleanUp(RpmOstreeCleanup what) {
  const char* kind = what == RpmOstreeCleanup::kPending ? "pending-deploy" : "base";
  TRY(connection_->Transact("Cleanup", [&](sd_bus_message* m) { return AppendWords(m, {kind}); }),
      fmt::format("rpm-ostree: cleaning up ({})", kind));
  return {};
}

}  // namespace pintle::host
