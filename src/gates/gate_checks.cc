// SPDX-License-Identifier: Apache-2.0
#include "gates/gate_checks.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "base/first_characters.h"
#include "json/parse.h"
#include "kube/resource_kind.h"
#include "net/local_address.h"

namespace pintle::gates {
namespace {

// A gate is checked again after this time.
constexpr auto kCheckAgain = std::chrono::seconds(30);
// A result counts for this long.
constexpr auto kResultLasts = std::chrono::minutes(2);
// A request fails after this time.
constexpr auto kPatience = std::chrono::seconds(20);
// The limit for connecting is shorter, so that a server that cannot be reached always leads to the same message.
constexpr auto kPatienceToConnect = std::chrono::seconds(15);
constexpr std::uint64_t kLargestAnswer = 4 << 20;  // In bytes.
// The answer is parsed on the loop's thread, and each value can take about a hundred bytes of memory.
constexpr json::ParseLimits kLimitsOfAnswer = {.depth = 50, .bytes = kLargestAnswer, .values = 250'000};
// In characters.  A message may quote the server, and the messages of all gates stay in memory.
constexpr std::size_t kLongestMessage = 1000;
const GateChecks::Results kNoResults;

// Returns a text that is the same only for gates that ask the same question.
std::string QuestionOf(const pool::Gate& gate) {
  if (const auto* http = std::get_if<api::GateHttp>(&gate.test)) return "GET " + http->url;
  const auto& query = std::get<api::GateQuery>(gate.test);
  return fmt::format("query {}\n{}", query.url, query.query);
}

pool::GateResult NotMet(std::string_view message) {
  return {.is_met = false, .message = FirstCharacters(message, kLongestMessage)};
}

bool IsRedirect(int status) { return status >= 301 && status <= 308 && status != 304; }

// Returns the server's first warning that the result may be incomplete, for instance because a store of Thanos does not
// answer.  Returns "" if there is no such warning.
std::string WarningIn(const json::Value& answer) {
  const json::Value& warnings = answer["warnings"];
  for (const json::Value& warning : warnings) {
    const std::string text = warning.is_string() ? warning.text() : "a warning that is not a text";
    // Such a text is about the query and not about its result.  Prometheus 3 has another field for these texts.
    if (!text.starts_with("PromQL info:")) return text;
  }
  return warnings.is_null() || warnings.is_array() ? "" : "a warning that is not in a list";
}

pool::GateResult JudgeQuery(const std::string& body) {
  const auto answer = json::Parse(body, nullptr, kLimitsOfAnswer);
  if (!answer) return NotMet(fmt::format("cannot read the answer of Prometheus: {}", answer.error().message()));
  if (answer->TextAt({"status"}) != "success") {
    return NotMet(fmt::format("Prometheus cannot evaluate the query: {}", answer->TextAt({"error"})));
  }
  const json::Value* const result = answer->Find({"data", "result"});
  const std::string& type = answer->TextAt({"data", "resultType"});
  if (result == nullptr || !result->is_array() || (type != "vector" && type != "matrix")) {
    return NotMet("the query does not have a list as its result; write one such as ALERTS{alertstate=\"firing\"}");
  }
  if (!result->empty()) {
    return NotMet(
        fmt::format("the query has {} result{} and must have none", result->size(), result->size() == 1 ? "" : "s"));
  }
  if (const std::string warning = WarningIn(*answer); !warning.empty()) {
    return NotMet(
        fmt::format("the query has no result, but perhaps only because of this warning of Prometheus, whose cause has "
                    "to be corrected: {}",
                    warning));
  }
  return {.is_met = true, .message = ""};
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
  if (is_query && is_success) return JudgeQuery(body);
  if (is_success) return {.is_met = true, .message = ""};
  if (IsRedirect(status)) {
    return NotMet(fmt::format("the server answers {}, a redirect; write the URL to which it leads", status));
  }
  // If Prometheus answers with status 400 or 422, the body is JSON that has the reason.
  if (is_query && (status == 400 || status == 422)) {
    if (pool::GateResult result = JudgeQuery(body); !result.is_met) return result;
  }
  return NotMet(fmt::format("the server answers {}", status));
}

GateChecks::GateChecks(event::Loop& loop, const Clock& clock, net::Peers peers, std::function<void()> changed)
    : loop_(loop), clock_(clock), peers_(peers), changed_(std::move(changed)), timer_(loop, [this] { CheckDue(); }) {}

GateChecks::~GateChecks() = default;

// Counts back on the monotonic clock, because the wall clock may have been set since the gate was asked.
WallTime GateChecks::AskedAt(const Check& check) const { return clock_.Wall() - (clock_.Monotonic() - check.asked); }

bool GateChecks::IsTooOld(const Check& check) const {
  // If the wall clock was put back, `newer_than` may lie in the future.  It is ignored then, because no result
  // would be newer.
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
  timer_.Cancel();
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
  if (!checks_.empty() && !timer_.armed()) timer_.After(kCheckAgain);
  if (is_any_outdated) changed_();
}

void GateChecks::Begin(const std::string& policy, Check& check) {
  check.begun = clock_.Monotonic();
  check.due = check.begun + kCheckAgain;
  auto url = UrlOf(check.gate);
  if (!url) return OnEnded(policy, check.gate.name, NotMet(url.error().message()));
  // This check is for requests through a proxy, which would connect to a local host.  Without a proxy, the client
  // checks each address to which it connects.
  if (peers_ == net::Peers::kRemote && net::IsLocalHost(url->host())) {
    return OnEnded(
        policy, check.gate.name,
        NotMet(fmt::format("{} is a loopback or link-local address, which gates may ask only with the option "
                           "--gate-addresses=all of pintle-controller",
                           url->HostAndPort())));
  }
  if (!client_) {
    auto client =
        net::HttpClient::Create(loop_, {.tls = {}, .proxy = net::ProxySettings::FromEnvironment(), .peers = peers_});
    if (!client) return OnEnded(policy, check.gate.name, NotMet(client.error().message()));
    client_.emplace(*std::move(client));
  }
  net::HttpRequest request{.url = *std::move(url)};
  request.timeouts = {.connect = kPatienceToConnect, .stall = kPatience, .whole = kPatience};
  check.is_under_way = true;
  check.call = Ask(policy, check.gate, std::move(request));
}

net::HttpCall GateChecks::Ask(const std::string& policy, const pool::Gate& gate, net::HttpRequest request) {
  const auto ended = [this, policy, gate](const Result<net::HttpResponse>& answer) {
    OnEnded(policy, gate.name,
            answer ? Judge(gate, answer->head.status, answer->body) : NotMet(answer.error().message()));
  };
  if (std::holds_alternative<api::GateQuery>(gate.test)) {
    request.body_limit = kLargestAnswer;
    return client_->Fetch(std::move(request), ended);
  }
  // Only the status counts, so the body is not kept, and a body that is too long is not read to its end.
  request.body_limit = net::kUnlimited;
  struct Answer {
    net::HttpResponse response;
    std::uint64_t received = 0;
  };
  const auto answer = std::make_shared<Answer>();
  return client_->Start(std::move(request),
                        {.head = [answer](const net::HttpHead& head) { answer->response.head = head; },
                         .body =
                             [answer, ended](std::string_view piece) {
                               answer->received += piece.size();
                               if (answer->received > kLargestAnswer) ended(std::move(answer->response));
                             },
                         .end =
                             [answer, ended](Result<> outcome) {
                               if (!outcome) return ended(std::move(outcome).error());
                               ended(std::move(answer->response));
                             }});
}

// The names are copies: destroying `call` below may destroy the names that the caller has.
void GateChecks::OnEnded(std::string policy, std::string gate, pool::GateResult result) {
  const auto of_policy = checks_.find(policy);
  if (of_policy == checks_.end()) return;
  const auto check = of_policy->second.find(gate);
  if (check == of_policy->second.end()) return;
  check->second.is_under_way = false;
  check->second.call = {};  // The server may still be sending the body.
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
