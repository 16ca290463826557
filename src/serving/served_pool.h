// SPDX-License-Identifier: Apache-2.0
#pragma once

// The pools that the Ignition server serves, at one moment.
//
// The map of pools never changes: when a pool's config changes, the server gets another map, in which the other pools
// can be the same objects.  The text for a version of a config is made when a machine asks for it, in a cache that the
// pools share.  So a client that asks for every version of every pool does not make the server's memory grow.

#include <array>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "event/text_cache.h"
#include "ignition/spec_version.h"
#include "serving/served_config.h"

namespace pintle::serving {

// The number of versions of Ignition configs that are served.
inline constexpr std::size_t kServedVersions = static_cast<std::size_t>(ignition::SpecVersion::k3_5) + 1;

// Returns a cache for all pools.  Its size is a quarter of the memory that deploy/ gives the controller.
std::shared_ptr<event::TextCache> MakeServedTextCache();

class ServedPool {
 public:
  using Text = event::TextCache::Text;
  // The kind of answer that machines of the pool get.  Making the text of an answer can still fail.
  enum class State {
    kServed,
    kUnrendered,  // An error, because nothing has been rendered for the pool yet.
    kFailing,     // An error that somebody has to correct.
  };

  virtual ~ServedPool() = default;
  ServedPool(const ServedPool&) = delete;
  ServedPool& operator=(const ServedPool&) = delete;

  // Returns null if there is no room for the text now.  Several threads may call this at the same time.
  virtual Result<Text> TextFor(ignition::SpecVersion version) const = 0;
  virtual State state() const { return State::kServed; }
  // Returns the status of the answer when TextFor() has returned this error.
  virtual int StatusFor(const Error&) const { return 500; }

 protected:
  ServedPool() = default;
};

// A pool whose config is known and never changes.  Texts that were made are kept as long as there is room for them.
class KnownPool final : public ServedPool {
 public:
  // If `sources` is an error, all requests for this pool fail with this error.
  KnownPool(Result<ServedSources> sources, const std::shared_ptr<event::TextCache>& cache);

  Result<Text> TextFor(ignition::SpecVersion version) const override {
    return texts_[static_cast<std::size_t>(version)].Get();
  }
  State state() const override { return state_; }

 private:
  using Sources = std::shared_ptr<const Result<ServedSources>>;

  KnownPool(const Sources& sources, const std::shared_ptr<event::TextCache>& cache);

  const State state_;
  const std::array<event::TextCache::Entry, kServedVersions> texts_;
};

// A pool for which nothing has been rendered yet.
class UnrenderedPool final : public ServedPool {
 public:
  Result<Text> TextFor(ignition::SpecVersion) const override {
    return Error(ErrorKind::kUnavailable, "nothing is rendered for the pool yet");
  }
  State state() const override { return State::kUnrendered; }
};

using ServedPools = std::map<std::string, std::shared_ptr<const ServedPool>, std::less<>>;

}  // namespace pintle::serving
