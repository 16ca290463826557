// SPDX-License-Identifier: Apache-2.0
#include "pool/gate.h"

#include <fmt/core.h>

#include <set>
#include <string_view>

#include "base/first_characters.h"
#include "base/printable.h"
#include "pool/time_fields.h"

namespace pintle::pool {
namespace {

// The controller keeps only a few annotations of each Node in memory, among them those with this prefix.
constexpr std::string_view kGatePrefix = "pintle.io/gate-";
constexpr std::size_t kLongestGateMessage = 512;  // In characters.

class GateCompiler {
 public:
  explicit GateCompiler(std::vector<std::string>& problems) : problems_(problems) {}

  Gate Compile(const api::RolloutGate& from, const std::string& field) {
    Gate gate;
    gate.name = from.name;
    if (from.when != "Before" && from.when != "After") {
      Problem(field + ".when", from.when, "is not known; write Before or After");
    }
    if (from.when == "After") gate.when = GateTime::kAfter;
    gate.timeout = LimitOf(from.timeout, field + ".timeout", problems_);
    gate.on_timeout = OnTimeout(from, field);
    SetTest(from, field, gate);
    if (from.name.empty() || from.name.find('/') != std::string::npos) {
      Problem(field + ".name", from.name, "is not a name; write one without a slash");
    }
    if (!names_.insert(from.name).second) {
      Problem(field + ".name", from.name, "is the name of an earlier gate; write another");
    }
    return gate;
  }

 private:
  void Problem(const std::string& field, std::string_view value, std::string_view fault) {
    problems_.push_back(fmt::format("{}: \"{}\" {}", field, value, fault));
  }

  GateTimeout OnTimeout(const api::RolloutGate& from, const std::string& field) {
    const std::string& text = from.on_timeout;
    if (!text.empty() && text != "Wait" && from.timeout.empty()) {
      Problem(field + ".onTimeout", text, "needs a timeout; write one in the gate's field timeout");
    }
    if (text == "Halt") return GateTimeout::kHalt;
    if (text == "Continue") return GateTimeout::kContinue;
    if (!text.empty() && text != "Wait") {
      Problem(field + ".onTimeout", text, "is not known; write Wait, Halt or Continue");
    }
    return GateTimeout::kWait;
  }

  void SetTest(const api::RolloutGate& from, const std::string& field, Gate& gate) {
    int tests = 0;
    const auto set = [&](const auto& test) {
      if (!test) return;
      ++tests;
      gate.test = *test;
    };
    set(from.condition);
    set(from.annotation);
    set(from.prometheus);
    set(from.http);
    if (tests != 1) {
      problems_.push_back(fmt::format(
          "{}: has to have exactly one of nodeCondition, nodeAnnotation, prometheus and http; write one of them",
          field));
    }
    if (from.annotation && !from.annotation->key.starts_with(kGatePrefix)) {
      Problem(field + ".nodeAnnotation.key", from.annotation->key,
              fmt::format("does not begin with {}; choose a key that does, because the controller reads no others",
                          kGatePrefix));
    }
    if (from.prometheus) CheckQuery(*from.prometheus, field + ".prometheus");
    if (from.http) CheckUrl(from.http->url, field + ".http.url");
  }

  // The gate checks append the path and the query of Prometheus' API to the URL.
  void CheckQuery(const api::GateQuery& query, const std::string& field) {
    CheckUrl(query.url, field + ".url");
    if (query.url.find_first_of("?#") != std::string::npos) {
      problems_.push_back(fmt::format(
          "{}.url: has a ? or a #; write the URL of the server only, such as http://prometheus:9090", field));
    }
    if (query.query.empty()) {
      problems_.push_back(
          fmt::format("{}.query: is empty; write a query such as ALERTS{{alertstate=\"firing\"}}", field));
    }
  }

  // If a URL without a server were accepted, libcurl would take the first part of the path that is appended to it for
  // the server.
  void CheckUrl(const std::string& url, const std::string& field) {
    if (!url.starts_with("http://") && !url.starts_with("https://")) {
      problems_.push_back(fmt::format("{}: is not a URL; write one that begins with http:// or https://", field));
    } else if (url.find_first_not_of('/', url.find(':') + 1) == std::string::npos) {
      problems_.push_back(fmt::format("{}: names no server; write a URL such as https://server.example", field));
    }
  }

  std::vector<std::string>& problems_;
  std::set<std::string> names_;
};

}  // namespace

std::vector<Gate> CompileGates(const std::vector<api::RolloutGate>& gates, std::vector<std::string>& problems) {
  GateCompiler compiler(problems);
  std::vector<Gate> compiled;
  for (std::size_t i = 0; i < gates.size(); ++i) {
    compiled.push_back(compiler.Compile(gates[i], fmt::format("spec.gates[{}]", i)));
  }
  return compiled;
}

std::string WhyNotMet(const Gate& gate, const GateResult& result) {
  return fmt::format("gate {} is not met: {}", gate.name,
                     FirstCharacters(Printable(result.message), kLongestGateMessage));
}

}  // namespace pintle::pool
