// SPDX-License-Identifier: Apache-2.0
#include "net/authorities.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <utility>

namespace pintle::net {

Result<> Authorities::Trust(CURL* easy, std::string pem) {
  // These two calls keep curl from trusting the system's authorities as well.
  Set(easy, CURLOPT_CAINFO, static_cast<const char*>(nullptr));
  Set(easy, CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  return Add(easy, pem);
}

#if LIBCURL_VERSION_NUM >= 0x074d00  // 7.77
// The certificates are not passed as a file, because curl caches the contents of files for a day, even if they change.
Result<> Authorities::Add(CURL* easy, std::string& pem) {
  SetBlob(easy, CURLOPT_CAINFO_BLOB, pem);
  return {};
}
#else
// This version of curl (RHEL 9) accepts only a file, and lets requests that name the same file share a connection.
Result<> Authorities::Add(CURL* easy, std::string& pem) {
  if (!file_ || pem != in_file_) {
    UniqueFd file(::memfd_create("authorities", MFD_CLOEXEC));
    if (!file) return Error::FromErrno("memfd_create");
    const ssize_t written = ::write(file.get(), pem.data(), pem.size());
    if (written != static_cast<ssize_t>(pem.size())) return Error::FromErrno("write");
    file_ = std::move(file);
    in_file_ = std::move(pem);
  }
  Set(easy, CURLOPT_CAINFO, fmt::format("/proc/self/fd/{}", file_.get()).c_str());
  return {};
}
#endif

void FollowSystemAuthorities([[maybe_unused]] CURL* easy) {
#if LIBCURL_VERSION_NUM >= 0x075700
  Set(easy, CURLOPT_CA_CACHE_TIMEOUT, 0L);
#endif
}

}  // namespace pintle::net
