// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owning types for curl's objects, and functions that set options.

#include <cstdlib>
#include <string>

#include "base/c_ptr.h"
#include "net/curl_library.h"

namespace pintle::net {

inline CURLMcode FreeMulti(CURLM* multi) { return Curl().multi_cleanup(multi); }
inline void FreeEasy(CURL* easy) { Curl().easy_cleanup(easy); }
inline void FreeLines(curl_slist* lines) { Curl().slist_free_all(lines); }

using Multi = CPtr<CURLM, FreeMulti>;
using Easy = CPtr<CURL, FreeEasy>;
using Lines = CPtr<curl_slist, FreeLines>;

// Setting an option fails only if memory runs out or this version of curl does not have the option.
template <typename Value>
void Set(CURL* easy, CURLoption option, Value value) {
  if (Curl().easy_setopt(easy, option, value) != CURLE_OK) std::abort();
}

template <typename Value>
void Set(CURLM* multi, CURLMoption option, Value value) {
  if (Curl().multi_setopt(multi, option, value) != CURLM_OK) std::abort();
}

template <typename Value>
Value Get(CURL* easy, CURLINFO info) {
  Value value = {};
  Curl().easy_getinfo(easy, info, &value);
  return value;
}

// curl copies the bytes.
inline void SetBlob(CURL* easy, CURLoption option, std::string& bytes) {
  curl_blob blob = {.data = bytes.data(), .len = bytes.size(), .flags = CURL_BLOB_COPY};
  Set(easy, option, &blob);
}

}  // namespace pintle::net
