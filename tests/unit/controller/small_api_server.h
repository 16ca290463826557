// SPDX-License-Identifier: Apache-2.0
#pragma once

// A small API server in the test's own process.  It stores objects, answers lists and watches of them, gives each write
// a new version, and refuses the requests that a test selects.

#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "json/parse.h"
#include "support/expect.h"
#include "unit/kube/bad_answers.h"
#include "unit/kube/scripted_server.h"

namespace pintle::controller {

// The path of the Machine Config Operator's kinds.
inline const std::string kApi = "/apis/machineconfiguration.openshift.io/v1/";

class SmallApiServer {
 public:
  using Refusal = std::function<std::optional<kube::Answer>(const kube::ReceivedRequest& request)>;

  // Returns the answer with which the API server refuses a request.
  static kube::Answer Status(int code, const std::string& reason, const std::string& message) {
    return kube::StatusAnswer(code, reason, message);
  }

  kube::Access access() const { return server_.access(); }

  // `refusal` is called for each request, by several threads; a request for which it returns an answer is not handled.
  void Refuse(Refusal refusal) {
    const std::lock_guard lock(mutex_);
    refusal_ = std::move(refusal);
  }
  // All requests that begin with this text get the answer.
  void Refuse(const std::string& beginning, const kube::Answer& answer) {
    Refuse([beginning, answer](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
      if (!request.line.starts_with(beginning)) return std::nullopt;
      return answer;
    });
  }

  // A silent server delays the events of watches until the silence ends.
  void Silence(bool is_silent) {
    const std::lock_guard lock(mutex_);
    is_silent_ = is_silent;
  }

  void Put(const std::string& plural, json::Value object) {
    const std::lock_guard lock(mutex_);
    Store(plural, std::move(object));
  }
  void Remove(const std::string& plural, const std::string& name) {
    const std::lock_guard lock(mutex_);
    Drop(plural, name);
  }
  // Restores an object from a backup of the store; the next write gets the version after the object's.  A watch gets no
  // event about the restored object, nor about writes up to the version that it has already seen.
  void Restore(const std::string& plural, const json::Value& object) {
    const std::lock_guard lock(mutex_);
    const json::Value& metadata = object.at("metadata");
    version_ = std::atoi(metadata.at("resourceVersion").text().c_str());
    objects_[plural][metadata.at("name").text()] = object;
  }
  // Returns null if there is no such object.
  json::Value Find(const std::string& plural, const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_[plural].find(name);
    return found == objects_[plural].end() ? json::Value() : found->second;
  }
  // Returns how many requests have begun with this text.
  std::size_t CountOf(const std::string& beginning) {
    const std::lock_guard lock(mutex_);
    std::size_t count = 0;
    for (const std::string& line : requests_) count += line.starts_with(beginning) ? 1 : 0;
    return count;
  }
  // Returns the reasons of all events.
  std::vector<std::string> EventReasons() {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> reasons;
    for (const auto& [name, event] : objects_["events"]) reasons.push_back(event["reason"].text());
    return reasons;
  }

 private:
  struct Target {
    std::string method;
    std::string plural;
    std::string name;
    std::string query;
  };
  struct WatchEvent {
    int version;
    std::string line;
  };

  // Parses "PATCH /apis/GROUP/VERSION/namespaces/NAMESPACE/PLURAL/NAME/status?QUERY".
  static Target TargetOf(const std::string& line) {
    Target target;
    const std::size_t space = line.find(' ');
    target.method = line.substr(0, space);
    std::string path = line.substr(space + 1);
    if (const std::size_t mark = path.find('?'); mark != std::string::npos) {
      target.query = path.substr(mark + 1);
      path.resize(mark);
    }
    std::vector<std::string> parts;
    for (std::size_t at = 1; at <= path.size();) {
      const std::size_t end = std::min(path.find('/', at), path.size());
      parts.push_back(path.substr(at, end - at));
      at = end + 1;
    }
    std::size_t first = parts.front() == "api" ? 2 : 3;
    // "/api/v1/namespaces/NAME" is the path of a Namespace.
    if (first + 2 < parts.size() && parts[first] == "namespaces") first += 2;
    if (first < parts.size()) target.plural = parts[first];
    if (first + 1 < parts.size()) target.name = parts[first + 1];
    return target;
  }

  // Records the request and returns the function that may refuse it.
  Refusal Received(const kube::ReceivedRequest& request) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request.line);
    return refusal_;
  }

  kube::Answer AnswerTo(const kube::ReceivedRequest& request) {
    // A refusal may wait for another request, so it is called without the lock.
    if (const Refusal refusal = Received(request)) {
      if (auto refused = refusal(request)) return *std::move(refused);
    }
    const std::lock_guard lock(mutex_);
    const Target target = TargetOf(request.line);
    const bool is_for_collection = target.method == "GET" && target.name.empty();
    if (is_for_collection && target.query.find("watch=1") != std::string::npos) return Watch(target);
    if (is_for_collection) return List(target);
    if (target.method == "POST") return Create(target, request.body);
    auto& objects = objects_[target.plural];
    const auto found = objects.find(target.name);
    if (found == objects.end()) return Status(404, "NotFound", target.plural + " \"" + target.name + "\" not found");
    if (target.method == "GET") return {.body = json::ToText(found->second)};
    if (target.method == "PATCH") return Patch(target, request.body, found->second);
    Drop(target.plural, target.name);
    return {.body = "{}"};
  }

  kube::Answer List(const Target& target) {
    json::Value list = {{"metadata", {{"resourceVersion", std::to_string(version_)}}}, {"items", json::Value::array()}};
    for (const auto& [name, object] : objects_[target.plural]) list["items"].push_back(object);
    return {.body = json::ToText(list)};
  }

  kube::Answer Watch(const Target& target) {
    const std::size_t at = target.query.find("resourceVersion=");
    int since = std::atoi(target.query.c_str() + at + 16);
    const auto more = [this, plural = target.plural, since]() mutable {
      const std::lock_guard lock(mutex_);
      std::string lines;
      if (is_silent_) return lines;
      for (const WatchEvent& event : events_[plural]) {
        if (event.version <= since) continue;
        since = event.version;
        lines += event.line;
      }
      return lines;
    };
    return {.ending = kube::Ending::kNever, .more = more};
  }

  kube::Answer Create(const Target& target, const std::string& body) {
    json::Value object = ValueOf(json::Parse(body));
    const std::string name = object["metadata"]["name"].text();
    if (objects_[target.plural].contains(name)) {
      return Status(409, "AlreadyExists", target.plural + " \"" + name + "\" already exists");
    }
    Store(target.plural, std::move(object));
    return {.status = 201, .body = json::ToText(objects_[target.plural][name])};
  }

  kube::Answer Patch(const Target& target, const std::string& body, const json::Value& before) {
    const json::Value patch = ValueOf(json::Parse(body));
    const std::string version = patch.TextAt({"metadata", "resourceVersion"});
    if (!version.empty() && version != before.TextAt({"metadata", "resourceVersion"})) {
      return Status(409, "Conflict", "the object has been modified");
    }
    for (const json::Value& operation : patch) {
      if (operation.TextAt({"path"}) != "/metadata/resourceVersion") continue;
      if (operation.TextAt({"value"}) == before.TextAt({"metadata", "resourceVersion"})) continue;
      if (operation.TextAt({"op"}) == "replace") return Status(409, "Conflict", "the object has been modified");
      return Status(422, "Invalid", "the server rejected our request due to an error in our request");
    }
    // nlohmann's library applies the patch, because it is independent of the code under test.
    auto now = nlohmann::json::parse(json::ToText(before));
    if (patch.is_array()) {
      now = now.patch(nlohmann::json::parse(body));
    } else {
      now.merge_patch(nlohmann::json::parse(body));
    }
    Store(target.plural, ValueOf(json::Parse(now.dump())));
    return {.body = json::ToText(objects_[target.plural][target.name])};
  }

  void Store(const std::string& plural, json::Value object) {
    json::Value& metadata = object["metadata"];
    const std::string name = metadata["name"].text();
    metadata["resourceVersion"] = std::to_string(++version_);
    if (!metadata.contains("uid")) metadata["uid"] = plural + "-" + std::to_string(version_);
    const bool is_new = !objects_[plural].contains(name);
    SendEvent(plural, is_new ? "ADDED" : "MODIFIED", object);
    objects_[plural][name] = std::move(object);
  }

  void Drop(const std::string& plural, const std::string& name) {
    json::Value gone = objects_[plural].extract(name).mapped();
    gone["metadata"]["resourceVersion"] = std::to_string(++version_);
    SendEvent(plural, "DELETED", gone);
  }

  void SendEvent(const std::string& plural, const char* type, const json::Value& object) {
    events_[plural].push_back({version_, json::ToText({{"type", type}, {"object", object}}) + "\n"});
  }

  std::mutex mutex_;
  std::map<std::string, std::map<std::string, json::Value>> objects_;  // The objects by plural, and then by name.
  std::map<std::string, std::vector<WatchEvent>> events_;              // The events of watches, by plural.
  std::vector<std::string> requests_;
  Refusal refusal_;
  bool is_silent_ = false;
  int version_ = 100;
  kube::ScriptedServer server_{{}, [this](const kube::ReceivedRequest& request) { return AnswerTo(request); }};
};

}  // namespace pintle::controller
