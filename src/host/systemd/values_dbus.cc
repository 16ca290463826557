// SPDX-License-Identifier: Apache-2.0
#include "host/systemd/values_dbus.h"

#include <systemd/sd-bus.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

namespace pintle::host {
namespace {

template <typename T>
int ReadBasic(sd_bus_message* message, char type, json::Value& value) {
  T read{};
  const int result = ::sd_bus_message_read_basic(message, type, &read);
  if (result > 0) value = read;
  return result;
}

int ReadFlag(sd_bus_message* message, json::Value& value) {
  int read = 0;
  const int result = ::sd_bus_message_read_basic(message, SD_BUS_TYPE_BOOLEAN, &read);
  value = read != 0;
  return result;
}

bool IsAtEnd(sd_bus_message* message) { return ::sd_bus_message_at_end(message, 0) != 0; }

int ReadEntry(sd_bus_message* message, const char* types, json::Value& object) {
  json::Value key, value;
  int result = ::sd_bus_message_enter_container(message, SD_BUS_TYPE_DICT_ENTRY, types);
  if (result >= 0) result = ReadValue(message, key);
  if (result >= 0) result = ReadValue(message, value);
  if (result < 0) return result;
  object[key.is_string() ? key.text() : json::ToText(key)] = std::move(value);
  return ::sd_bus_message_exit_container(message);
}

int ReadDictionary(sd_bus_message* message, const std::string& element, json::Value& value) {
  value = json::Value::object();
  const std::string types = element.substr(1, element.size() - 2);  // The types between the braces.
  int result = 0;
  while (result >= 0 && !IsAtEnd(message)) result = ReadEntry(message, types.c_str(), value);
  return result;
}

int ReadList(sd_bus_message* message, json::Value& value) {
  value = json::Value::array();
  int result = 0;
  while (result >= 0 && !IsAtEnd(message)) result = ReadValue(message, value.push_back({}));
  return result;
}

int ReadContainer(sd_bus_message* message, char type, const std::string& contents, json::Value& value) {
  int result = ::sd_bus_message_enter_container(message, type, contents.c_str());
  if (result < 0) return result;
  if (type == SD_BUS_TYPE_VARIANT) {
    result = ReadValue(message, value);
  } else if (contents.starts_with('{')) {
    result = ReadDictionary(message, contents, value);
  } else {
    result = ReadList(message, value);
  }
  return result < 0 ? result : ::sd_bus_message_exit_container(message);
}

}  // namespace

int ReadValue(sd_bus_message* message, json::Value& value) {
  char type = 0;
  const char* contents = nullptr;
  const int peeked = ::sd_bus_message_peek_type(message, &type, &contents);
  if (peeked <= 0) return peeked < 0 ? peeked : -EBADMSG;
  switch (type) {
    case SD_BUS_TYPE_STRING:
    case SD_BUS_TYPE_OBJECT_PATH:
    case SD_BUS_TYPE_SIGNATURE:
      return ReadBasic<const char*>(message, type, value);
    case SD_BUS_TYPE_BOOLEAN:
      return ReadFlag(message, value);
    case SD_BUS_TYPE_BYTE:
      return ReadBasic<std::uint8_t>(message, type, value);
    case SD_BUS_TYPE_INT16:
      return ReadBasic<std::int16_t>(message, type, value);
    case SD_BUS_TYPE_UINT16:
      return ReadBasic<std::uint16_t>(message, type, value);
    case SD_BUS_TYPE_INT32:
      return ReadBasic<std::int32_t>(message, type, value);
    case SD_BUS_TYPE_UINT32:
      return ReadBasic<std::uint32_t>(message, type, value);
    case SD_BUS_TYPE_INT64:
      return ReadBasic<std::int64_t>(message, type, value);
    case SD_BUS_TYPE_UINT64:
      return ReadBasic<std::uint64_t>(message, type, value);
    case SD_BUS_TYPE_DOUBLE:
      return ReadBasic<double>(message, type, value);
    case SD_BUS_TYPE_ARRAY:
    case SD_BUS_TYPE_STRUCT:
    case SD_BUS_TYPE_VARIANT:
      return ReadContainer(message, type, contents, value);
    default:
      return -EOPNOTSUPP;
  }
}

}  // namespace pintle::host
