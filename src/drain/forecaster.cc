// SPDX-License-Identifier: Apache-2.0
#include "drain/forecaster.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "api/annotations.h"
#include "drain/protocol.h"
#include "drain/which_pods.h"
#include "event/loop.h"

namespace pintle::drain {
namespace {

constexpr int kMostEvictionsAtOnce = 8;
// Each question keeps the pods of its node in memory.
constexpr int kMostQuestionsAtOnce = 8;
// Few tries are enough, because callers repeat their question after a while.
constexpr int kForecastTries = 3;
// The copy of the nodes may be this old, because a forecast is never exact: the state of the pods changes all the time.
constexpr auto kPlacesKeptFor = std::chrono::seconds(5);

// Copies the fields of a node that CouldRunOn() reads.
api::Node PlaceOf(const api::Node& node) {
  api::Node place;
  place.metadata.name = node.metadata.name;
  place.metadata.labels = node.metadata.labels;
  for (const std::string_view annotation :
       {api::kDesiredDrainAnnotation, api::kLastAppliedDrainAnnotation, kKeepCordonedAnnotation}) {
    const std::string* value = api::Find(node.metadata.annotations, annotation);
    if (value != nullptr) place.metadata.annotations.emplace(annotation, *value);
  }
  place.spec = node.spec;
  place.status = node.status;
  return place;
}

}  // namespace

// The nodes where pods could go.  All questions share one copy: in a large cluster, many nodes are asked about at once.
struct Forecaster::Places {
  std::vector<api::Node> nodes;
  std::vector<const api::Node*> pointers;
  MonotonicTime known_since;
};

class Forecaster::Question final : public kube::Work, public std::enable_shared_from_this<Question> {
 public:
  Question(Forecaster& forecaster, std::string node, std::shared_ptr<const Places> places, Done done)
      : forecaster_(forecaster), node_(std::move(node)), places_(std::move(places)), done_(std::move(done)) {}

  // Makes a callback that acts only while somebody waits for the answer.
  template <typename Act>
  auto WhileAsked(Act act) {
    return [weak = weak_from_this(), act = std::move(act)](auto&&... results) {
      if (const auto alive = weak.lock()) act(*alive, std::forward<decltype(results)>(results)...);
    };
  }

  void WaitForTurn() {
    turn_ = forecaster_.questions_.Take(WhileAsked([](Question& self) { self.Begin(); }));
  }

 private:
  struct DryRun {
    Turns::Turn turn = {};
    kube::Call call = {};
  };

  void Begin() {
    list_pods_ = forecaster_.client_.List<api::Pod>({.field_selector = "spec.nodeName=" + node_},
                                                    WhileAsked([](Question& self, Result<std::vector<api::Pod>> pods) {
                                                      if (!pods) return self.End(std::move(pods).error());
                                                      self.pods_ = *std::move(pods);
                                                      self.GetReplicasWhenListed();
                                                    }));
    get_budgets_ = forecaster_.budgets_.Get(WhileAsked([](Question& self, const Result<Budgets::List>& known) {
      if (!known) return self.End(Error(known.error()));
      self.budgets_ = *known;
      self.GetReplicasWhenListed();
    }));
  }

  Surroundings Around() const {
    return {.pods = *pods_, .budgets = *budgets_, .other_nodes = places_->pointers, .node = node_, .wanted = wanted_};
  }

  void GetReplicasWhenListed() {
    if (!pods_ || !budgets_) return;
    for (const PodOwner& owner : PodOwnersToAsk(Around())) {
      replica_calls_[owner] =
          GetReplicas(forecaster_.client_, owner, WhileAsked([owner](Question& self, Result<std::int32_t> wanted) {
                        // If an owner cannot be read, the forecast assumes that all its pods exist.
                        if (wanted) self.wanted_.emplace(owner, *wanted);
                        self.replica_calls_.erase(owner);
                        if (self.replica_calls_.empty()) self.Calculate();
                      }));
    }
    if (replica_calls_.empty()) Calculate();
  }

  void Calculate() {
    blockers_ = ForecastDrain(Around());
    std::set<kube::ObjectName> blocked;
    for (const Blocker& blocker : blockers_) blocked.insert(blocker.pod);
    for (const api::Pod& pod : *pods_) {
      const bool is_free = Goes(pod) && !IsTerminating(pod) && !blocked.contains(kube::NameOf(pod.metadata));
      if (is_free) AskAbout(pod);
    }
    EndWhenAnswered();
  }

  void AskAbout(const api::Pod& pod) {
    const auto name = kube::NameOf(pod.metadata);
    dry_runs_[name].turn = forecaster_.evictions_.Take(WhileAsked([name, uid = pod.metadata.uid](Question& self) {
      self.dry_runs_.at(name).call = self.forecaster_.client_.Once({}).Evict(
          name, uid, self.WhileAsked([name](Question& asker, const Result<kube::Eviction>& answer) {
            asker.OnAnswered(name, answer);
          }),
          kube::EvictionMode::kDryRun);
    }));
  }

  void OnAnswered(const kube::ObjectName& pod, const Result<kube::Eviction>& answer) {
    if (!answer) {
      blockers_.push_back({pod, "", answer.error().message(), answer.error().kind() == ErrorKind::kUnavailable});
    } else if (const auto* kept = std::get_if<kube::KeptByBudget>(&*answer)) {
      // The budget has changed since the forecast was calculated, and may change again.
      blockers_.push_back({pod, "", kept->why, true});
    }
    dry_runs_.erase(pod);
    EndWhenAnswered();
  }

  void EndWhenAnswered() {
    if (!dry_runs_.empty()) return;
    std::sort(blockers_.begin(), blockers_.end(), [](const Blocker& a, const Blocker& b) { return a.pod < b.pod; });
    End(std::move(blockers_));
  }

  void End(Result<std::vector<Blocker>> outcome) {
    list_pods_ = {};
    get_budgets_ = {};
    replica_calls_.clear();
    dry_runs_.clear();
    // The caller may keep the call for long, so the memory is freed now.
    pods_.reset();
    budgets_.reset();
    places_.reset();
    turn_ = {};
    const Done done = std::exchange(done_, nullptr);
    if (done) done(std::move(outcome));
  }

  Forecaster& forecaster_;
  std::string node_;
  std::shared_ptr<const Places> places_;
  Done done_;
  Turns::Turn turn_;
  std::optional<std::vector<api::Pod>> pods_;
  Budgets::List budgets_;
  std::map<PodOwner, std::int32_t> wanted_;
  std::map<PodOwner, kube::Call> replica_calls_;
  std::vector<Blocker> blockers_;
  std::map<kube::ObjectName, DryRun> dry_runs_;
  kube::Call list_pods_;
  kube::Call get_budgets_;
};

Forecaster::Forecaster(event::Loop& loop, kube::Client client, const Clock& clock)
    : client_(client.Trying(kForecastTries, {})),
      clock_(clock),
      budgets_(std::move(client), clock),
      questions_(loop, kMostQuestionsAtOnce),
      evictions_(loop, kMostEvictionsAtOnce) {}

kube::Call Forecaster::Ask(const std::string& node, std::span<const api::Node* const> nodes, Done done) {
  const auto question = std::make_shared<Question>(*this, node, PlacesAmong(nodes), std::move(done));
  question->WaitForTurn();
  return kube::Call(question);
}

std::shared_ptr<const Forecaster::Places> Forecaster::PlacesAmong(std::span<const api::Node* const> nodes) {
  auto places = places_.lock();
  const MonotonicTime now = clock_.Monotonic();
  if (places && now - places->known_since < kPlacesKeptFor) return places;
  if (!places) places_ = places = std::make_shared<Places>();
  // Questions that still wait share this object, so they also get the new nodes.
  places->known_since = now;
  places->nodes.clear();
  places->pointers.clear();
  for (const api::Node* node : nodes) places->nodes.push_back(PlaceOf(*node));
  for (const api::Node& place : places->nodes) places->pointers.push_back(&place);
  return places;
}

}  // namespace pintle::drain
