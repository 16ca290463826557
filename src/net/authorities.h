// SPDX-License-Identifier: Apache-2.0
#pragma once

// The CA certificates that curl trusts: either given ones and no others, or those of the system.

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "net/types_curl.h"

namespace pintle::net {

class Authorities {
 public:
  // Makes the transfer `easy` trust the CA certificates in `pem`.
  Result<> Trust(CURL* easy, std::string pem);

 private:
  Result<> Add(CURL* easy, std::string& pem);

#if LIBCURL_VERSION_NUM < 0x074d00  // 7.77
  UniqueFd file_;
  std::string in_file_;  // The certificates in `file_`.
#endif
};

// Keeps curl from using authorities of the system that have been replaced.  If curl was built without a folder of
// authorities, as Fedora's was, it reads the authorities' file only once a day by default.
void FollowSystemAuthorities(CURL* easy);

}  // namespace pintle::net
