// SPDX-License-Identifier: Apache-2.0

// Serves and uses the agent's interface on the system bus of a node, for test_agent_bus.py.
//
//     agent-bus-probe serve [REFUSAL]
//
// publishes each status that it reads from its input, one line of JSON each, and prints each order and login that it
// receives.  Orders fail with the text REFUSAL, if it is given.
//
//     agent-bus-probe polkit yes|no|wait
//
// takes polkit's name on the bus.  It answers each question with yes or no, or (wait) not at all, and prints each
// question and each cancellation.
//
//     agent-bus-probe hold N M
//
// sends the order Check M times on each of N connections, prints the answers, and ends when its input ends.
//
//     agent-bus-probe deaf N
//
// sends N orders and N requests for all properties, and reads no answer.

#include <fmt/core.h>
#include <systemd/sd-bus.h>

#include <cstdio>
#include <string>
#include <vector>

#include "agent/bus.h"
#include "base/c_ptr.h"
#include "json/fields.h"
#include "json/parse.h"

namespace pintle::agent {
namespace {

void PrintLine(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

Result<> Serve(const std::string& refusal) {
  const auto loop = TRY(event::Loop::Create());
  const auto order = [&](const char* name) {
    return [name, refusal]() -> Result<> {
      PrintLine(name);
      if (!refusal.empty()) return Error(ErrorKind::kConflict, refusal);
      return {};
    };
  };
  Bus bus(*loop, {.check = order("check"),
                  .retry = order("retry"),
                  .pause = order("pause"),
                  .resume = order("resume"),
                  .logged_in = [](const host::AgentLogin& login) {
                    PrintLine(fmt::format("login {} from {}", login.user, login.from));
                  }});
  std::string unread;
  const auto publish = [&](const std::string& line) -> Result<> {
    json::Report report;
    auto status = json::Decode<host::AgentStatus>(TRY(json::Parse(line)), report);
    TRY(report.ToResult());
    bus.Publish(std::move(status));
    PrintLine("published");
    return {};
  };
  const auto input = TRY(event::FdWatch::Create(*loop, STDIN_FILENO, {.readable = true}, [&](event::FdReadiness) {
    char piece[4096];
    const ssize_t size = ::read(STDIN_FILENO, piece, sizeof piece);
    if (size <= 0) return loop->Stop();
    unread.append(piece, static_cast<std::size_t>(size));
    for (std::size_t end = unread.find('\n'); end != std::string::npos; end = unread.find('\n')) {
      if (const auto published = publish(unread.substr(0, end)); !published) return loop->Stop(published);
      unread.erase(0, end + 1);
    }
  }));
  PrintLine("serving");
  return loop->Run();
}

using SystemBus = CPtr<sd_bus, sd_bus_flush_close_unref>;

enum class PolkitAnswer { kNo, kYes, kNone };

int OnQuestion(sd_bus_message* call, void* polkit_answer, sd_bus_error*) {
  const char *kind = nullptr, *key = nullptr, *name = nullptr, *action = nullptr;
  std::uint32_t flags = 0;
  int result = ::sd_bus_message_read(call, "(sa{sv})s", &kind, 1, &key, "s", &name, &action);
  if (result >= 0) result = ::sd_bus_message_skip(call, "a{ss}");
  if (result >= 0) result = ::sd_bus_message_read(call, "u", &flags);
  if (result < 0) return result;
  PrintLine(fmt::format("{} {} {} {}", kind, key, action, flags));
  const auto answer = *static_cast<PolkitAnswer*>(polkit_answer);
  if (answer == PolkitAnswer::kNone) return 1;
  return ::sd_bus_reply_method_return(call, "(bba{ss})", answer == PolkitAnswer::kYes ? 1 : 0, 0, 0);
}

int OnCancellation(sd_bus_message* call, void*, sd_bus_error*) {
  PrintLine("cancelled");
  return ::sd_bus_reply_method_return(call, "");
}

Result<> PlayPolkit(PolkitAnswer answer) {
  static const sd_bus_vtable kVtable[] = {
      SD_BUS_VTABLE_START(0),
      SD_BUS_METHOD("CheckAuthorization", "(sa{sv})sa{ss}us", "(bba{ss})", OnQuestion, SD_BUS_VTABLE_UNPRIVILEGED),
      SD_BUS_METHOD("CancelCheckAuthorization", "s", "", OnCancellation, SD_BUS_VTABLE_UNPRIVILEGED),
      SD_BUS_VTABLE_END,
  };
  SystemBus bus;
  int result = ::sd_bus_open_system(Out(bus));
  if (result >= 0) {
    result = ::sd_bus_add_object_vtable(bus.get(), nullptr, "/org/freedesktop/PolicyKit1/Authority",
                                        "org.freedesktop.PolicyKit1.Authority", kVtable, &answer);
  }
  if (result >= 0) result = ::sd_bus_request_name(bus.get(), "org.freedesktop.PolicyKit1", 0);
  if (result >= 0) PrintLine("serving");
  while (result >= 0) {
    result = ::sd_bus_process(bus.get(), nullptr);
    if (result == 0) result = ::sd_bus_wait(bus.get(), UINT64_MAX);
  }
  return Error::FromErrno("the bus", -result);
}

int OnAnswer(sd_bus_message* answer, void*, sd_bus_error*) {
  const sd_bus_error* error = ::sd_bus_message_get_error(answer);
  PrintLine(error == nullptr ? "done" : error->name);
  return 0;
}

Result<> Hold(int connections, int calls) {
  const auto loop = TRY(event::Loop::Create());
  const auto input = TRY(event::FdWatch::Create(*loop, STDIN_FILENO, {.readable = true}, [&](event::FdReadiness) {
    char piece[64];
    if (::read(STDIN_FILENO, piece, sizeof piece) <= 0) loop->Stop();
  }));
  std::vector<SystemBus> buses;
  for (int i = 0; i < connections; ++i) {
    SystemBus& bus = buses.emplace_back();
    int result = ::sd_bus_open_system(Out(bus));
    if (result >= 0) result = ::sd_bus_attach_event(bus.get(), loop->handle(), SD_EVENT_PRIORITY_NORMAL);
    for (int call = 0; result >= 0 && call < calls; ++call) {
      result = ::sd_bus_call_method_async(bus.get(), nullptr, host::kAgentName, host::kAgentPath, host::kAgentInterface,
                                          "Check", &OnAnswer, nullptr, "");
    }
    if (result < 0) return Error::FromErrno("the bus", -result);
  }
  PrintLine("holding");
  return loop->Run();
}

Result<> SendWithoutReading(int times) {
  SystemBus bus;
  int result = ::sd_bus_open_system(Out(bus));
  const char* name = nullptr;
  if (result >= 0) result = ::sd_bus_get_unique_name(bus.get(), &name);
  for (int i = 0; result >= 0 && i < times; ++i) {
    result = ::sd_bus_call_method_async(bus.get(), nullptr, host::kAgentName, host::kAgentPath, host::kAgentInterface,
                                        "Check", &OnAnswer, nullptr, "");
    if (result >= 0) {
      result = ::sd_bus_call_method_async(bus.get(), nullptr, host::kAgentName, host::kAgentPath,
                                          "org.freedesktop.DBus.Properties", "GetAll", &OnAnswer, nullptr, "s",
                                          host::kAgentInterface);
    }
    if (result >= 0) result = ::sd_bus_flush(bus.get());
  }
  if (result < 0) return Error::FromErrno("the bus", -result);
  PrintLine("sent");
  while (std::getchar() != EOF) {
  }
  return {};
}

Result<> Run(const std::string& verb, const std::string& word, const std::string& second_word) {
  if (verb == "serve") return Serve(word);
  if (verb == "polkit") {
    return PlayPolkit(word == "yes" ? PolkitAnswer::kYes : word == "no" ? PolkitAnswer::kNo : PolkitAnswer::kNone);
  }
  if (verb == "hold") return Hold(std::stoi(word), std::stoi(second_word));
  if (verb == "deaf") return SendWithoutReading(std::stoi(word));
  return Error(ErrorKind::kInvalid, "no such verb: " + verb);
}

}  // namespace
}  // namespace pintle::agent

int main(int count, char** words) {
  if (count < 2) return 2;
  const auto word = [&](int number) { return count > number ? words[number] : ""; };
  const auto result = pintle::agent::Run(words[1], word(2), word(3));
  if (result) return 0;
  fmt::print(stderr, "{}\n", result.error().message());
  return 1;
}
