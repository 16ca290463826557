// SPDX-License-Identifier: Apache-2.0

// A command line for the Kubernetes client, for test_kube.py.  The usage is kube-probe KUBECONFIG VERB...; the verbs
// are:
//
// - get NAMESPACE NAME: prints the values of a ConfigMap, one a line, as KEY=VALUE.
// - create NAMESPACE NAME KEY=VALUE...: prints the uid of the new ConfigMap.
// - set NAMESPACE NAME KEY=VALUE...: sends a merge patch; "KEY=" removes a value.
// - test NAMESPACE NAME KEY=BEFORE KEY=AFTER: sends a JSON patch.
// - apply NAMESPACE NAME MANAGER force|refuse KEY=VALUE...: uses server-side apply.
// - count NAMESPACE NAME TIMES: adds 1 to the value `count` this many times.
// - delete NAMESPACE NAME UID.
// - list NAMESPACE PAGE-SIZE: prints the names, and by how many KiB the memory has grown.
// - mirror NAMESPACE: prints all events until its input ends.
// - watch NAMESPACE VERSION: prints how the watch ends.
// - annotate-node NAME KEY=VALUE.
// - evict NAMESPACE NAME UID: prints the answer.
// - lease NAMESPACE NAME IDENTITY: prints all events until its input ends, and releases the lease.
// - post-events NAME MESSAGE...: posts an Event about a Node for each message, and waits for the end of its input.

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "event/loop.h"
#include "event/watches.h"
#include "json/fields.h"
#include "kube/client.h"
#include "kube/event_recorder.h"
#include "kube/lease.h"
#include "kube/mirror.h"

namespace pintle::kube {

struct ConfigMap {
  std::string api_version = "v1";
  std::string kind = "ConfigMap";
  api::ObjectMeta metadata;
  std::map<std::string, std::string> data;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{
      json::Required{"apiVersion", &ConfigMap::api_version},
      json::Required{"kind", &ConfigMap::kind},
      json::Required{"metadata", &ConfigMap::metadata},
      json::Field{"data", &ConfigMap::data},
  };
};
template <>
inline constexpr ResourceKind kResourceKind<ConfigMap> = {"", "v1", "configmaps", "ConfigMap", Scope::kNamespaced};

// The name of a ConfigMap alone: decoding it skips the data, which can be large.
struct ConfigMapName {
  api::ObjectMeta metadata;

  static constexpr bool kLenient = true;
  static constexpr auto kFields = json::FieldList{json::Required{"metadata", &ConfigMapName::metadata}};
};
template <>
inline constexpr ResourceKind kResourceKind<ConfigMapName> = kResourceKind<ConfigMap>;

namespace {

// The annotation with the mark of the latest write of `count`.
constexpr const char* kMark = "example.com/mark";

using Words = std::vector<std::string>;
using std::chrono::milliseconds;

// The times are short, so that no test has to wait.
constexpr Backoff::Settings kShort = {.first = milliseconds(20), .longest = milliseconds(200), .jitter = 1};
constexpr LeaseTimes kLeaseTimes = {
    .duration = std::chrono::seconds(4), .renew_deadline = std::chrono::seconds(3), .retry = milliseconds(200)};

void PrintLine(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

std::map<std::string, std::string> Pairs(const Words& words, std::size_t from) {
  std::map<std::string, std::string> pairs;
  for (std::size_t i = from; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    pairs[words[i].substr(0, equals)] = words[i].substr(equals + 1);
  }
  return pairs;
}

// Returns the peak memory of this program alone; getrusage(2) would include the program that has started it.
long PeakKib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stol(line.substr(6));
  }
  return 0;
}

class Probe {
 public:
  Probe(event::Loop& loop, Client client, Words words)
      : loop_(loop), client_(std::move(client)), words_(std::move(words)) {}

  Result<> Run() {
    static const std::map<std::string, void (Probe::*)()> kVerbs = {
        {"get", &Probe::Get},
        {"create", &Probe::Create},
        {"set", &Probe::Set},
        {"test", &Probe::Test},
        {"apply", &Probe::Apply},
        {"count", &Probe::Count},
        {"delete", &Probe::Delete},
        {"list", &Probe::List},
        {"mirror", &Probe::Follow},
        {"watch", &Probe::Watch},
        {"annotate-node", &Probe::AnnotateNode},
        {"evict", &Probe::Evict},
        {"lease", &Probe::Compete},
        {"post-events", &Probe::PostEvents},
    };
    const auto verb = kVerbs.find(words_[0]);
    if (verb == kVerbs.end()) return Error(ErrorKind::kInvalid, "no such verb");
    (this->*verb->second)();
    return loop_.Run();
  }

 private:
  ObjectName Name() const { return {words_[1], words_[2]}; }

  // Prints the value and ends the program, or ends it with the error.
  template <typename T>
  std::function<void(Result<T>)> End(std::function<void(const T&)> print = [](const T&) {}) {
    return [this, print](Result<T> result) {
      if (!result) return loop_.Stop(std::move(result).error());
      print(*result);
      loop_.Stop();
    };
  }
  std::function<void(Result<>)> EndWithoutValue() {
    return [this](Result<> result) { loop_.Stop(std::move(result)); };
  }

  void Get() {
    call_ = client_.Get<ConfigMap>(Name(), End<ConfigMap>([](const ConfigMap& map) {
                                     for (const auto& [key, value] : map.data) PrintLine(key + "=" + value);
                                   }));
  }

  void Create() {
    ConfigMap map;
    map.metadata.namespace_name = words_[1];
    map.metadata.name = words_[2];
    map.data = Pairs(words_, 3);
    call_ = client_.Create<ConfigMap>(map, End<ConfigMap>([](const ConfigMap& made) { PrintLine(made.metadata.uid); }));
  }

  void Set() {
    json::Value data = json::Value::object();
    for (const auto& [key, value] : Pairs(words_, 3)) data[key] = value.empty() ? json::Value() : json::Value(value);
    call_ = client_.Patch<ConfigMap>(Name(), MergePatch{{{"data", data}}}, End<ConfigMap>());
  }

  void Test() {
    const auto [key, before] = *Pairs({words_[3]}, 0).begin();
    const json::Value operations = {
        {{"op", "test"}, {"path", "/data/" + key}, {"value", before}},
        {{"op", "replace"}, {"path", "/data/" + key}, {"value", Pairs({words_[4]}, 0).begin()->second}}};
    call_ = client_.Patch<ConfigMap>(Name(), JsonPatch{operations}, End<ConfigMap>());
  }

  void Apply() {
    json::Value object = {{"data", json::Encode(Pairs(words_, 5))}};
    const auto conflicts = words_[4] == "force" ? ApplyPatch::Conflicts::kTakeOver : ApplyPatch::Conflicts::kRefuse;
    call_ = client_.Patch<ConfigMap>(Name(), ApplyPatch{std::move(object), conflicts}, End<ConfigMap>());
  }

  void Count() {
    if (counted_++ == std::stoi(words_[3])) return loop_.Stop();
    // Amend() asks again after the write, so the write has a mark that no other has.
    const std::string mark = fmt::format("{}-{}", ::getpid(), counted_);
    const auto add_one = [mark](const ConfigMap& now) -> std::optional<json::Value> {
      const std::string* const latest = api::Find(now.metadata.annotations, kMark);
      if (latest != nullptr && *latest == mark) return std::nullopt;
      const auto count = now.data.find("count");
      const int next = (count == now.data.end() ? 0 : std::stoi(count->second)) + 1;
      return json::Value{{"metadata", {{"annotations", {{kMark, mark}}}}}, {"data", {{"count", std::to_string(next)}}}};
    };
    call_ = client_.Amend<ConfigMap>(Name(), add_one, [this](Result<ConfigMap> outcome) {
      if (!outcome) return loop_.Stop(std::move(outcome).error());
      Count();
    });
  }

  void Delete() { call_ = client_.Delete<ConfigMap>(Name(), words_[3], EndWithoutValue()); }

  void List() {
    const long before = PeakKib();
    call_ = client_.List<ConfigMapName>({.namespace_name = words_[1], .page_size = std::stoi(words_[2])},
                                        End<std::vector<ConfigMapName>>([before](const auto& maps) {
                                          for (const auto& map : maps) PrintLine(map.metadata.name);
                                          PrintLine(fmt::format("{}", PeakKib() - before));
                                        }));
  }

  void Follow() {
    const auto words = [](const ConfigMap& map) {
      const auto value = map.data.find("value");
      return map.metadata.name + (value == map.data.end() ? "" : " " + value->second);
    };
    mirror_ = std::make_unique<Mirror<ConfigMap>>(
        client_, Selection{.namespace_name = words_[1], .label_selector = "!ignored", .page_size = 2},
        Mirror<ConfigMap>::Listener{
            .added = [words](const auto& map) { PrintLine("added " + words(map)); },
            .changed = [words](const auto&, const auto& map) { PrintLine("changed " + words(map)); },
            .removed = [words](const auto& map) { PrintLine("removed " + words(map)); },
            .synced = [] { PrintLine("synced"); },
            .trouble = [](const Error& error) { PrintLine("trouble " + error.message()); }},
        FeedSettings{.backoff = kShort});
    AtEndOfInput([this] { loop_.Stop(); });
  }

  void Watch() {
    call_ = kube::Watch(
        client_.transport(), kResourceKind<ConfigMap>, {.namespace_name = words_[1]}, words_[2], {}, SystemRandom(),
        {.event = [](const WatchEvent&) { PrintLine("event"); },
         .end =
             [this](const std::optional<Failure>& failure) {
               PrintLine(!failure ? "ended" : failure->IsExpired() ? "expired" : failure->error.message());
               loop_.Stop();
             }});
  }

  void AnnotateNode() {
    const MergePatch patch = {{{"metadata", {{"annotations", json::Encode(Pairs(words_, 2))}}}}};
    call_ = client_.Patch<api::Node>({"", words_[1]}, patch, End<api::Node>());
  }

  void Evict() {
    call_ = client_.Evict(Name(), words_[3], End<Eviction>([](const Eviction& eviction) {
                            const auto* const kept = std::get_if<KeptByBudget>(&eviction);
                            if (kept != nullptr) return PrintLine("kept: " + kept->why);
                            PrintLine(std::get<Departure>(eviction) == Departure::kGoing ? "going" : "gone");
                          }));
  }

  void Compete() {
    lease_ =
        std::make_unique<Lease>(client_, Lease::Settings{.name = Name(), .identity = words_[3], .times = kLeaseTimes},
                                Lease::Listener{.won = [] { PrintLine("won"); }, .lost = [] { PrintLine("lost"); }});
    AtEndOfInput([this] { lease_->Release(EndWithoutValue()); });
  }

  void PostEvents() {
    api::ObjectReference node;
    node.kind = "Node";
    node.name = node.uid = words_[1];
    recorder_.emplace(client_, api::EventSource{.component = "probe", .host = words_[1]}, clock_,
                      EventRecorder::Settings{.backoff = kShort});
    for (std::size_t i = 2; i < words_.size(); ++i) recorder_->Post(node, EventKind::kNormal, "Probed", words_[i]);
    AtEndOfInput([this] { loop_.Stop(); });
  }

  // Tests write nothing to the input, so the input becomes readable when it ends.
  void AtEndOfInput(std::function<void()> act) {
    auto watch = event::FdWatch::Create(loop_, STDIN_FILENO, {.readable = true},
                                        [this, act = std::move(act)](event::FdReadiness) {
                                          input_.reset();
                                          act();
                                        });
    if (!watch) return loop_.Stop(std::move(watch).error());
    input_ = *std::move(watch);
  }

  event::Loop& loop_;
  Client client_;
  Words words_;
  int counted_ = 0;
  Call call_;
  std::unique_ptr<Mirror<ConfigMap>> mirror_;
  std::unique_ptr<Lease> lease_;
  SystemClock clock_;
  std::optional<EventRecorder> recorder_;
  std::optional<event::FdWatch> input_;
};

Result<> Run(const std::string& kubeconfig, Words words) {
  const auto loop = TRY(event::Loop::Create());
  const std::string manager = words[0] == "apply" ? words.at(3) : "probe";
  Client client = TRY(Client::Create(*loop, TRY(Access::FromKubeconfig(kubeconfig)),
                                     {.field_manager = manager, .patience = {.backoff = kShort}}));
  return Probe(*loop, std::move(client), std::move(words)).Run();
}

}  // namespace
}  // namespace pintle::kube

int main(int count, char** words) {
  if (count < 3) return 2;
  const auto result = pintle::kube::Run(words[1], {words + 2, words + count});
  if (result) return 0;
  fmt::print(stderr, "{}\n", result.error().message());
  return 1;
}
