// SPDX-License-Identifier: Apache-2.0
#include "serving/ignition_answer.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "net/bearer_token.h"
#include "serving/ignition_route.h"

namespace pintle::serving {
namespace {

// Returns an answer that is a status alone.
net::HttpAnswer Plain(int status) { return {.status = status}; }

// As with Go's server, only the answer to a GET has a body, and only the answers to GET and HEAD have a Content-Type.
net::HttpAnswer Redirect(std::string_view method, std::string location) {
  net::HttpAnswer answer = {.status = 307};
  if (method == "GET") answer.body = std::make_shared<const std::string>(RedirectText(location));
  if (method == "GET" || method == "HEAD") answer.headers.push_back({"Content-Type", "text/html; charset=utf-8"});
  answer.headers.push_back({"Location", std::move(location)});
  return answer;
}

// Answers 503 if there is no config at all, or if machines of a pool would get an error.
net::HttpAnswer ConfigsHealth(const ServedPools& pools) {
  const auto has_state = [](ServedPool::State state) {
    return [state](const auto& pool) { return pool.second->state() == state; };
  };
  const bool is_well = std::any_of(pools.begin(), pools.end(), has_state(ServedPool::State::kServed)) &&
                       std::none_of(pools.begin(), pools.end(), has_state(ServedPool::State::kFailing));
  return Plain(is_well ? 200 : 503);
}

// Returns the answer to a request without a valid token for the pool.
net::HttpAnswer Refusal(TokenProblem problem) {
  if (problem == TokenProblem::kOtherPool) return Plain(403);
  return {.status = 401, .headers = {{"WWW-Authenticate", "Bearer"}}};
}

IgnitionAnswer AnswerConfig(const net::IncomingRequest& request, const std::string& pool, const ServedPools& pools,
                            const Access& access, WallTime now) {
  IgnitionAnswer answer = {.http = {}, .pool = pool};
  if (access.mode != AccessMode::kOpen) {
    answer.token = CheckToken(access.keys, net::BearerTokenOf(request).value_or(""), pool, now);
  }
  if (access.mode == AccessMode::kRequired && answer.token != TokenProblem::kNone) {
    answer.http = Refusal(answer.token);
    return answer;
  }
  auto version = ignition::Negotiate(request.Find("Accept").value_or(""));
  if (!version) {
    answer.http = Plain(400);
    answer.failure = std::move(version).error();
    return answer;
  }
  answer.version = *version;
  const auto found = pools.find(pool);
  if (found == pools.end()) {
    answer.http = Plain(500);
    answer.failure = Error(ErrorKind::kNotFound, fmt::format("there is no pool \"{}\"", pool));
    return answer;
  }
  auto text = found->second->TextFor(*version);
  if (!text) {
    answer.http = Plain(found->second->StatusFor(text.error()));
    answer.failure = std::move(text).error();
    return answer;
  }
  if (*text == nullptr) {
    answer.http = {.status = 503, .headers = {{"Retry-After", "5"}}};
    answer.failure =
        Error(ErrorKind::kUnavailable, "the configs that are being sent take up all memory set aside for them");
    return answer;
  }
  answer.http = {.headers = {{"Content-Type", "application/json"}}, .body = *std::move(text)};
  return answer;
}

}  // namespace

IgnitionAnswer AnswerTo(const net::IncomingRequest& request, const ServedPools& pools, const Access& access,
                        WallTime now) {
  IgnitionRoute route = RouteOf(request.method, request.target);
  if (const auto* plain = std::get_if<PlainRoute>(&route)) return {.http = Plain(plain->status)};
  if (auto* redirect = std::get_if<RedirectRoute>(&route)) {
    return {.http = Redirect(request.method, std::move(redirect->location))};
  }
  if (std::holds_alternative<ConfigsHealthRoute>(route)) return {.http = ConfigsHealth(pools)};
  return AnswerConfig(request, std::get<ConfigRoute>(route).pool, pools, access, now);
}

net::HttpAnswer AnswerHealth(const net::IncomingRequest& request, const ServedPools& pools) {
  const IgnitionRoute route = RouteOf(request.method, request.target);
  if (std::holds_alternative<ConfigsHealthRoute>(route)) return ConfigsHealth(pools);
  const auto* plain = std::get_if<PlainRoute>(&route);
  return Plain(plain == nullptr ? 404 : plain->status);
}

}  // namespace pintle::serving
