// SPDX-License-Identifier: Apache-2.0

// Answers requests to the Ignition server: the answers must be those of the Operator's server, byte for byte.

#include <fmt/core.h>

#include <string>

#include "json/parse.h"
#include "serving/ignition_answer.h"
#include "serving/served_folder.h"
#include "support/expect.h"
#include "vectors/cases.h"

namespace pintle::serving {
namespace {

using vectors::Case;

class ServerVectors : public testing::TestWithParam<std::string> {};

net::HttpAnswer Answer(const json::Value& request, const ServedPools& pools) {
  net::IncomingRequest incoming;
  incoming.method = request["method"].text();
  incoming.target = request["path"].text();
  for (const auto& [name, value] : request["header"].members()) incoming.headers.push_back({name, value.text()});
  return AnswerTo(incoming, pools, Access(), WallTime()).http;
}

// Returns the value of a header.  The Content-Length is computed here, since AnswerTo() does not set it: net/ adds it
// when it sends an answer.
std::string HeaderOf(const net::HttpAnswer& answer, const std::string& name) {
  const std::size_t length = answer.body ? answer.body->size() : 0;
  if (name == "Content-Length") return std::to_string(length);
  for (const net::Header& header : answer.headers) {
    if (header.name == name) return header.value;
  }
  return "(none)";
}

TEST_P(ServerVectors, AreAnswered) {
  const Case c("server", GetParam());
  const ServedPools pools = ValueOf(ReadServedFolder(c.Path("").string(), MakeServedTextCache()));
  const json::Value requests = ValueOf(json::Parse(c.Text("requests.json")));
  ASSERT_FALSE(requests.empty());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    SCOPED_TRACE(json::ToText(requests[i]));
    const json::Value expected = ValueOf(json::Parse(c.Text(fmt::format("expected-{:02}.json", i))))["response"];
    const net::HttpAnswer answer = Answer(requests[i], pools);
    EXPECT_EQ(answer.status, expected["status"].integer());
    for (const auto& [name, values] : expected["header"].members()) {
      EXPECT_EQ(HeaderOf(answer, name), values[0].text());
    }
    if (requests[i]["method"] == "HEAD") continue;  // The answer to a HEAD request has only the length of the body.
    EXPECT_EQ(answer.body ? *answer.body : "",
              expected.contains("bodyFile") ? c.Text(expected["bodyFile"].text()) : "");
  }
}

INSTANTIATE_TEST_SUITE_P(All, ServerVectors, testing::ValuesIn(vectors::CaseNames("server")), vectors::NameOf);

}  // namespace
}  // namespace pintle::serving
