// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads a file that must have one object.

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "machineconfig/input.h"
#include "machineconfig/objects.h"

namespace pintle::ctl {

// Returns the object, which must be of this kind.  If T is json::Value, the object is not decoded.
template <typename T>
Result<T> ReadOne(const std::string& file, std::string_view kind) {
  const auto read = [&]() -> Result<T> {
    std::vector<json::Value> documents = TRY(machineconfig::ReadDocuments(file));
    if (documents.size() != 1) {
      return Error(ErrorKind::kInvalid, fmt::format("{} documents where one {} is needed", documents.size(), kind));
    }
    return machineconfig::ReadObject<T>(std::move(documents.front()), kind);
  };
  return TRY(read(), file);
}

}  // namespace pintle::ctl
