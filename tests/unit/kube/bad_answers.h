// SPDX-License-Identifier: Apache-2.0
#pragma once

// The bad answers of an API server, or of a proxy in front of it: all kinds that the tests use, and the words by which
// each must be reported.
//
// controller/refused_writes_test.cc tests how the controller's writes treat these answers, and kube/bad_answers_test.cc
// tests readers and watchers.

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "json/parse.h"
#include "unit/kube/scripted_server.h"

namespace pintle::kube {

struct BadAnswer {
  std::string name;
  Answer answer;
  std::string words;
  // The server asks for a wait of a second by Retry-After, which is longer than the client's own backoff.
  bool asks_for_a_second = false;
};

inline void PrintTo(const BadAnswer& bad, std::ostream* out) { *out << bad.name; }

// The limit for requests that are refused, in their first minute.
inline constexpr std::size_t kMostInAMinute = 10;

inline const std::string kRefusal = "admission webhook \"no.example\" denied the request: not today";

// Returns a refusal in the format of the API server.
inline Answer StatusAnswer(int code, const std::string& reason, const std::string& message = kRefusal,
                           const json::Value& more = json::Value::object()) {
  json::Value status = {
      {"kind", "Status"}, {"status", "Failure"}, {"reason", reason}, {"message", message}, {"code", code}};
  for (const auto& [key, value] : more.members()) status[key] = value;
  return {.status = code, .body = json::ToText(status)};
}

inline Answer WithHeader(Answer answer, const std::string& header) {
  answer.headers.push_back(header);
  return answer;
}

// Bad answers to a read or a write of one object.
inline std::vector<BadAnswer> BadAnswers() {
  const std::string page = "<html><body>Bad Gateway</body></html>";
  const json::Value soon = {{"details", {{"retryAfterSeconds", 1}}}};
  std::string huge_numbers =
      R"({"kind":"Status","status":"Failure","reason":"Invalid","code":)" + std::string("9223372036854775808") +
      R"(,"details":{"retryAfterSeconds":9223372036854775808},"message":")" + "not today" + "\"}";
  return {
      // The server refuses.
      {"BadRequest", StatusAnswer(400, "BadRequest"), kRefusal},
      {"Unauthorized", StatusAnswer(401, "Unauthorized"), kRefusal},
      {"Forbidden", StatusAnswer(403, "Forbidden"), kRefusal},
      {"NotFound", StatusAnswer(404, "NotFound"), kRefusal},
      {"NotFoundAsPlainText", {.status = 404, .body = "no such page\n"}, "no such page"},
      {"MethodNotAllowed", StatusAnswer(405, "MethodNotAllowed"), kRefusal},
      {"NotAcceptable", StatusAnswer(406, "NotAcceptable"), kRefusal},
      {"RequestTimeout", StatusAnswer(408, "Timeout"), kRefusal},
      {"Conflict", StatusAnswer(409, "Conflict"), kRefusal},
      {"AlreadyExists", StatusAnswer(409, "AlreadyExists"), kRefusal},
      {"Gone", StatusAnswer(410, "Gone"), kRefusal},
      {"Expired", StatusAnswer(410, "Expired"), kRefusal},
      {"TooLarge", StatusAnswer(413, "RequestEntityTooLarge"), kRefusal},
      {"UnsupportedMediaType", StatusAnswer(415, "UnsupportedMediaType"), kRefusal},
      {"Invalid", StatusAnswer(422, "Invalid"), kRefusal},
      {"InvalidInAMessageOfTheWholeObject",
       StatusAnswer(422, "Invalid", kRefusal + ": Invalid value: " + std::string(300'000, '"')), kRefusal},
      {"TooMany", StatusAnswer(429, "TooManyRequests"), kRefusal},
      {"TooManyForASecond", WithHeader(StatusAnswer(429, "TooManyRequests"), "Retry-After: 1"), kRefusal, true},
      {"TooManyForASecondByTheStatus", StatusAnswer(429, "TooManyRequests", kRefusal, soon), kRefusal, true},
      {"TooManyForEver", WithHeader(StatusAnswer(429, "TooManyRequests"), "Retry-After: 9223372036854775808"),
       kRefusal},
      {"TooManyUntilADate",
       WithHeader(StatusAnswer(429, "TooManyRequests"), "Retry-After: Fri, 31 Dec 2099 23:59:59 GMT"), kRefusal},
      // The server has an internal failure.
      {"InternalError", StatusAnswer(500, "InternalError"), kRefusal},
      {"Panic",
       {.status = 500, .body = "This request caused apiserver to panic. Look in the logs."},
       "apiserver to panic"},
      {"Unavailable", StatusAnswer(503, "ServiceUnavailable"), kRefusal},
      {"UnavailableForASecond", WithHeader(StatusAnswer(503, "ServiceUnavailable"), "Retry-After: 1"), kRefusal, true},
      {"Timeout", StatusAnswer(504, "Timeout"), kRefusal},
      {"UnknownStatus", StatusAnswer(599, "Unheard"), kRefusal},
      {"NumbersWithoutSenseInTheStatus", {.status = 403, .body = huge_numbers}, "not today"},
      // Another program answers in place of the server.
      {"Page", {.status = 502, .body = page}, "status 502"},
      {"PageThatSaysWell", {.body = "<html><body>Log in</body></html>"}, "not JSON"},
      {"Redirect", {.status = 302, .headers = {"Location: https://login.example/"}}, "status 302"},
      {"ProxyThatWantsToKnowUs", {.status = 407, .headers = {"Proxy-Authenticate: Basic"}}, "status 407"},
      {"NoHttp", {.raw = "SSH-2.0-OpenSSH_9.2\r\n"}, "does not speak HTTP"},
      {"HalfAHead", {.raw = "HTTP/1.1 200 OK\r\nContent-"}, "connection"},
      {"EndlessHead", {.raw = "HTTP/1.1 200 OK\r\nX: " + std::string(2 << 20, 'x')}, "head of the answer"},
      // The answer is incomplete.
      {"CutOff", {.status = 201, .body = R"({"metadata":{"na)", .ending = Ending::kCutOff}, "connection"},
      {"ShorterThanItSays", {.raw = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"metadata\":"}, "connection"},
      {"CutShort", {.body = R"({"metadata":{"na)"}, "not JSON"},
      {"Nothing", {.body = ""}, "not JSON"},
      // The answer is about something else, or cannot be decoded.
      {"Null", {.body = "null"}, "must be an object"},
      {"AnArray", {.body = "[]"}, "must be an object"},
      {"StatusThatSaysWell", {.body = R"({"kind":"Status","status":"Success"})"}, "is a Status"},
      {"AboutAnother", {.body = R"({"metadata":{"name":"another"},"spec":{}})"}, "is the object another"},
      {"NumberThatIsTooLarge", {.body = R"({"metadata":{"generation":9223372036854775808},"spec":{}})"}, "generation"},
      {"NumberOutOfRange", {.body = R"({"metadata":{"generation":1e999},"spec":{}})"}, "out of range"},
      {"NumberForAText", {.body = R"({"metadata":{"resourceVersion":5},"spec":{}})"}, "resourceVersion"},
      {"TooDeep", {.body = std::string(100'000, '[')}, "not JSON"},
      {"NoUtf8", {.body = "{\"metadata\":{\"name\":\"\xff\"}}"}, "not JSON"},
  };
}

inline std::string ListAnswer(const std::string& items, const std::string& more = "") {
  return R"({"metadata":{"resourceVersion":"5")" + more + R"(},"items":[)" + items + "]}";
}

// Bad answers to a list.  Refusals are those of BadAnswers().
inline std::vector<BadAnswer> BadLists() {
  const std::string node = R"({"metadata":{"name":"a","resourceVersion":"1"}})";
  std::vector<BadAnswer> all = {
      {"WithoutVersion", {.body = R"({"metadata":{},"items":[]})"}, "no resourceVersion"},
      {"VersionThatIsANumber", {.body = R"({"metadata":{"resourceVersion":5},"items":[]})"}, "resourceVersion"},
      {"ItemsThatAreNone", {.body = ListAnswer("1,2")}, "not an object"},
      {"CutOffInAnItem",
       {.body = R"({"metadata":{"resourceVersion":"5"},"items":[{"meta)", .ending = Ending::kCutOff},
       "connection"},
      {"CutShortInAnItem", {.body = R"({"metadata":{"resourceVersion":"5"},"items":[{"meta)"}, "not JSON"},
      {"ItemThatIsTooLong", {.body = ListAnswer(R"({"a":")" + std::string(17 << 20, 'x') + "\"}")}, "longer than"},
      {"NextPageIsThisOne",
       {.body = ListAnswer(node, R"(,"continue":"again")")},
       "has the continue token with which it was requested"},
  };
  for (BadAnswer& bad : BadAnswers()) {
    const bool is_object = bad.answer.status == 200 && bad.answer.body.starts_with("{");
    if (!is_object && bad.name != "TooDeep" && bad.name != "AnArray" && bad.name != "Null")
      all.push_back(std::move(bad));
  }
  return all;
}

inline std::string EventLine(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

// Bad answers to a watch after the list of ListAnswer().  An answer without words is not reported, because it is no
// failure.
inline std::vector<BadAnswer> BadWatches() {
  const std::string bookmark = EventLine("BOOKMARK", R"({"metadata":{"resourceVersion":"9"}})");
  const std::string event = EventLine("ADDED", R"({"metadata":{"name":"b","resourceVersion":"9"},"spec":{}})");
  std::vector<BadAnswer> all = {
      {"EndsAtOnce", {.body = ""}, ""},
      {"BookmarksOnly", {.body = bookmark + bookmark}, ""},
      {"BookmarkWithoutVersion", {.body = EventLine("BOOKMARK", "{}")}, ""},
      {"TheSameAgainAndAgain", {.body = event + event}, ""},
      {"CutOff", {.body = bookmark, .ending = Ending::kCutOff}, "connection"},
      {"HalfALine", {.body = event.substr(0, 20), .ending = Ending::kCutOff}, "connection"},
      {"ExpiredAtOnce", {.body = EventLine("ERROR", StatusAnswer(410, "Expired").body)}, ""},
      {"ExpiredAfterABookmark", {.body = bookmark + EventLine("ERROR", StatusAnswer(410, "Expired").body)}, ""},
      {"ErrorOfTheServer", {.body = EventLine("ERROR", StatusAnswer(500, "InternalError").body)}, kRefusal},
      {"ErrorThatIsNoStatus",
       {.body = EventLine("ERROR", R"({"kind":"Node"})")},
       "an error that is not a Status object"},
      {"UnknownHappening", {.body = EventLine("RENAMED", "{}")}, "has an unknown type or no object"},
      {"EventWithoutAnObject",
       {.body = R"({"type":"ADDED"})"
                "\n"},
       "has an unknown type or no object"},
      {"NoEventAtAll", {.body = "[]\n"}, "has an unknown type or no object"},
      {"NoJson", {.body = "<html>Log in</html>\n"}, "not JSON"},
      {"SomethingNewAndThenNoJson", {.body = event + "<html>\n"}, "not JSON"},
      {"LineThatIsTooLong",
       {.body = EventLine("ADDED", "{\"a\":\"" + std::string(17 << 20, 'x') + "\"}")},
       "longer than"},
  };
  for (BadAnswer& bad : BadAnswers()) {
    if (bad.name == "Gone" || bad.name == "Expired") bad.words = "";
    if (bad.answer.status / 100 != 2 || bad.answer.raw) all.push_back(std::move(bad));
  }
  return all;
}

}  // namespace pintle::kube
