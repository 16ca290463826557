// SPDX-License-Identifier: Apache-2.0
#include "host/agent_dbus.h"

#include <fmt/core.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "host/systemd/types_dbus.h"
#include "host/systemd/values_dbus.h"
#include "json/fields.h"

namespace pintle::host {
namespace {

using std::chrono::microseconds;

constexpr auto kReadPatience = std::chrono::seconds(25);
constexpr auto kOrderPatience = std::chrono::minutes(5);  // Someone may have to type a password.

constexpr const char* kNoAgent = "no agent runs on this machine";

Result<Message> CallAgent(sd_bus* bus, sd_bus_message* call, microseconds patience) {
  BusError bus_error;
  Message answer;
  const int result =
      ::sd_bus_call(bus, call, static_cast<std::uint64_t>(patience.count()), bus_error.get(), Out(answer));
  if (result >= 0) return answer;
  // The agent may also exit while the call is under way.
  if (bus_error.IsNobodyThere(result)) return Error(ErrorKind::kNotFound, kNoAgent);
  return bus_error.ToError(result);
}

Result<Message> NewCall(sd_bus* bus, const char* interface, const std::string& method) {
  Message call;
  const int result =
      ::sd_bus_message_new_method_call(bus, Out(call), kAgentName, kAgentPath, interface, method.c_str());
  if (result < 0) return BusError().ToError(result);
  return call;
}

// Moves a property into the status.  An empty text in an optional field means that the field is missing.
template <typename AnyField>
void TakeProperty(const AnyField& field, json::Value& properties, json::Value& status) {
  json::Value* property = properties.Find(AgentProperty(field.name));
  if (property == nullptr) return;
  if (!AnyField::kIsRequired && *property == "") return;
  status[field.name] = std::move(*property);
}

json::Value LoginObject(const json::Value& login) {
  if (!login.is_array() || login.size() != 3) return login;
  return {{"user", login[0]}, {"from", login[1]}, {"when", login[2]}};
}

Result<AgentStatus> StatusFrom(json::Value properties, std::optional<json::Value> logins) {
  json::Value status = json::Value::object();
  json::ForEachField<AgentStatus>([&](const auto& field) { TakeProperty(field, properties, status); });
  if (logins) {
    for (json::Value& login : *logins) login = LoginObject(login);
    status["logins"] = *std::move(logins);
  }
  json::Report report;
  auto decoded = json::Decode<AgentStatus>(std::move(status), report);
  TRY(report.ToResult(), "cannot read the agent's status, because the agent and this program have different versions");
  return decoded;
}

Result<json::Value> ReadAnswer(sd_bus_message* answer) {
  json::Value value;
  const int result = ReadValue(answer, value);
  if (result < 0) return BusError().ToError(result);
  return value;
}

Result<json::Value> ReadLogins(sd_bus* bus) {
  const Message call = TRY(NewCall(bus, kAgentInterface, kAgentListLogins));
  const Message answer = TRY(CallAgent(bus, call.get(), kReadPatience));
  return ReadAnswer(answer.get());
}

Result<AgentStatus> ReadStatus(sd_bus* bus) {
  const Message call = TRY(NewCall(bus, kPropertiesInterface, "GetAll"));
  const int result = ::sd_bus_message_append(call.get(), "s", kAgentInterface);
  if (result < 0) return BusError().ToError(result);
  const Message answer = TRY(CallAgent(bus, call.get(), kReadPatience));
  std::optional<json::Value> logins;
  if (::geteuid() == 0) logins = TRY(ReadLogins(bus));
  return StatusFrom(TRY(ReadAnswer(answer.get())), std::move(logins));
}

int OnChange(sd_bus_message*, void* has_changed, sd_bus_error*) {
  *static_cast<bool*>(has_changed) = true;
  return 0;
}

// Waits for a signal that sets `has_changed`, and processes all signals that have arrived by then.
Result<> AwaitChange(sd_bus* bus, const bool& has_changed) {
  for (;;) {
    const int result = ::sd_bus_process(bus, nullptr);
    if (result < 0) return Error::FromErrno("the system bus is gone", -result);
    if (result > 0) continue;
    if (has_changed) return {};
    static_cast<void>(::sd_bus_wait(bus, UINT64_MAX));  // sd_bus_process() will return the error, if there is one.
  }
}

}  // namespace

std::string AgentProperty(std::string_view field) {
  std::string name(field);
  name.at(0) = static_cast<char>(name.at(0) - 'a' + 'A');
  return name;
}

Result<AgentStatus> ReadAgentStatus() {
  const Result<Bus> bus = OpenSystemBus();
  if (!bus) return Error(ErrorKind::kNotFound, fmt::format("{}: {}", kNoAgent, bus.error().message()));
  return TRY(ReadStatus((*bus).get()), "asking the agent");
}

Result<> SendToAgent(AgentOrder order) {
  const Result<Bus> bus = OpenSystemBus();
  if (!bus) return Error(ErrorKind::kNotFound, fmt::format("{}: {}", kNoAgent, bus.error().message()));
  const Message call = TRY(NewCall((*bus).get(), kAgentInterface, json::Encode(order).text()));
  const int result = ::sd_bus_message_set_allow_interactive_authorization(call.get(), 1);
  if (result < 0) return BusError().ToError(result);
  TRY(CallAgent((*bus).get(), call.get(), kOrderPatience), "the agent");
  return {};
}

Result<> FollowAgent(const std::function<bool(const Result<AgentStatus>&)>& on_status) {
  bool has_changed = false;
  const Bus bus = TRY(OpenSystemBus());
  Slot properties, logins, owner;
  int result = ::sd_bus_match_signal(bus.get(), Out(properties), kAgentName, kAgentPath, kPropertiesInterface,
                                     "PropertiesChanged", &OnChange, &has_changed);
  if (result >= 0) {
    result = ::sd_bus_match_signal(bus.get(), Out(logins), kAgentName, kAgentPath, kAgentInterface, kAgentLoginsChanged,
                                   &OnChange, &has_changed);
  }
  const std::string owner_match =
      fmt::format("type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='{}'", kAgentName);
  if (result >= 0) result = ::sd_bus_add_match(bus.get(), Out(owner), owner_match.c_str(), &OnChange, &has_changed);
  if (result < 0) return BusError().ToError(result).While("watching for the agent on the bus");
  std::optional<Result<AgentStatus>> reported;
  for (;;) {
    has_changed = false;
    Result<AgentStatus> status = ReadStatus(bus.get());
    if (!status && status.error().kind() != ErrorKind::kNotFound) {
      return std::move(status).error().While("asking the agent");
    }
    const bool is_same =
        reported && reported->has_value() == status.has_value() && (!status || json::Equal(**reported, *status));
    reported = std::move(status);
    if (!is_same && !on_status(*reported)) return {};
    TRY(AwaitChange(bus.get(), has_changed));
  }
}

}  // namespace pintle::host
