// SPDX-License-Identifier: Apache-2.0

// Replaces rpm-ostree's daemon on a node's bus, for test_rpm_ostree.py.  It has the daemon's interface and peer-to-peer
// transactions, and changes the node's real deployments.
//
//     rpm-ostreed-peer [--auth-file=FILE] [--certificates=DIRECTORY] [--policy=FILE]
//
// The file /run/rpm-ostreed-fault causes one fault.  It has one line, METHOD KIND [TEXT].  The fault happens when the
// method is called, or when its transaction is executed.  The kinds are:
//
// - fail TEXT: the transaction fails.
// - crash: the daemon is killed.
// - hold: the daemon sends many signals with a progress of 43 %, and waits until it is cancelled or gets SIGUSR1.
// - disconnect: the transaction's connections are closed; it continues when a client has connected again.
// - lose: the connections are closed when the transaction is done, before any client was informed.
// - early: the transaction is done before its client has started it.
// - exit: the daemon ends without an answer.
// - afterwards: the daemon ends after its answer.
//
// The program logs to /run/rpm-ostreed-log, one line for each event.

#include <fmt/core.h>
#include <gio/gio.h>
#include <glib-unix.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "rpm_ostreed_disk.h"

namespace pintle::test {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kName = "org.projectatomic.rpmostree1";
constexpr const char* kSysrootPath = "/org/projectatomic/rpmostree1/Sysroot";
constexpr const char* kSysroot = "org.projectatomic.rpmostree1.Sysroot";
constexpr const char* kTransaction = "org.projectatomic.rpmostree1.Transaction";
constexpr const char* kSocket = "/run/rpm-ostree-transaction.sock";
constexpr const char* kAddress = "unix:path=/run/rpm-ostree-transaction.sock";
constexpr const char* kFaults = "/run/rpm-ostreed-fault";
constexpr const char* kLog = "/run/rpm-ostreed-log";

constexpr const char* kInterfaces = R"xml(<node>
  <interface name="org.projectatomic.rpmostree1.Sysroot">
    <property name="Booted" type="o" access="read"/>
    <property name="ActiveTransaction" type="(sss)" access="read"/>
    <method name="RegisterClient"><arg type="a{sv}" direction="in"/></method>
    <method name="UnregisterClient"><arg type="a{sv}" direction="in"/></method>
    <method name="Reload"/>
  </interface>
  <interface name="org.projectatomic.rpmostree1.OS">
    <method name="UpdateDeployment">
      <arg type="a{sv}" direction="in"/><arg type="a{sv}" direction="in"/><arg type="s" direction="out"/>
    </method>
    <method name="KernelArgs">
      <arg type="s" direction="in"/><arg type="as" direction="in"/><arg type="as" direction="in"/>
      <arg type="as" direction="in"/><arg type="a{sv}" direction="in"/><arg type="s" direction="out"/>
    </method>
    <method name="Cleanup"><arg type="as" direction="in"/><arg type="s" direction="out"/></method>
  </interface>
  <interface name="org.projectatomic.rpmostree1.Transaction">
    <method name="Start"><arg type="b" direction="out"/></method>
    <method name="Cancel"/>
    <signal name="Message"><arg type="s"/></signal>
    <signal name="TaskBegin"><arg type="s"/></signal>
    <signal name="PercentProgress"><arg type="s"/><arg type="u"/></signal>
    <signal name="Finished"><arg type="b"/><arg type="s"/></signal>
  </interface>
</node>)xml";

struct Fault {
  std::string kind;
  std::string text;
};

std::optional<Fault> TakeFault(const std::string& method) {
  std::ifstream file(kFaults);
  Fault fault;
  std::string wanted;
  if (!(file >> wanted >> fault.kind) || wanted != method) return std::nullopt;
  std::getline(file >> std::ws, fault.text);
  ::unlink(kFaults);
  return fault;
}

void Log(const std::string& line) { std::ofstream(kLog, std::ios::app) << line << "\n"; }

// Runs a function on the loop's thread.
void InLoop(std::function<void()> work) {
  const auto call = [](gpointer given) -> gboolean {
    const std::unique_ptr<std::function<void()>> owned(static_cast<std::function<void()>*>(given));
    (*owned)();
    return G_SOURCE_REMOVE;
  };
  ::g_idle_add(call, new std::function<void()>(std::move(work)));
}

[[noreturn]] void Die() {
  ::kill(::getpid(), SIGKILL);
  std::abort();
}

Words ListOf(GVariant* dictionary, const char* key) {
  const host::Variant list(::g_variant_lookup_value(dictionary, key, G_VARIANT_TYPE_STRING_ARRAY));
  Words words;
  for (gsize i = 0; list != nullptr && i < ::g_variant_n_children(list.get()); ++i) {
    words.emplace_back(
        ::g_variant_get_string(host::Variant(::g_variant_get_child_value(list.get(), i)).get(), nullptr));
  }
  return words;
}

std::string TextOf(GVariant* dictionary, const char* key) {
  const char* text = "";
  ::g_variant_lookup(dictionary, key, "&s", &text);
  return text;
}

bool FlagOf(GVariant* dictionary, const char* key) {
  gboolean flag = FALSE;
  ::g_variant_lookup(dictionary, key, "b", &flag);
  return flag != FALSE;
}

// Does the work of one transaction, on a thread of its own.
Result<> Execute(LockedDisk& disk, const std::string& method, GVariant* parameters, const std::stop_token& stop) {
  if (method == "Cleanup") {
    const host::Variant kinds(::g_variant_get_child_value(parameters, 0));
    const CPtr<const char*, ::g_free> list(::g_variant_get_strv(kinds.get(), nullptr));
    for (const char* const* kind = list.get(); *kind != nullptr; ++kind) {
      if (std::string(*kind) == "pending-deploy") TRY(disk.DropPending());
    }
    return {};
  }
  const host::Variant options(::g_variant_get_child_value(parameters, method == "KernelArgs" ? 4 : 1));
  if (method == "KernelArgs") return disk.SetKernelArguments(TextOf(options.get(), "final-kernel-args"));
  const host::Variant given(::g_variant_get_child_value(parameters, 0));
  Modifiers modifiers;
  modifiers.refspec = TextOf(given.get(), "set-refspec");
  modifiers.install = ListOf(given.get(), "install-packages");
  modifiers.uninstall = ListOf(given.get(), "uninstall-packages");
  modifiers.override_remove = ListOf(given.get(), "override-remove-packages");
  modifiers.override_reset = ListOf(given.get(), "override-reset-packages");
  modifiers.is_idempotent = FlagOf(options.get(), "idempotent-layering");
  modifiers.is_download_only = FlagOf(options.get(), "download-only");
  modifiers.is_cache_only = FlagOf(options.get(), "cache-only");
  return disk.Update(modifiers, stop);
}

class Transaction {
 public:
  Transaction(std::string method, GVariant* parameters, std::string sender, LockedDisk disk,
              std::function<void()> at_end)
      : method_(std::move(method)),
        parameters_(::g_variant_ref(parameters)),
        sender_(std::move(sender)),
        disk_(std::move(disk)),
        at_end_(std::move(at_end)) {
    Listen();
    if (method_ == "Cleanup") {
      title_ = "cleanup";
    } else {
      const host::Variant options(::g_variant_get_child_value(parameters_.get(), method_ == "KernelArgs" ? 4 : 1));
      title_ = TextOf(options.get(), "initiating-command-line");
    }
    fault_ = TakeFault(method_);
    if (fault_ && fault_->kind == "early") {
      is_started_ = true;
      const Result<> result = Work();
      End(result.has_value(), result ? "" : result.error().message());
    }
  }
  ~Transaction() {
    if (thread_.joinable()) thread_.join();
    if (server_ != nullptr) ::g_dbus_server_stop(server_.get());
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  const std::string& method() const { return method_; }
  const std::string& sender() const { return sender_; }
  const std::string& title() const { return title_; }
  bool is_finished() const { return is_finished_; }
  bool is_started() const { return is_started_; }
  bool Is(const std::string& method, GVariant* parameters) const {
    return method == method_ && ::g_variant_equal(parameters, parameters_.get());
  }

  void Release() {
    const std::lock_guard lock(mutex_);
    is_released_ = true;
    changed_.notify_all();
  }

 private:
  void Listen() {
    ::unlink(kSocket);
    const host::Text guid(::g_dbus_generate_guid());
    host::Failure failure;
    server_.reset(
        ::g_dbus_server_new_sync(kAddress, G_DBUS_SERVER_FLAGS_NONE, guid.get(), nullptr, nullptr, Out(failure)));
    if (server_ == nullptr) {
      Log(failure->message);
      Die();
    }
    ::g_signal_connect(server_.get(), "new-connection", G_CALLBACK(&Transaction::OnConnection), this);
    ::g_dbus_server_start(server_.get());
  }

  static gboolean OnConnection(GDBusServer*, GDBusConnection* connection, gpointer self) {
    static const GDBusInterfaceVTable kTable = {&Transaction::OnCall, nullptr, nullptr, {}};
    static GDBusNodeInfo* const node = ::g_dbus_node_info_new_for_xml(kInterfaces, nullptr);
    auto& transaction = *static_cast<Transaction*>(self);
    transaction.connections_.emplace_back(g_object_ref(connection));
    ::g_dbus_connection_register_object(connection, "/", ::g_dbus_node_info_lookup_interface(node, kTransaction),
                                        &kTable, self, nullptr, nullptr);
    return TRUE;
  }

  static void OnCall(GDBusConnection* connection, const char*, const char*, const char*, const char* method, GVariant*,
                     GDBusMethodInvocation* invocation, gpointer self) {
    auto& transaction = *static_cast<Transaction*>(self);
    Log(fmt::format("{} of {}", method, transaction.method_));
    if (std::string(method) == "Cancel") {
      transaction.stop_.request_stop();
      transaction.Wake();
      ::g_dbus_method_invocation_return_value(invocation, nullptr);
      return;
    }
    const bool is_first = !transaction.is_started_;
    ::g_dbus_method_invocation_return_value(invocation, ::g_variant_new("(b)", is_first));
    {
      const std::lock_guard lock(transaction.mutex_);
      ++transaction.starts_;
      transaction.changed_.notify_all();
    }
    if (is_first) transaction.Begin();
    if (transaction.is_finished_) transaction.EmitFinished(connection);
  }

  void Begin() {
    is_started_ = true;
    thread_ = std::thread([this] {
      const Result<> result = Work();
      InLoop([this, is_success = result.has_value(), text = result ? "" : result.error().message()] {
        End(is_success, text);
      });
    });
  }

  Result<> Work() {
    EmitSignal("Message", ::g_variant_new("(s)", "Working with\n https://one:planted@mirror.example/"));
    EmitSignal("PercentProgress", ::g_variant_new("(su)", "Working on it", 50));
    if (fault_ && fault_->kind == "fail") return Error(ErrorKind::kSystem, fault_->text);
    if (fault_ && fault_->kind == "crash") Die();
    if (fault_ && fault_->kind == "hold") TRY(Hold());
    if (fault_ && fault_->kind == "disconnect") Disconnect();
    TRY(Execute(*disk_, method_, parameters_.get(), stop_.get_token()));
    return {};
  }

  Result<> Hold() {
    EmitSignal("TaskBegin", ::g_variant_new("(s)", "Holding"));
    for (guint i = 0; i <= 43 * 20; ++i) EmitSignal("PercentProgress", ::g_variant_new("(su)", "Holding", i / 20));
    Log("holding");
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_released_ || stop_.stop_requested(); });
    if (stop_.stop_requested()) return Error(ErrorKind::kCancelled, "Operation was cancelled");
    return {};
  }

  void Wake() {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }

  void Disconnect() {
    std::unique_lock lock(mutex_);
    const int before = starts_;
    InLoop([this] { CloseConnections(); });
    changed_.wait(lock, [&] { return starts_ > before; });
  }

  void CloseConnections() {
    for (const auto& connection : connections_) ::g_dbus_connection_close_sync(connection.get(), nullptr, nullptr);
    connections_.clear();
  }

  void EmitSignal(const char* signal, GVariant* parameters) {
    InLoop([this, signal, given = host::Variant(::g_variant_ref_sink(parameters)).release()] {
      const host::Variant owned(given);
      for (const auto& connection : connections_) {
        ::g_dbus_connection_emit_signal(connection.get(), nullptr, "/", kTransaction, signal, owned.get(), nullptr);
      }
    });
  }

  void EmitFinished(GDBusConnection* connection) {
    ::g_dbus_connection_emit_signal(connection, nullptr, "/", kTransaction, "Finished",
                                    ::g_variant_new("(bs)", is_success_, text_.c_str()), nullptr);
  }

  void End(bool is_success, std::string text) {
    is_finished_ = true;
    is_success_ = is_success;
    text_ = std::move(text);
    Log(fmt::format("{} {}", method_, is_success ? "succeeded" : "failed: " + text_));
    disk_.reset();
    at_end_();
    if (fault_ && fault_->kind == "lose") return CloseConnections();
    for (const auto& connection : connections_) EmitFinished(connection.get());
  }

  std::string method_;
  host::Variant parameters_;
  std::string sender_;
  std::optional<LockedDisk> disk_;
  std::function<void()> at_end_;
  std::string title_;
  std::optional<Fault> fault_;
  host::Object<GDBusServer> server_;
  std::vector<host::Object<GDBusConnection>> connections_;
  std::thread thread_;
  std::stop_source stop_;
  bool is_started_ = false;
  bool is_finished_ = false;
  bool is_success_ = false;
  std::string text_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_released_ = false;
  int starts_ = 0;
};

class Daemon {
 public:
  explicit Daemon(host::RegistryAccess registries) : registries_(std::move(registries)) {}

  int Run() {
    const host::Object<GDBusConnection> bus(::g_bus_get_sync(G_BUS_TYPE_SYSTEM, nullptr, nullptr));
    bus_ = bus.get();
    if (const Result<> found = FindOs(); !found) {
      Log(found.error().message());
      return 1;
    }
    Export(kSysrootPath, kSysroot);
    Export(os_path_.c_str(), "org.projectatomic.rpmostree1.OS");
    ::g_unix_signal_add(SIGUSR1, &Daemon::OnRelease, this);
    ::g_bus_own_name_on_connection(bus_, kName, G_BUS_NAME_OWNER_FLAGS_NONE, nullptr, nullptr, nullptr, nullptr);
    Log("started");
    ::g_main_loop_run(::g_main_loop_new(nullptr, FALSE));
    return 0;
  }

 private:
  Result<> FindOs() {
    const host::Object<OstreeSysroot> sysroot(::ostree_sysroot_new_default());
    host::Failure failure;
    if (!::ostree_sysroot_load(sysroot.get(), nullptr, Out(failure))) return host::ToError(failure);
    OstreeDeployment* booted = ::ostree_sysroot_get_booted_deployment(sysroot.get());
    os_path_ = fmt::format("/org/projectatomic/rpmostree1/{}", ::ostree_deployment_get_osname(booted));
    return {};
  }

  void Export(const char* path, const char* interface) {
    static const GDBusInterfaceVTable kTable = {&Daemon::OnCall, &Daemon::OnGet, nullptr, {}};
    static GDBusNodeInfo* const node = ::g_dbus_node_info_new_for_xml(kInterfaces, nullptr);
    ::g_dbus_connection_register_object(bus_, path, ::g_dbus_node_info_lookup_interface(node, interface), &kTable, this,
                                        nullptr, nullptr);
  }

  static gboolean OnRelease(gpointer self) {
    auto& transaction = static_cast<Daemon*>(self)->transaction_;
    if (transaction != nullptr) transaction->Release();
    return G_SOURCE_CONTINUE;
  }

  static GVariant* OnGet(GDBusConnection*, const char*, const char*, const char*, const char* property, GError**,
                         gpointer self) {
    auto& daemon = *static_cast<Daemon*>(self);
    if (std::string(property) == "Booted") return ::g_variant_new_object_path(daemon.os_path_.c_str());
    return daemon.Active();
  }

  GVariant* Active() const {
    const bool is_active = transaction_ != nullptr && !transaction_->is_finished();
    return ::g_variant_new("(sss)", is_active ? transaction_->method().c_str() : "",
                           is_active ? transaction_->sender().c_str() : "", is_active ? os_path_.c_str() : "");
  }

  void EmitActiveTransaction() {
    GVariantDict changed;
    ::g_variant_dict_init(&changed, nullptr);
    ::g_variant_dict_insert_value(&changed, "ActiveTransaction", Active());
    ::g_dbus_connection_emit_signal(bus_, nullptr, kSysrootPath, "org.freedesktop.DBus.Properties", "PropertiesChanged",
                                    ::g_variant_new("(s@a{sv}as)", kSysroot, ::g_variant_dict_end(&changed), nullptr),
                                    nullptr);
  }

  static void OnCall(GDBusConnection*, const char* sender, const char* path, const char*, const char* method,
                     GVariant* parameters, GDBusMethodInvocation* invocation, gpointer self) {
    auto& daemon = *static_cast<Daemon*>(self);
    Log(fmt::format("{} by {}", method, sender));
    if (std::string(path) != kSysrootPath) return daemon.Transact(sender, method, parameters, invocation);
    const auto fault = TakeFault(method);
    if (fault && fault->kind == "exit") Die();
    ::g_dbus_method_invocation_return_value(invocation, nullptr);
    ::g_dbus_connection_flush_sync(daemon.bus_, nullptr, nullptr);
    if (fault && fault->kind == "afterwards") Die();
  }

  void Transact(const std::string& sender, const std::string& method, GVariant* parameters,
                GDBusMethodInvocation* invocation) {
    if (transaction_ != nullptr && !transaction_->is_finished()) {
      if (transaction_->Is(method, parameters)) return Answer(invocation);
      return Refuse(invocation, fmt::format("Transaction in progress: {}\n You can cancel the current transaction with "
                                            "`rpm-ostree cancel`",
                                            transaction_->title()));
    }
    transaction_.reset();
    auto disk = LockedDisk::TryLock(registries_);
    if (!disk) return Refuse(invocation, disk.error().message());
    if (!*disk) return Refuse(invocation, "System transaction in progress");
    transaction_ = std::make_unique<Transaction>(method, parameters, sender, *std::move(*disk),
                                                 [this] { EmitActiveTransaction(); });
    ::g_bus_watch_name_on_connection(bus_, sender.c_str(), G_BUS_NAME_WATCHER_FLAGS_NONE, nullptr, &Daemon::OnGone,
                                     this, nullptr);
    EmitActiveTransaction();
    Answer(invocation);
  }

  // A transaction that nobody has started must not lock others out.
  static void OnGone(GDBusConnection*, const char* name, gpointer self) {
    auto& daemon = *static_cast<Daemon*>(self);
    if (daemon.transaction_ == nullptr || daemon.transaction_->sender() != name) return;
    if (daemon.transaction_->is_started()) return;
    daemon.transaction_.reset();
    daemon.EmitActiveTransaction();
  }

  static void Answer(GDBusMethodInvocation* invocation) {
    ::g_dbus_method_invocation_return_value(invocation, ::g_variant_new("(s)", kAddress));
  }
  static void Refuse(GDBusMethodInvocation* invocation, const std::string& text) {
    ::g_dbus_method_invocation_return_error_literal(invocation, G_IO_ERROR, G_IO_ERROR_BUSY, text.c_str());
  }

  host::RegistryAccess registries_;
  GDBusConnection* bus_ = nullptr;
  std::string os_path_;
  std::unique_ptr<Transaction> transaction_;
};

std::string Option(const Words& words, const std::string& prefix) {
  for (const std::string& word : words) {
    if (word.starts_with(prefix)) return word.substr(prefix.size());
  }
  return "";
}

int Main(const Words& words) {
  // As with the real daemon, /sysroot is writable for this process only.
  if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return 1;
  return Daemon({Option(words, "--auth-file="), Option(words, "--certificates="), Option(words, "--policy=")}).Run();
}

}  // namespace
}  // namespace pintle::test

int main(int count, char** words) { return pintle::test::Main({words + 1, words + count}); }
