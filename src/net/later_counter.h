// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts, for each client, the objects LaterAnswer (net/http_answer.h) that a server waits for.
//
// A LaterAnswer may outlive its server, because its owner may keep the request.  So each count owns the counter.

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace pintle::net {

class LaterCounter : public std::enable_shared_from_this<LaterCounter> {
 public:
  using Count = std::shared_ptr<const void>;

  // Counts one more LaterAnswer, as long as the returned object exists.  Returns null if the client has `most` of them
  // already.
  Count Add(const std::string& client_key, std::size_t most) {
    {
      const std::lock_guard lock(mutex_);
      const auto own = answers_.try_emplace(client_key, 0).first;
      if (own->second >= most) {
        if (own->second == 0) answers_.erase(own);
        return nullptr;
      }
      ++own->second;
    }
    return {this, [self = shared_from_this(), client_key](const void*) { self->Remove(client_key); }};
  }

 private:
  void Remove(const std::string& client_key) {
    const std::lock_guard lock(mutex_);
    const auto own = answers_.find(client_key);
    if (--own->second == 0) answers_.erase(own);
  }

  std::mutex mutex_;
  std::unordered_map<std::string, std::size_t> answers_;
};

}  // namespace pintle::net
