// SPDX-License-Identifier: Apache-2.0
#pragma once

// One attempt to have the pods of a node gone.
//
// The pods that go are those of the beginning: what comes to the node later is for the next attempt, or else a pod that
// its owner puts there again and again would keep it for ever.  A pod that a budget keeps is asked again after a while;
// what else goes wrong with one does not hold up the others, and it is asked again less and less often.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "api/pod.h"
#include "drain/settings.h"
#include "drain/turns.h"
#include "event/watches.h"
#include "kube/backoff.h"
#include "kube/client.h"
#include "kube/mirror.h"

namespace pintle::drain {

class Evictions {
 public:
  struct Listener {
    std::function<void(const kube::ObjectName& pod)> evicted;  // Once for each that goes.
    // One of these comes last, and may destroy it.
    std::function<void()> gone;
    std::function<void(const std::string& why)> failed;  // All pods that are left, in the words of `kubectl drain`.
  };

  Evictions(event::Loop& loop, kube::Client client, Turns& turns, const std::string& node, const Settings& settings,
            Listener listener);
  Evictions(const Evictions&) = delete;
  Evictions& operator=(const Evictions&) = delete;

 private:
  struct Leaving {
    Leaving(event::Loop& loop, kube::ObjectName pod, kube::Backoff::Settings times, std::function<void()> ask)
        : name(std::move(pod)), backoff(times, kube::SystemRandom()), again(loop, ask) {}

    kube::ObjectName name;
    bool is_asked = false;  // It has been asked to end, and will.
    bool is_told_of = false;
    std::string why = {};  // It has not: what was said against it last.
    std::string finalizers = {};
    Turns::Turn turn = {};
    kube::Call call = {};
    std::optional<kube::Failure> failure = {};  // The last one.
    kube::Backoff backoff;                      // After what is no answer.
    event::Timer again;
  };

  void Begin();
  void Look(const api::Pod& pod);
  void Ask(const std::string& uid);
  void Answered(const std::string& uid, const Result<kube::Eviction>& answer);
  void TellOf(Leaving& leaving);
  void Gone(const api::Pod& pod);
  void EndWhenEmpty();
  void EndTooLate();
  std::string WhatIsLeft() const;

  event::Loop& loop_;
  kube::Client client_;
  Turns& turns_;
  Settings settings_;
  Listener listener_;
  std::map<std::string, Leaving> leaving_;  // By their uids.
  bool has_begun_ = false;
  std::string trouble_;  // Why the pods are not known.
  event::Timer too_late_;
  std::unique_ptr<kube::Mirror<api::Pod>> pods_;
};

}  // namespace pintle::drain
