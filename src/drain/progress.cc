// SPDX-License-Identifier: Apache-2.0
#include "drain/progress.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace pintle::drain {
namespace {

constexpr Settings::Time kFirstRetry = std::chrono::seconds(10);
constexpr Settings::Time kLongestRetry = std::chrono::minutes(3);

Settings::Time RetryAfter(int failures) { return std::min(kFirstRetry * (1 << std::min(failures, 10)), kLongestRetry); }

// Returns the phase if it has type P and is about that request.
template <typename P>
const P* About(const Phase& phase, const Request& request) {
  const P* found = std::get_if<P>(&phase);
  return found != nullptr && found->request == request ? found : nullptr;
}

class TransitionMaker {
 public:
  TransitionMaker(const Phase& phase, const Settings& settings, WallTime now)
      : phase_(phase), settings_(settings), now_(now) {}

  std::optional<Transition> operator()(const happened::Seen& seen) const {
    const DrainState& state = seen.state;
    if (!state.asked) return AskedNothing(state);
    return state.asked->verb == Verb::kDrain ? AskedToDrain(state) : AskedToUncordon(*state.asked);
  }

  std::optional<Transition> operator()(const happened::PodsGone&) const {
    const auto* evicting = std::get_if<phase::Evicting>(&phase_);
    if (evicting == nullptr) return std::nullopt;
    return Transition{phase::Answering{evicting->request}, {news::Drained{evicting->request}}, Command::kAnswer};
  }

  std::optional<Transition> operator()(const happened::AttemptFailed& failed) const {
    const auto* evicting = std::get_if<phase::Evicting>(&phase_);
    if (evicting == nullptr) return std::nullopt;
    const Settings::Time pause = evicting->is_slow ? settings_.slow_pause : settings_.pause;
    return Transition{phase::Pausing{evicting->request, evicting->started},
                      {news::AttemptFailed{failed.why, evicting->request, pause, evicting->is_slow}},
                      Command::kWait,
                      pause};
  }

  std::optional<Transition> operator()(const happened::Uncordoned& uncordoned) const {
    const auto* uncordoning = std::get_if<phase::Uncordoning>(&phase_);
    if (uncordoning == nullptr) return std::nullopt;
    return Transition{
        phase::Answering{uncordoning->request}, {news::Uncordoned{uncordoned.stays_cordoned}}, Command::kAnswer};
  }

  std::optional<Transition> operator()(const happened::WriteFailed& failed) const {
    if (const auto* current = std::get_if<phase::Cordoning>(&phase_))
      return RetryLater(*current, news::CordonFailed{failed.why});
    if (const auto* current = std::get_if<phase::Answering>(&phase_))
      return RetryLater(*current, news::AnswerFailed{failed.why});
    if (const auto* current = std::get_if<phase::Uncordoning>(&phase_)) {
      return RetryLater(*current, news::UncordonFailed{failed.why});
    }
    return std::nullopt;
  }

  std::optional<Transition> operator()(const happened::TimeIsUp&) const {
    if (std::holds_alternative<phase::Cordoning>(phase_)) return Transition{phase_, {}, Command::kCordon};
    if (std::holds_alternative<phase::Answering>(phase_)) return Transition{phase_, {}, Command::kAnswer};
    if (std::holds_alternative<phase::Uncordoning>(phase_)) return Transition{phase_, {}, Command::kUncordon};
    if (const auto* current = std::get_if<phase::Pausing>(&phase_))
      return Evict(current->request, current->started, {});
    return std::nullopt;
  }

 private:
  std::optional<Transition> AskedNothing(const DrainState& state) const {
    const auto* idle = std::get_if<phase::Idle>(&phase_);
    if (idle != nullptr && idle->misunderstood == state.misunderstood) return std::nullopt;
    Transition transition = {phase::Idle{state.misunderstood}, {}};
    if (idle == nullptr) transition.news.push_back(NewsOfTheEnd());
    if (!state.misunderstood.empty()) transition.news.push_back(news::Misunderstood{state.misunderstood});
    return transition;
  }

  News NewsOfTheEnd() const {
    if (const auto* answering = std::get_if<phase::Answering>(&phase_)) return news::Answered{answering->request};
    return news::Withdrawn{};
  }

  std::optional<Transition> AskedToDrain(const DrainState& state) const {
    const Request& request = *state.asked;
    const bool is_cordoning = About<phase::Cordoning>(phase_, request) != nullptr;
    const bool is_past_cordoning = !is_cordoning && RequestOf(phase_) == request;
    // The start time that was read first stays valid, even if somebody changes it on the Node.
    if (state.is_cordoned && is_past_cordoning) return std::nullopt;
    // The controller that cordoned the node may have stopped before it could report that.
    if (state.is_cordoned && state.started) return Evict(request, *state.started, {news::Cordoned{request}});
    if (is_cordoning) return std::nullopt;
    return Transition{phase::Cordoning{request}, {news::Cordoning{is_past_cordoning}}, Command::kCordon};
  }

  std::optional<Transition> AskedToUncordon(const Request& request) const {
    if (RequestOf(phase_) == request) return std::nullopt;
    return Transition{phase::Uncordoning{request}, {news::Uncordoning{}}, Command::kUncordon};
  }

  // The Node may have any time as the start, and the difference of two times may be too long for a WallTime.
  bool HasLasted(Settings::Time time, WallTime started) const { return started < now_ - time; }

  Transition Evict(const Request& request, WallTime started, std::vector<News> news) const {
    if (HasLasted(settings_.timeout, started)) news.push_back(news::Overdue{started});
    news.push_back(news::Draining{request, started});
    return {phase::Evicting{request, started, HasLasted(settings_.slow_after, started)}, std::move(news),
            Command::kEvict};
  }

  template <typename P>
  static Transition RetryLater(const P& phase, News news) {
    return {P{phase.request, phase.failures + 1}, {std::move(news)}, Command::kWait, RetryAfter(phase.failures)};
  }

  const Phase& phase_;
  const Settings& settings_;
  WallTime now_;
};

}  // namespace

std::optional<Request> RequestOf(const Phase& phase) {
  return std::visit(
      []<typename P>(const P& at) -> std::optional<Request> {
        if constexpr (std::is_same_v<P, phase::Idle>) {
          return std::nullopt;
        } else {
          return at.request;
        }
      },
      phase);
}

std::optional<Transition> Advance(const Phase& phase, const Event& event, const Settings& settings, WallTime now) {
  return std::visit(TransitionMaker(phase, settings, now), event);
}

}  // namespace pintle::drain
