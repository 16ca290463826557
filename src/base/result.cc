// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <system_error>

#include "base/printable.h"

namespace pintle {

Error Error::FromErrno(std::string_view call, int errno_value) {
  const ErrorKind kind = errno_value == ENOENT ? ErrorKind::kNotFound : ErrorKind::kSystem;
  Error error(kind, Printable(call) + ": " + std::generic_category().message(errno_value));
  error.errno_ = errno_value;
  return error;
}

Error Error::While(std::string_view doing) && {
  message_.insert(0, Printable(doing) + ": ");
  return std::move(*this);
}

}  // namespace pintle
