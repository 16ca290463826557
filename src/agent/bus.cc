// SPDX-License-Identifier: Apache-2.0
#include "agent/bus.h"

#include <fmt/core.h>
#include <systemd/sd-bus.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/callers.h"
#include "base/log.h"
#include "base/printable.h"
#include "host/systemd/types_dbus.h"
#include "json/fields.h"

namespace pintle::agent {
namespace {

using host::AgentLogin;
using host::AgentOrder;
using host::AgentStatus;
using host::BusError;
using host::Slot;
using std::chrono::milliseconds;

constexpr log::MessageId kNotOnTheBus{"1f7a31b23f564acc9b51c1ba074c167a"};

// sd-bus itself emits the signal Disconnected under this name and path when the connection ends.
constexpr const char* kLocalName = "org.freedesktop.DBus.Local";
constexpr const char* kLocalPath = "/org/freedesktop/DBus/Local";

// RequestName answers with this number if the agent owns the name now.
constexpr std::uint32_t kIsOwner = 1;

// The connection is closed without a flush, which could wait for a bus that hangs.  The last messages matter little.
using OwnBus = CPtr<sd_bus, sd_bus_close_unref>;

const char* ActionOf(AgentOrder order) {
  switch (order) {
    case AgentOrder::kCheck:
      return "io.pintle.agent.check";
    case AgentOrder::kRetry:
      return "io.pintle.agent.retry";
    case AgentOrder::kPause:
    case AgentOrder::kResume:
      return "io.pintle.agent.pause";
  }
  std::abort();
}

// Makes a text printable, and shortens it.  D-Bus carries only UTF-8, but a text may have other bytes in it: a reason,
// for example, may name a file whose name is not UTF-8.
std::string BusText(const std::string& text) {
  constexpr std::size_t kLongest = 4 << 10;
  return Shortened(PrintableLines(text), kLongest);
}

// Defines a field's D-Bus type, and how to append it to a message.
template <typename T>
struct OnBus {  // Most types are enumerations, which are sent by their names.
  static constexpr const char* kType = "s";
  static int Append(sd_bus_message* message, const T& value) {
    return ::sd_bus_message_append(message, kType, json::Encode(value).text().c_str());
  }
};
template <>
struct OnBus<std::string> {
  static constexpr const char* kType = "s";
  static int Append(sd_bus_message* message, const std::string& value) {
    return ::sd_bus_message_append(message, kType, BusText(value).c_str());
  }
};
template <>
struct OnBus<std::optional<std::string>> {
  static constexpr const char* kType = "s";
  static int Append(sd_bus_message* message, const std::optional<std::string>& value) {
    return OnBus<std::string>::Append(message, value.value_or(""));
  }
};
template <>
struct OnBus<std::uint32_t> {
  static constexpr const char* kType = "u";
  static int Append(sd_bus_message* message, std::uint32_t value) {
    return ::sd_bus_message_append(message, kType, value);
  }
};
template <>
struct OnBus<std::vector<std::string>> {
  static constexpr const char* kType = "as";
  static int Append(sd_bus_message* message, const std::vector<std::string>& texts) {
    int result = ::sd_bus_message_open_container(message, SD_BUS_TYPE_ARRAY, "s");
    for (const std::string& text : texts) {
      if (result >= 0) result = OnBus<std::string>::Append(message, text);
    }
    return result < 0 ? result : ::sd_bus_message_close_container(message);
  }
};
template <>
struct OnBus<std::vector<AgentLogin>> {
  static int Append(sd_bus_message* message, const std::vector<AgentLogin>& logins) {
    int result = ::sd_bus_message_open_container(message, SD_BUS_TYPE_ARRAY, "(sss)");
    for (const AgentLogin& login : logins) {
      if (result < 0) return result;
      result = ::sd_bus_message_append(message, "(sss)", BusText(login.user).c_str(), BusText(login.from).c_str(),
                                       login.when.c_str());
    }
    return result < 0 ? result : ::sd_bus_message_close_container(message);
  }
};

// Visits each field that anyone may read.
template <typename Visit>
void ForEachProperty(const Visit& visit) {
  json::ForEachField<AgentStatus>([&]<typename AnyField>(const AnyField& field) {
    if constexpr (!host::kIsForRoot<typename AnyField::Member>) visit(field);
  });
}

int AppendProperty(sd_bus_message* message, const AgentStatus& status, std::string_view property) {
  int result = -ENOENT;
  ForEachProperty([&]<typename AnyField>(const AnyField& field) {
    if (host::AgentProperty(field.name) != property) return;
    result = OnBus<typename AnyField::Member>::Append(message, status.*field.member);
  });
  return result;
}

std::vector<std::string> ChangedProperties(const AgentStatus& a, const AgentStatus& b) {
  std::vector<std::string> changed;
  ForEachProperty([&](const auto& field) {
    if (!json::Equal(a.*field.member, b.*field.member)) changed.push_back(host::AgentProperty(field.name));
  });
  return changed;
}

struct CallHandlers {
  sd_bus_message_handler_t call;
  sd_bus_property_get_t property;
};

// The table of the methods, signals and properties of the agent, in the form that sd-bus needs.  sd-bus keeps
// pointers into this table.
class Vtable {
 public:
  explicit Vtable(CallHandlers handlers) {
    entries_.push_back(SD_BUS_VTABLE_START(0));
    for (const auto& [order, name] : json::kNames<AgentOrder>) {
      entries_.push_back(SD_BUS_METHOD(name, "", "", handlers.call, SD_BUS_VTABLE_UNPRIVILEGED));
    }
    entries_.push_back(SD_BUS_SIGNAL_WITH_NAMES(host::kAgentStateChanged, "ss", "state\0reason\0", 0));
    entries_.push_back(SD_BUS_SIGNAL_WITH_NAMES(host::kAgentProgress, "s", "doing\0", 0));
    entries_.push_back(
        SD_BUS_METHOD(host::kAgentListLogins, "", host::kAgentLoginsType, handlers.call, SD_BUS_VTABLE_UNPRIVILEGED));
    entries_.push_back(SD_BUS_SIGNAL(host::kAgentLoginsChanged, "", 0));
    ForEachProperty([&]<typename AnyField>(const AnyField& field) {
      const char* name = names_.emplace_back(host::AgentProperty(field.name)).c_str();
      entries_.push_back(SD_BUS_PROPERTY(name, OnBus<typename AnyField::Member>::kType, handlers.property, 0,
                                         SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE));
    });
    entries_.push_back(SD_BUS_VTABLE_END);
  }
  Vtable(const Vtable&) = delete;
  Vtable& operator=(const Vtable&) = delete;

  const sd_bus_vtable* get() const { return entries_.data(); }

 private:
  std::list<std::string> names_;
  std::vector<sd_bus_vtable> entries_;
};

Error ErrorIn(sd_bus_message* answer) {
  const sd_bus_error* error = ::sd_bus_message_get_error(answer);
  return Error(ErrorKind::kUnavailable, error->message != nullptr ? error->message : error->name);
}

}  // namespace

class Bus::Connection {
 public:
  // Begins to connect.  Bus::OnNameOwned() or Bus::OnLost() is called when the outcome is known.
  static Result<std::unique_ptr<Connection>> Open(Bus& bus) {
    std::unique_ptr<Connection> connection(new Connection(bus));
    TRY(connection->Begin());
    return connection;
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // A signal that cannot be sent is not sent again: clients read the properties when the connection is back.
  void EmitChanged(std::vector<std::string> properties) {
    std::vector<char*> words;
    for (std::string& property : properties) words.push_back(property.data());
    words.push_back(nullptr);
    static_cast<void>(
        ::sd_bus_emit_properties_changed_strv(sd_bus_.get(), host::kAgentPath, host::kAgentInterface, words.data()));
  }
  template <typename... Texts>
  void EmitSignal(const char* signal, const char* types, const Texts&... texts) {
    static_cast<void>(::sd_bus_emit_signal(sd_bus_.get(), host::kAgentPath, host::kAgentInterface, signal, types,
                                           BusText(texts).c_str()...));
  }

 private:
  explicit Connection(Bus& bus) : bus_(bus), vtable_({.call = &OnCall, .property = &OnProperty}) {}

  Result<> Begin() {
    sd_bus_.reset(TRY(host::OpenSystemBus()).release());
    callers_ = std::make_unique<Callers>(sd_bus_.get());
    int result = ::sd_bus_attach_event(sd_bus_.get(), bus_.loop_.handle(), SD_EVENT_PRIORITY_NORMAL);
    if (result >= 0) {
      result = ::sd_bus_match_signal_async(sd_bus_.get(), Out(end_), kLocalName, kLocalPath, kLocalName, "Disconnected",
                                           &OnEnd, nullptr, this);
    }
    if (result >= 0) {
      result = ::sd_bus_add_object_vtable(sd_bus_.get(), Out(object_), host::kAgentPath, host::kAgentInterface,
                                          vtable_.get(), this);
    }
    if (result >= 0) {
      result = ::sd_bus_request_name_async(sd_bus_.get(), Out(name_), host::kAgentName, 0, &OnName, this);
    }
    if (result < 0) return BusError().ToError(result);
    if (bus_.handlers_.logged_in) TRY(bus_.logins_.Follow(sd_bus_.get()));
    return {};
  }

  static int OnEnd(sd_bus_message*, void* self, sd_bus_error*) {
    static_cast<Connection*>(self)->bus_.OnLost(Error(ErrorKind::kUnavailable, "the connection is closed"));
    return 0;
  }

  static int OnName(sd_bus_message* answer, void* self, sd_bus_error*) {
    Bus& bus = static_cast<Connection*>(self)->bus_;
    std::uint32_t outcome = 0;
    if (::sd_bus_message_is_method_error(answer, nullptr) != 0) {
      bus.OnLost(ErrorIn(answer));
    } else if (::sd_bus_message_read(answer, "u", &outcome) < 0 || outcome != kIsOwner) {
      bus.OnLost(Error(ErrorKind::kUnavailable, "another process owns the name"));
    } else {
      bus.OnNameOwned();
    }
    return 0;
  }

  static int OnProperty(sd_bus*, const char*, const char*, const char* property, sd_bus_message* reply, void* self,
                        sd_bus_error*) {
    return AppendProperty(reply, static_cast<Connection*>(self)->bus_.status_, property);
  }

  static int OnCall(sd_bus_message* call, void* self, sd_bus_error*) {
    Connection& connection = *static_cast<Connection*>(self);
    const std::string_view method = ::sd_bus_message_get_member(call);
    if (method == host::kAgentListLogins) {
      connection.callers_->CarryOutIfAllowed(
          call, {"", [&connection](sd_bus_message* asked) { connection.ReplyWithLogins(asked); }});
      return 1;
    }
    for (const auto& [order, name] : json::kNames<AgentOrder>) {
      if (method != name) continue;
      const AgentOrder given = order;
      connection.callers_->CarryOutIfAllowed(
          call, {ActionOf(given), [&connection, given](sd_bus_message* asked) { connection.CarryOut(given, asked); }});
      return 1;
    }
    return 0;  // sd-bus answers calls of other methods.
  }

  // If the caller is gone, the reply fails, and nothing else has to be done.
  void CarryOut(AgentOrder order, sd_bus_message* call) const {
    const Result<> done = bus_.HandlerOf(order)();
    if (done) {
      static_cast<void>(::sd_bus_reply_method_return(call, ""));
    } else {
      static_cast<void>(
          ::sd_bus_reply_method_errorf(call, host::kAgentFailed, "%s", BusText(done.error().message()).c_str()));
    }
  }

  void ReplyWithLogins(sd_bus_message* call) const {
    host::Message answer;
    int result = ::sd_bus_message_new_method_return(call, Out(answer));
    if (result >= 0) {
      result =
          OnBus<std::vector<AgentLogin>>::Append(answer.get(), bus_.status_.logins.value_or(std::vector<AgentLogin>()));
    }
    if (result >= 0) result = ::sd_bus_send(sd_bus_.get(), answer.get(), nullptr);
    // Without any reply, the caller would wait until its timeout.
    if (result < 0) static_cast<void>(::sd_bus_reply_method_errno(call, result, nullptr));
  }

  Bus& bus_;
  const Vtable vtable_;
  OwnBus sd_bus_;
  Slot end_;
  Slot object_;
  Slot name_;
  std::unique_ptr<Callers> callers_;
};

Bus::Bus(pintle::event::Loop& loop, Handlers handlers)
    : loop_(loop),
      handlers_(std::move(handlers)),
      backoff_({.first = milliseconds(200), .longest = std::chrono::seconds(30), .jitter = 0.5}, kube::SystemRandom()),
      retry_(
          loop, [this] { Connect(); }, kube::kRetrySlack),
      logins_([this](const AgentLogin& login) { AddLogin(login); }) {
  Connect();
}

Bus::~Bus() = default;

void Bus::Connect() {
  connection_.reset();
  auto connection = Connection::Open(*this);
  if (!connection) return OnLost(connection.error());
  connection_ = *std::move(connection);
}

void Bus::OnNameOwned() {
  backoff_.Reset();
  if (std::exchange(is_loss_logged_, false))
    log::Info(fmt::format("the agent is on the system bus as {}", host::kAgentName));
}

// The connection is destroyed later, since a function of the connection may be the caller.
void Bus::OnLost(const Error& why) {
  if (!std::exchange(is_loss_logged_, true)) {
    log::Warning(
        fmt::format("the agent is not on the system bus as {}, and tries again: {}", host::kAgentName, why.message()),
        kNotOnTheBus);
  }
  if (!retry_.armed()) retry_.After(backoff_.Next());
}

void Bus::Publish(AgentStatus status) {
  status.logins = status_.logins;
  Replace(std::move(status));
}

void Bus::AddLogin(const AgentLogin& login) {
  std::vector<AgentLogin> logins = status_.logins.value_or(std::vector<AgentLogin>());
  const auto is_earlier = [](const AgentLogin& a, const AgentLogin& b) { return a.when < b.when; };
  logins.insert(std::upper_bound(logins.begin(), logins.end(), login, is_earlier), login);
  if (logins.size() > host::kMostAgentLogins) logins.erase(logins.begin());
  status_.logins = std::move(logins);
  if (connection_ != nullptr) connection_->EmitSignal(host::kAgentLoginsChanged, "");
  handlers_.logged_in(login);
}

void Bus::Replace(AgentStatus status) {
  const AgentStatus before = std::exchange(status_, std::move(status));
  std::vector<std::string> changed = ChangedProperties(before, status_);
  if (changed.empty() || connection_ == nullptr) return;
  connection_->EmitChanged(std::move(changed));
  if (before.state != status_.state || before.reason != status_.reason) {
    connection_->EmitSignal(host::kAgentStateChanged, "ss", json::Encode(status_.state).text(), status_.reason);
  }
  if (before.doing != status_.doing) connection_->EmitSignal(host::kAgentProgress, "s", status_.doing);
}

const std::function<Result<>()>& Bus::HandlerOf(AgentOrder order) const {
  switch (order) {
    case AgentOrder::kCheck:
      return handlers_.check;
    case AgentOrder::kRetry:
      return handlers_.retry;
    case AgentOrder::kPause:
      return handlers_.pause;
    case AgentOrder::kResume:
      return handlers_.resume;
  }
  std::abort();
}

}  // namespace pintle::agent
