// SPDX-License-Identifier: Apache-2.0
#include "gates/gate_checks.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "json/parse.h"
#include "kube/resource_kind.h"
#include "net/local_address.h"

namespace pintle::gates {
namespace {

// A gate is checked again after this time.
constexpr auto kCheckAgain = std::chrono::seconds(30);
// A result counts for this long.
constexpr auto kResultLasts = std::chrono::minutes(2);
constexpr auto kPatience = std::chrono::seconds(20);
constexpr std::uint64_t kLargestAnswer = 4 << 20;
const GateChecks::Results kNoResults;

// Returns a text that is the same only for gates that ask the same question.
std::string QuestionOf(const pool::Gate& gate) {
  if (const auto* http = std::get_if<api::GateHttp>(&gate.test)) return "GET " + http->url;
  const auto& query = std::get<api::GateQuery>(gate.test);
  return fmt::format("query {}\n{}", query.url, query.query);
}

pool::GateResult NotMet(std::string message) { return {.is_met = false, .message = std::move(message)}; }

pool::GateResult JudgeQuery(const std::string& body) {
  const auto answer = json::Parse(body);
  if (!answer) return NotMet(fmt::format("the answer of Prometheus is not JSON: {}", answer.error().message()));
  if (answer->TextAt({"status"}) != "success") {
    return NotMet(fmt::format("Prometheus cannot evaluate the query: {}", answer->TextAt({"error"})));
  }
  const json::Value* const result = answer->Find({"data", "result"});
  const std::string& type = answer->TextAt({"data", "resultType"});
  if (result == nullptr || !result->is_array() || (type != "vector" && type != "matrix")) {
    return NotMet("the query does not have a list as its result; write one such as ALERTS{alertstate=\"firing\"}");
  }
  if (result->empty()) return {.is_met = true, .message = ""};
  return NotMet(
      fmt::format("the query has {} result{} and must have none", result->size(), result->size() == 1 ? "" : "s"));
}

}  // namespace

Result<net::Url> UrlOf(const pool::Gate& gate) {
  if (const auto* http = std::get_if<api::GateHttp>(&gate.test)) return net::Url::Parse(http->url);
  const auto& query = std::get<api::GateQuery>(gate.test);
  std::string base = query.url;
  while (base.ends_with('/')) base.pop_back();
  return net::Url::Parse(base + "/api/v1/query" + kube::Query({{"query", query.query}}));
}

pool::GateResult Judge(const pool::Gate& gate, int status, const std::string& body) {
  const bool is_query = std::holds_alternative<api::GateQuery>(gate.test);
  const bool is_success = status >= 200 && status < 300;
  // An answer of Prometheus with status 400 or 422 is JSON that has the reason.
  if (is_query && (is_success || status == 400 || status == 422)) return JudgeQuery(body);
  if (is_success) return {.is_met = true, .message = ""};
  return NotMet(fmt::format("the server answers {}", status));
}

GateChecks::GateChecks(event::Loop& loop, const Clock& clock, net::Peers peers, std::function<void()> changed)
    : loop_(loop), clock_(clock), peers_(peers), changed_(std::move(changed)), next_(loop, [this] { CheckDue(); }) {}

GateChecks::~GateChecks() = default;

// Counts back on the monotonic clock: the wall clock may have been set since the gate was asked.
WallTime GateChecks::AskedAt(const Check& check) const { return clock_.Wall() - (clock_.Monotonic() - check.asked); }

bool GateChecks::IsTooOld(const Check& check) const {
  // If the wall clock was put back, `newer_than` may lie in the future, and no result would be newer.
  return check.newer_than && *check.newer_than < clock_.Wall() && AskedAt(check) <= *check.newer_than;
}

void GateChecks::Want(const std::map<std::string, Wanted>& policies) {
  std::map<std::string, std::map<std::string, Check>> wanted;
  for (const auto& [name, of_policy] : policies) {
    for (const pool::Gate& gate : of_policy.policy->gates) {
      if (gate.is_about_nodes()) continue;
      auto known = checks_[name].extract(gate.name);
      if (known && QuestionOf(known.mapped().gate) == QuestionOf(gate)) {
        wanted[name].insert(std::move(known));
        continue;
      }
      results_[name].erase(gate.name);
      wanted[name].emplace(gate.name, Check{.gate = gate, .call = {}});
    }
  }
  checks_ = std::move(wanted);
  for (auto& [name, checks] : checks_) {
    for (auto& [gate, check] : checks) check.newer_than = policies.at(name).newer_than;
  }
  std::erase_if(results_, [&](const auto& of_policy) { return !checks_.contains(of_policy.first); });
  if (!checks_.empty()) CheckDue();
  for (auto& [policy, results] : results_) {
    const auto& checks = checks_.at(policy);
    std::erase_if(results, [&](const auto& result) { return !checks.contains(result.first); });
    for (auto& [gate, result] : results) result.asked = AskedAt(checks.at(gate));
  }
}

const GateChecks::Results& GateChecks::ResultsOf(const std::string& policy) const {
  const auto found = results_.find(policy);
  return found == results_.end() ? kNoResults : found->second;
}

void GateChecks::Stop() {
  next_.Cancel();
  checks_.clear();
  results_.clear();
}

void GateChecks::CheckDue() {
  const MonotonicTime now = clock_.Monotonic();
  bool is_any_outdated = false;
  for (auto& [policy, checks] : checks_) {
    for (auto& [name, check] : checks) {
      const bool is_outdated = check.answered + kResultLasts <= now;
      if (is_outdated && results_[policy].erase(name) > 0) is_any_outdated = true;
      if (!check.is_under_way && (check.due <= now || IsTooOld(check))) Begin(policy, check);
    }
  }
  if (!checks_.empty() && !next_.armed()) next_.After(kCheckAgain);
  if (is_any_outdated) changed_();
}

void GateChecks::Begin(const std::string& policy, Check& check) {
  check.begun = clock_.Monotonic();
  check.due = check.begun + kCheckAgain;
  auto url = UrlOf(check.gate);
  if (!url) return Ended(policy, check.gate.name, NotMet(url.error().message()));
  // A proxy would connect to such a host.  Without a proxy, the client itself checks the address behind a host name.
  if (peers_ == net::Peers::kRemote && net::IsLocalHost(url->host())) {
    return Ended(policy, check.gate.name,
                 NotMet(fmt::format("{} is a loopback or link-local address, which gates may ask only with the option "
                                    "--gate-addresses=all of pintle-controller",
                                    url->HostAndPort())));
  }
  if (!client_) {
    auto client =
        net::HttpClient::Create(loop_, {.tls = {}, .proxy = net::ProxySettings::FromEnvironment(), .peers = peers_});
    if (!client) return Ended(policy, check.gate.name, NotMet(client.error().message()));
    client_.emplace(*std::move(client));
  }
  net::HttpRequest request{.url = *std::move(url)};
  request.timeouts = {.connect = kPatience, .stall = kPatience, .whole = kPatience};
  request.body_limit = kLargestAnswer;
  check.is_under_way = true;
  check.call = client_->Fetch(std::move(request), [this, policy, gate = check.gate](Result<net::HttpResponse> answer) {
    Ended(policy, gate.name,
          answer ? Judge(gate, answer->head.status, answer->body) : NotMet(answer.error().message()));
  });
}

void GateChecks::Ended(const std::string& policy, const std::string& gate, pool::GateResult result) {
  const auto of_policy = checks_.find(policy);
  if (of_policy == checks_.end()) return;
  const auto check = of_policy->second.find(gate);
  if (check == of_policy->second.end()) return;
  check->second.is_under_way = false;
  check->second.answered = clock_.Monotonic();
  const bool was_too_old = IsTooOld(check->second);
  check->second.asked = check->second.begun;
  result.asked = AskedAt(check->second);
  pool::GateResult& known = results_[policy][gate];
  const bool is_awaited = was_too_old && !IsTooOld(check->second);
  const bool is_news = is_awaited || known.is_met != result.is_met || known.message != result.message;
  known = std::move(result);
  if (is_news) changed_();
}

}  // namespace pintle::gates
