// SPDX-License-Identifier: Apache-2.0
#include "agent/callers.h"

#include <fmt/core.h>
#include <systemd/sd-bus.h>

#include <chrono>
#include <list>
#include <optional>
#include <utility>

#include "host/systemd/types_dbus.h"

namespace pintle::agent {
namespace {

using host::Message;
using host::Slot;

constexpr const char* kBusName = "org.freedesktop.DBus";
constexpr const char* kBusPath = "/org/freedesktop/DBus";
constexpr const char* kPolkitName = "org.freedesktop.PolicyKit1";
constexpr const char* kPolkitPath = "/org/freedesktop/PolicyKit1/Authority";
constexpr const char* kPolkitAuthority = "org.freedesktop.PolicyKit1.Authority";
constexpr const char* kDenied = "org.freedesktop.DBus.Error.AccessDenied";
constexpr const char* kTooMany = "org.freedesktop.DBus.Error.LimitsExceeded";
constexpr const char* kNoReply = "org.freedesktop.DBus.Error.NoReply";

constexpr auto kPolkitPatience = std::chrono::minutes(5);  // Someone may have to type a password.

bool IsError(sd_bus_message* answer) { return ::sd_bus_message_is_method_error(answer, nullptr) != 0; }

// If the caller is gone, the reply fails, and nothing else has to be done.
void Refuse(sd_bus_message* call, const char* error, const std::string& why) {
  static_cast<void>(::sd_bus_reply_method_errorf(call, error, "%s", why.c_str()));
}

Message NewPolkitCall(sd_bus* bus, const char* method) {
  Message call;
  static_cast<void>(
      ::sd_bus_message_new_method_call(bus, Out(call), kPolkitName, kPolkitPath, kPolkitAuthority, method));
  return call;
}

}  // namespace

// A connection whose calls are held.
class Callers::Caller {
 public:
  Caller(Callers& callers, std::string name) : callers_(callers), name_(std::move(name)) {}
  ~Caller() {
    for (const Call& call : calls_) {
      if (!call.question_id.empty()) CancelAndGiveBack(call);
    }
  }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  const std::string& name() const { return name_; }

  // Returns false if the request could not be sent.
  bool LookUpUser() {
    return ::sd_bus_call_method_async(callers_.bus_, Out(user_lookup_), kBusName, kBusPath, kBusName,
                                      "GetConnectionUnixUser", &OnUser, this, "s", name_.c_str()) >= 0;
  }

  void Take(sd_bus_message* message, Request request) {
    if (!user_ && calls_.size() >= kCallsOfUnknownUser) return Refuse(message, kTooMany, "too many calls at once");
    Call& call = calls_.emplace_back(*this, std::move(request), Message(::sd_bus_message_ref(message)));
    if (user_) Admit(call);
  }

 private:
  struct Call {
    Call(Caller& from, Request wanted, Message received)
        : caller(from), request(std::move(wanted)), message(std::move(received)) {}

    Caller& caller;
    Request request;
    Message message;
    std::string question_id;  // The id of the question to polkit; empty if none is open.
    Slot question;
  };

  static int OnUser(sd_bus_message* answer, void* self, sd_bus_error*) {
    Caller& caller = *static_cast<Caller*>(self);
    std::uint32_t user = 0;
    if (IsError(answer) || ::sd_bus_message_read(answer, "u", &user) < 0) {
      caller.RefuseAll("the caller is unknown");
    } else if (user == 0) {
      caller.CarryOutAll();
    } else {
      caller.AdmitAll(user);
    }
    return 0;
  }

  void RefuseAll(const std::string& why) {
    for (const Call& call : calls_) Refuse(call.message.get(), kDenied, why);
    callers_.Forget(*this);
  }

  void CarryOutAll() {
    for (const Call& call : calls_) call.request.carry_out(call.message.get());
    callers_.Forget(*this);
  }

  void AdmitAll(std::uint32_t user) {
    user_ = user;
    for (auto call = calls_.begin(); call != calls_.end();) Admit(*call++);
    if (calls_.empty()) callers_.Forget(*this);
  }

  // Takes a place and asks polkit.  If the call is refused, it is removed, and `call` must not be used afterwards.
  void Admit(Call& call) {
    if (call.request.action.empty()) return End(call, kDenied, "only root may do this");
    if (!callers_.TakePlace(*user_)) return End(call, kTooMany, "too many calls wait for polkit; try again later");
    call.question_id = fmt::format("{}", ++callers_.questions_);
    if (!Watch() || !AskPolkit(call)) {
      CancelAndGiveBack(call);
      End(call, kDenied, "polkit could not be asked for permission, so only root may do this");
    }
  }

  // Subscribes to the signal that reports the end of the caller's connection.
  bool Watch() {
    if (gone_ != nullptr) return true;
    const std::string match =
        fmt::format("type='signal',sender='{}',path='{}',interface='{}',member='NameOwnerChanged',arg0='{}',arg2=''",
                    kBusName, kBusPath, kBusName, name_);
    return ::sd_bus_add_match_async(callers_.bus_, Out(gone_), match.c_str(), &OnGone, &OnWatching, this) >= 0;
  }

  static int OnWatching(sd_bus_message* answer, void* self, sd_bus_error*) {
    if (IsError(answer)) static_cast<Caller*>(self)->RefuseAll("the connection of the caller cannot be watched");
    return 0;
  }

  static int OnGone(sd_bus_message*, void* self, sd_bus_error*) {
    Caller& caller = *static_cast<Caller*>(self);
    caller.callers_.Forget(caller);
    return 0;
  }

  bool AskPolkit(Call& call) {
    const auto is_interactive =
        static_cast<std::uint32_t>(::sd_bus_message_get_allow_interactive_authorization(call.message.get()) > 0);
    const Message question = NewPolkitCall(callers_.bus_, "CheckAuthorization");
    if (question == nullptr) return false;
    int result =
        ::sd_bus_message_append(question.get(), "(sa{sv})sa{ss}us", "system-bus-name", 1, "name", "s", name_.c_str(),
                                call.request.action.c_str(), 0, is_interactive, call.question_id.c_str());
    const auto patience = std::chrono::microseconds(kPolkitPatience).count();
    if (result >= 0) {
      result = ::sd_bus_call_async(callers_.bus_, Out(call.question), question.get(), &OnPolkit, &call,
                                   static_cast<std::uint64_t>(patience));
    }
    return result >= 0;
  }

  static int OnPolkit(sd_bus_message* answer, void* asked, sd_bus_error*) {
    Call& call = *static_cast<Call*>(asked);
    Caller& caller = call.caller;
    int is_allowed = 0;
    if (IsError(answer)) {
      const sd_bus_error* error = ::sd_bus_message_get_error(answer);
      // Polkit may still be asking someone for a password.
      if (::sd_bus_message_is_method_error(answer, kNoReply) != 0) caller.CancelQuestion(call);
      caller.GiveBack(call);
      caller.End(call, kDenied,
                 fmt::format("only root may do this, since polkit does not answer: {}",
                             error->message != nullptr ? error->message : error->name));
    } else if (::sd_bus_message_enter_container(answer, SD_BUS_TYPE_STRUCT, "bba{ss}") < 0 ||
               ::sd_bus_message_read(answer, "b", &is_allowed) < 0 || is_allowed == 0) {
      caller.GiveBack(call);
      caller.End(call, kDenied, fmt::format("polkit does not allow you to do this ({})", call.request.action));
    } else {
      caller.GiveBack(call);
      call.request.carry_out(call.message.get());
      caller.Remove(call);
    }
    if (caller.calls_.empty()) caller.callers_.Forget(caller);
    return 0;
  }

  void GiveBack(Call& call) const {
    call.question_id.clear();
    callers_.GiveBackPlace(*user_);
  }

  // Frees the place of a call whose question polkit has not answered, and cancels the question.
  void CancelAndGiveBack(const Call& call) const {
    CancelQuestion(call);
    callers_.GiveBackPlace(*user_);
  }

  // If cancelling fails, polkit's own timeout ends the question.
  void CancelQuestion(const Call& call) const {
    if (call.question == nullptr) return;
    const Message message = NewPolkitCall(callers_.bus_, "CancelCheckAuthorization");
    if (message == nullptr) return;
    static_cast<void>(::sd_bus_message_set_auto_start(message.get(), 0));
    static_cast<void>(::sd_bus_message_append(message.get(), "s", call.question_id.c_str()));
    static_cast<void>(::sd_bus_send(callers_.bus_, message.get(), nullptr));
  }

  void End(const Call& call, const char* error, const std::string& why) {
    Refuse(call.message.get(), error, why);
    Remove(call);
  }

  void Remove(const Call& call) {
    calls_.remove_if([&](const Call& each) { return &each == &call; });
  }

  Callers& callers_;
  const std::string name_;
  std::optional<std::uint32_t> user_;
  Slot user_lookup_;
  Slot gone_;
  std::list<Call> calls_;
};

Callers::Callers(::sd_bus* bus) : bus_(bus) {}
Callers::~Callers() = default;

void Callers::CarryOutIfAllowed(::sd_bus_message* call, Request request) {
  const char* name = ::sd_bus_message_get_sender(call);
  if (name == nullptr) return Refuse(call, kDenied, "the caller is unknown");
  auto [caller, is_new] = callers_.try_emplace(name);
  if (is_new) {
    caller->second = std::make_unique<Caller>(*this, name);
    if (!caller->second->LookUpUser()) {
      callers_.erase(caller);
      return Refuse(call, kDenied, "cannot ask the bus which user sent this call");
    }
  }
  caller->second->Take(call, std::move(request));
}

void Callers::Forget(const Caller& caller) {
  const auto found = callers_.find(caller.name());
  // Destroying a caller releases its messages, which may call functions of this class; by then the caller must not
  // be found in the map.
  const std::unique_ptr<Caller> forgotten = std::move(found->second);
  callers_.erase(found);
}

bool Callers::TakePlace(std::uint32_t user) {
  std::size_t& taken = places_[user];
  if (taken >= kPlacesOfUser || places_of_all_ >= kPlacesOfAll) {
    if (taken == 0) places_.erase(user);
    return false;
  }
  ++taken;
  ++places_of_all_;
  return true;
}

void Callers::GiveBackPlace(std::uint32_t user) {
  const auto taken = places_.find(user);
  if (--taken->second == 0) places_.erase(taken);
  --places_of_all_;
}

}  // namespace pintle::agent
