// SPDX-License-Identifier: Apache-2.0
#pragma once

// One attempt to evict the pods of a node.
//
// The attempt covers only the pods that are there when it begins.  Later pods are left to the next attempt, because a
// pod that its owner puts onto the node again and again would otherwise prolong this attempt for ever.  If a budget
// refuses an eviction, the eviction is requested again after a while.  If a request fails in another way, it is
// repeated less and less often, without holding up other pods.  If a pod cannot be read, it is not known whether the
// pod has to go.  So the pod is not evicted, and the attempt fails unless the pod disappears or can be read in time.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
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
    std::function<void(const kube::ObjectName& pod)> evicted;  // Called once for each pod that goes.
    // At the end, either `gone` is called, if all pods are gone, or `failed`, if the time is up.  Both may destroy this
    // object.
    std::function<void()> gone;
    std::function<void(const std::string& why)> failed;  // `why` lists the pods that are left, as `kubectl drain` does.
  };

  Evictions(event::Loop& loop, kube::Client client, Turns& turns, const std::string& node, const Settings& settings,
            Listener listener);
  Evictions(const Evictions&) = delete;
  Evictions& operator=(const Evictions&) = delete;

 private:
  struct LeavingPod {
    LeavingPod(event::Loop& loop, kube::ObjectName pod, kube::Backoff::Settings times,
               std::function<void()> request_eviction)
        : name(std::move(pod)), backoff(times, kube::SystemRandom()), retry(loop, request_eviction) {}

    kube::ObjectName name;
    bool is_terminating = false;
    bool is_reported = false;     // The listener knows that the pod is evicted.
    std::string why = {};         // The refusal of the last request, or its error.
    std::string finalizers = {};  // Separated by commas; set when the pod is terminating.
    Turns::Turn turn = {};
    kube::Call call = {};
    std::optional<kube::Failure> failure = {};  // The failure of the last request.
    kube::Backoff backoff;                      // Used after failures; a refusal by a budget has its own interval.
    event::Timer retry;
  };

  void Begin();
  void EvictIfItGoes(const kube::ObjectName& name, const api::Pod& pod);
  void OnReadable(const api::Pod& pod);
  void NoteTermination(const api::Pod& pod);
  void RequestEviction(const std::string& uid);
  void OnAnswered(const std::string& uid, const Result<kube::Eviction>& answer);
  void ReportEvicted(LeavingPod& leaving);
  void OnGone(const api::Pod& pod);
  void EndWhenEmpty();
  void EndWhenUnreadableAreGone();
  void EndTooLate();
  std::string DescribeRemaining() const;

  event::Loop& loop_;
  kube::Client client_;
  Turns& turns_;
  Settings settings_;
  Listener listener_;
  std::map<std::string, LeavingPod> leaving_;  // The key is the pod's uid.
  // The pods that were there at the beginning and have never been readable.
  std::set<kube::ObjectName> unreadable_;
  bool has_begun_ = false;
  std::string trouble_;  // The last error of listing the pods.
  event::Timer too_late_;
  std::unique_ptr<kube::Mirror<api::Pod>> pods_;
};

}  // namespace pintle::drain
