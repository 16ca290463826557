// SPDX-License-Identifier: Apache-2.0
#pragma once

// An Event: something that happened to an object, as `kubectl describe` prints it.

#include <cstdint>
#include <optional>
#include <string>

#include "api/lenient.h"
#include "api/meta.h"
#include "json/field_list.h"

namespace pintle::api {

struct EventSource {
  std::string component;
  std::string host;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Field{"component", &EventSource::component},
      json::Field{"host", &EventSource::host},
  };
};

struct Event {
  std::string api_version = "v1";
  std::string kind = "Event";
  ObjectMeta metadata;
  ObjectReference involved_object;
  std::string reason;
  std::string message;
  std::string type;  // "Normal" or "Warning".
  EventSource source;
  std::optional<Time> first_timestamp;
  std::optional<Time> last_timestamp;
  std::int32_t count = 0;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"apiVersion", &Event::api_version},
      json::Required{"kind", &Event::kind},
      json::Required{"metadata", &Event::metadata},
      json::Required{"involvedObject", &Event::involved_object},
      json::Field{"reason", &Event::reason},
      json::Field{"message", &Event::message},
      json::Field{"type", &Event::type},
      json::Field{"source", &Event::source},
      json::Field{"firstTimestamp", &Event::first_timestamp},
      json::Field{"lastTimestamp", &Event::last_timestamp},
      json::Field{"count", &Event::count},
  };
};

}  // namespace pintle::api
