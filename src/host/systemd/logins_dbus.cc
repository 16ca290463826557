// SPDX-License-Identifier: Apache-2.0
#include "host/systemd/logins_dbus.h"

#include <systemd/sd-bus.h>

#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "host/systemd/types_dbus.h"
#include "host/systemd/values_dbus.h"
#include "json/fields.h"

namespace pintle::host {
namespace {

constexpr const char* kLogindName = "org.freedesktop.login1";
constexpr const char* kLogindPath = "/org/freedesktop/login1";
constexpr const char* kLogindManager = "org.freedesktop.login1.Manager";
constexpr const char* kSession = "org.freedesktop.login1.Session";

// The properties that we read from a session.
struct Session {
  std::string user;
  std::string from;
  std::string service;
  bool is_remote = false;
  std::uint64_t began = 0;  // Microseconds since 1970.

  static constexpr auto kFields = json::FieldList{
      json::Field{"Name", &Session::user},       json::Field{"RemoteHost", &Session::from},
      json::Field{"Service", &Session::service}, json::Field{"Remote", &Session::is_remote},
      json::Field{"Timestamp", &Session::began},
  };
};

std::optional<AgentLogin> LoginFrom(sd_bus_message* properties) {
  json::Value value;
  if (ReadValue(properties, value) < 0) return std::nullopt;
  json::Report report;
  const auto session = json::Decode<Session>(std::move(value), report);
  if (report.has_errors() || (!session.is_remote && session.service != "sshd")) return std::nullopt;
  const auto began = std::chrono::microseconds(session.began);
  return AgentLogin{session.user, session.from, ToRfc3339(WallTime(began))};
}

}  // namespace

class Logins::Follower {
 public:
  Follower(Logins& logins, sd_bus* bus) : logins_(logins), bus_(bus) {}
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  // Subscribes to the signals before it requests the list, so that it misses no session that begins in between.
  Result<> Begin() {
    int result = ::sd_bus_match_signal_async(bus_, Out(new_), kLogindName, kLogindPath, kLogindManager, "SessionNew",
                                             &OnNew, nullptr, this);
    if (result >= 0) {
      result = ::sd_bus_match_signal_async(bus_, Out(removed_), kLogindName, kLogindPath, kLogindManager,
                                           "SessionRemoved", &OnRemoved, nullptr, this);
    }
    if (result >= 0) {
      result = ::sd_bus_call_method_async(bus_, Out(list_), kLogindName, kLogindPath, kLogindManager, "ListSessions",
                                          &OnList, this, "");
    }
    if (result < 0) return BusError().ToError(result).While("following logind's sessions");
    return {};
  }

 private:
  // A request for the properties of a session.
  struct Request {
    Follower& follower;
    std::string session;
    Slot slot;
  };

  static int OnNew(sd_bus_message* message, void* self, sd_bus_error*) {
    const char *session = nullptr, *path = nullptr;
    if (::sd_bus_message_read(message, "so", &session, &path) >= 0)
      static_cast<Follower*>(self)->RequestSession(session, path);
    return 0;
  }

  static int OnRemoved(sd_bus_message* message, void* self, sd_bus_error*) {
    const char *session = nullptr, *path = nullptr;
    if (::sd_bus_message_read(message, "so", &session, &path) >= 0) {
      static_cast<Follower*>(self)->logins_.known_.erase(session);
    }
    return 0;
  }

  // Ignores an error: without logind there are no sessions.  If logind starts later, it announces new sessions.
  static int OnList(sd_bus_message* message, void* self, sd_bus_error*) {
    json::Value sessions;
    // Each session has an id, the user's number and name, a seat, and a path.
    if (::sd_bus_message_has_signature(message, "a(susso)") <= 0 || ReadValue(message, sessions) < 0) return 0;
    std::map<std::string, std::string> paths;
    for (const json::Value& session : sessions) {
      paths.emplace(session[0].text(), session[4].text());
    }
    static_cast<Follower*>(self)->TakeList(paths);
    return 0;
  }

  void TakeList(const std::map<std::string, std::string>& paths) {
    std::erase_if(logins_.known_, [&](const std::string& session) { return !paths.contains(session); });
    for (const auto& [session, path] : paths) RequestSession(session, path);
  }

  void RequestSession(const std::string& session, const std::string& path) {
    if (!logins_.known_.insert(session).second) return;
    const auto [request, _] = requests_.insert_or_assign(
        session, std::unique_ptr<Request>(new Request{.follower = *this, .session = session, .slot = nullptr}));
    // This fails only if the connection is lost.  Then the owner of Logins calls Follow() with a new connection, and
    // all sessions are read again.
    static_cast<void>(::sd_bus_call_method_async(bus_, Out(request->second->slot), kLogindName, path.c_str(),
                                                 "org.freedesktop.DBus.Properties", "GetAll", &OnAnswer,
                                                 request->second.get(), "s", kSession));
  }

  // The answer is an error if the session has ended before logind got the request.
  static int OnAnswer(sd_bus_message* message, void* request, sd_bus_error*) {
    const auto& answered = *static_cast<Request*>(request);
    Follower& follower = answered.follower;
    const auto owned = std::move(follower.requests_.extract(answered.session).mapped());
    if (::sd_bus_message_is_method_error(message, nullptr) != 0) {
      follower.logins_.known_.erase(owned->session);
    } else if (const auto login = LoginFrom(message)) {
      follower.logins_.on_login_(*login);
    }
    return 0;
  }

  Logins& logins_;
  sd_bus* bus_;
  Slot new_;
  Slot removed_;
  Slot list_;
  std::map<std::string, std::unique_ptr<Request>> requests_;  // By the session's id.
};

Logins::Logins(std::function<void(const AgentLogin&)> on_login) : on_login_(std::move(on_login)) {}
Logins::~Logins() = default;

Result<> Logins::Follow(sd_bus* bus) {
  follower_ = std::make_unique<Follower>(*this, bus);
  return follower_->Begin();
}

}  // namespace pintle::host
