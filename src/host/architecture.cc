// SPDX-License-Identifier: Apache-2.0
#include "host/architecture.h"

#include <sys/utsname.h>

namespace pintle::host {

Result<std::string> Architecture() {
  struct utsname name {};
  if (::uname(&name) != 0) return Error::FromErrno("uname");
  return std::string(static_cast<const char*>(name.machine));
}

}  // namespace pintle::host
