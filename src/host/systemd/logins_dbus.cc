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

namespace pintle::host {
namespace {

constexpr const char* kLogindName = "org.freedesktop.login1";
constexpr const char* kLogindPath = "/org/freedesktop/login1";
constexpr const char* kLogindManager = "org.freedesktop.login1.Manager";
constexpr const char* kSession = "org.freedesktop.login1.Session";

// The properties of a session that we read.
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

  // The signals are subscribed first, so that no session that begins before the list is read goes unseen.
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
    if (result < 0) return Problem().Told(result).While("following logind's sessions");
    return {};
  }

 private:
  struct Question {
    Follower& asker;
    std::string session;
    Slot slot;
  };

  static int OnNew(sd_bus_message* message, void* self, sd_bus_error*) {
    const char *session = nullptr, *path = nullptr;
    if (::sd_bus_message_read(message, "so", &session, &path) >= 0) static_cast<Follower*>(self)->Ask(session, path);
    return 0;
  }

  static int OnRemoved(sd_bus_message* message, void* self, sd_bus_error*) {
    const char *session = nullptr, *path = nullptr;
    if (::sd_bus_message_read(message, "so", &session, &path) >= 0) {
      static_cast<Follower*>(self)->logins_.known_.erase(session);
    }
    return 0;
  }

  // Without logind there are no sessions; if it starts later, it announces the new ones.
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
    for (const auto& [session, path] : paths) Ask(session, path);
  }

  void Ask(const std::string& session, const std::string& path) {
    if (!logins_.known_.insert(session).second) return;
    const auto [asked, _] = questions_.insert_or_assign(
        session, std::unique_ptr<Question>(new Question{.asker = *this, .session = session, .slot = nullptr}));
    // This fails only if the connection does, and then all sessions are asked about again.
    static_cast<void>(::sd_bus_call_method_async(bus_, Out(asked->second->slot), kLogindName, path.c_str(),
                                                 "org.freedesktop.DBus.Properties", "GetAll", &OnAnswer,
                                                 asked->second.get(), "s", kSession));
  }

  // A session may be over before logind gets the question.
  static int OnAnswer(sd_bus_message* message, void* asked, sd_bus_error*) {
    auto& question = *static_cast<Question*>(asked);
    Follower& asker = question.asker;
    const auto keep = std::move(asker.questions_.extract(question.session).mapped());
    if (::sd_bus_message_is_method_error(message, nullptr) != 0) {
      asker.logins_.known_.erase(keep->session);
    } else if (const auto login = LoginFrom(message)) {
      asker.logins_.seen_(*login);
    }
    return 0;
  }

  Logins& logins_;
  sd_bus* bus_;
  Slot new_;
  Slot removed_;
  Slot list_;
  std::map<std::string, std::unique_ptr<Question>> questions_;  // The key is the session.
};

Logins::Logins(std::function<void(const AgentLogin&)> seen) : seen_(std::move(seen)) {}
Logins::~Logins() = default;

Result<> Logins::Follow(sd_bus* bus) {
  follower_ = std::make_unique<Follower>(*this, bus);
  return follower_->Begin();
}

}  // namespace pintle::host
