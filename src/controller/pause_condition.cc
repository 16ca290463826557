// SPDX-License-Identifier: Apache-2.0
#include "controller/pause_condition.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "api/conditions.h"
#include "base/first_characters.h"
#include "gotext/quote.h"
#include "pool/status.h"

namespace pintle::controller {
namespace {

constexpr std::size_t kMostListed = 10;            // A list in the message has at most this many entries.
constexpr auto kSecond = std::chrono::seconds(1);  // A certificate is valid until the end of its last second.
constexpr std::size_t kLongestName = 120;          // In characters.
constexpr std::size_t kLongestObstacle = 1000;     // In characters.

// Shortens a name, and quotes a name with control characters: paths and units may contain any character.
std::string Named(const std::string& name) {
  std::string shown = FirstCharacters(name, kLongestName);
  if (shown.size() < name.size()) shown += "...";
  const bool is_plain = std::none_of(shown.begin(), shown.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; });
  return is_plain ? shown : gotext::Quoted(shown);
}

// Joins the first names, and adds how many names are left out.
std::string Listed(std::span<const std::string> names, std::string_view between) {
  std::vector<std::string> shown;
  for (const std::string& name : names.first(std::min(names.size(), kMostListed))) shown.push_back(Named(name));
  std::string text = fmt::format("{}", fmt::join(shown, between));
  if (names.size() > kMostListed) text += fmt::format("{}and {} more", between, names.size() - kMostListed);
  return text;
}

std::string Count(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

// Joins sentences with full stops.
class Sentences {
 public:
  void Add(const std::string& sentence) {
    if (!text_.empty()) text_ += ' ';
    text_ += sentence;
    text_ += '.';
  }
  std::string Take() && { return std::move(text_); }

 private:
  std::string text_;
};

std::string WhatWaits(const PauseReport& report) {
  std::string text =
      fmt::format("{} up to {} {} for {} of {}", Count(report.renders.size(), "render", "renders"),
                  report.renders.empty() ? "" : report.renders.back(), report.renders.size() == 1 ? "waits" : "wait",
                  report.waiting_nodes, Count(report.nodes, "node", "nodes"));
  if (report.waits_since) text += fmt::format(", since {}", ToRfc3339(*report.waits_since));
  return text;
}

std::string Consequence(const PauseReport& report) {
  const std::string reasons = report.reasons.empty() ? "" : fmt::format(" ({})", Listed(report.reasons, "; "));
  if (report.reboots) return "Unpausing drains and reboots the nodes" + reasons;
  if (report.drains) return "Unpausing drains the nodes, without a reboot" + reasons;
  return "Unpausing needs no drain and no reboot";
}

std::string BundleText(const WaitingBundle& bundle) {
  if (!bundle.valid_until)
    return fmt::format("Certificates wait: {}, which the nodes do not have yet", Named(bundle.path));
  return fmt::format("Certificates wait: those of the nodes in {} are valid until {} ({})", Named(bundle.path),
                     ToRfc3339(*bundle.valid_until), Named(bundle.subject));
}

std::string WaitingFilesText(const PauseReport& report) {
  std::string text = fmt::format("Files of the ControllerConfig wait on {} of {}: {}", report.nodes_with_waiting_files,
                                 Count(report.nodes, "node", "nodes"), Listed(report.waiting_files, ", "));
  if (report.waiting_nodes == 0 && report.waits_since)
    text += fmt::format("; since {}", ToRfc3339(*report.waits_since));
  return text;
}

std::string PolicyText(const PauseReport& report) {
  if (!report.policy_problem.empty()) {
    return fmt::format("The annotation {} is {}, which is neither Strict nor CertificatesPass; the policy is Strict",
                       kPausePolicyAnnotation, gotext::Quoted(FirstCharacters(report.policy_problem, kLongestName)));
  }
  if (report.policy == PausePolicy::kStrict) return "Pause policy Strict: nothing passes, not even certificates";
  if (report.bundles.empty() && report.has_only_bundles) {
    return "Pause policy CertificatesPass: nodes have the certificates of the ControllerConfig already; only the copy "
           "in the rendered config waits";
  }
  if (report.bundles.empty()) return "Pause policy CertificatesPass: no certificates are among the changes";
  if (!report.has_only_bundles) {
    return "Pause policy CertificatesPass: the certificates still wait, because they were rendered together with "
           "other changes";
  }
  return "Pause policy CertificatesPass: the certificates still wait, because nodes would be drained or rebooted for "
         "them; a node disruption policy for their files lets them pass";
}

std::string Message(const PauseReport& report) {
  Sentences sentences;
  if (report.waiting_nodes > 0) sentences.Add(WhatWaits(report));
  if (report.nodes_with_waiting_files > 0) sentences.Add(WaitingFilesText(report));
  if (!report.files.empty()) sentences.Add("Files: " + Listed(report.files, ", "));
  if (!report.units.empty()) sentences.Add("Units: " + Listed(report.units, ", "));
  if (!report.other.empty()) sentences.Add(Listed(report.other, "; "));
  sentences.Add(report.unknown.empty()
                    ? Consequence(report)
                    : "This list is incomplete, as these configs cannot be read: " + Listed(report.unknown, ", "));
  if (!report.obstacle.empty()) {
    sentences.Add("Nodes cannot reach the target: " + FirstCharacters(report.obstacle, kLongestObstacle));
  }
  for (const WaitingBundle& bundle : std::span(report.bundles).first(std::min(report.bundles.size(), kMostListed))) {
    sentences.Add(BundleText(bundle));
  }
  if (report.busy_nodes > 0) {
    sentences.Add(
        Count(report.busy_nodes, "node continues with the config that it", "nodes continue with the config that they") +
        " got before");
  }
  sentences.Add(PolicyText(report));
  return std::move(sentences).Take();
}

// Returns when the first of the nodes' certificates expires, or nullopt.
std::optional<WallTime> FirstExpiry(const PauseReport& report) {
  std::optional<WallTime> first;
  for (const WaitingBundle& bundle : report.bundles) {
    if (bundle.valid_until && (!first || *bundle.valid_until < *first)) first = bundle.valid_until;
  }
  return first;
}

std::string_view Reason(const PauseReport& report, WallTime now) {
  const std::optional<WallTime> expiry = FirstExpiry(report);
  if (expiry && now >= *expiry + kSecond) return "CertificateExpired";
  if (expiry && *expiry < now + kCertificateIsUrgent) return "CertificateExpiresSoon";
  if (!report.bundles.empty()) return "CertificatesWait";
  if (report.reboots) return "RebootWaits";
  if (report.drains) return "DrainWaits";
  return "ChangeWaits";
}

api::Condition Condition(std::string_view status, std::string_view reason, std::string message, WallTime now) {
  // Kubernetes stores whole seconds.
  return {std::string(kPausedPending), std::string(status), api::Time{std::chrono::floor<std::chrono::seconds>(now)},
          std::string(reason), std::move(message)};
}

api::Condition ConditionFor(const PauseReport& report, WallTime now) {
  if (!report.is_paused) return Condition("False", "NotPaused", "", now);
  if (report.passes) {
    return Condition("False", "CertificatesPass",
                     "Pause policy CertificatesPass: only bundles of certificates differ, for which no node is drained "
                     "or rebooted; the pool is rolled out although it is paused",
                     now);
  }
  if (report.waits()) return Condition("True", Reason(report, now), Message(report), now);
  return Condition("False", "NothingWaits", "", now);
}

}  // namespace

void SetPausedPending(const PauseReport& report, WallTime now, std::vector<api::Condition>& conditions) {
  if (!report.is_paused && api::FindCondition(conditions, kPausedPending) == nullptr) return;
  pool::SetCondition(conditions, ConditionFor(report, now));
}

std::optional<WallTime> NextChange(const PauseReport& report, WallTime now) {
  const std::optional<WallTime> expiry = report.waits() ? FirstExpiry(report) : std::nullopt;
  if (!expiry) return std::nullopt;
  // The first full seconds in which the certificate is urgent, and in which it has expired.
  for (const WallTime then : {*expiry - kCertificateIsUrgent + kSecond, *expiry + kSecond}) {
    if (then > now) return then;
  }
  return std::nullopt;
}

}  // namespace pintle::controller
