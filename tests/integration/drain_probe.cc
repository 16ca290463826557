// SPDX-License-Identifier: Apache-2.0

// A command line for the code that drains nodes, for test_drain.py.
//
//     drain-probe KUBECONFIG run [ANNOTATION=VALUE...]
//
// drains nodes until its input ends; the annotations are those of every pool.  The log goes to standard error.
//
//     drain-probe KUBECONFIG forecast NODE...
//
// prints "NODE PROSPECT SUMMARY" for each node, in the order in which the nodes should be drained.

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "controller/drain_controller.h"
#include "event/loop.h"
#include "event/watches.h"
#include "kube/mirror.h"

namespace pintle::controller {
namespace {

using Words = std::vector<std::string>;

void PrintLine(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

class Probe {
 public:
  Probe(event::Loop& loop, kube::Client client, Words words)
      : loop_(loop),
        client_(std::move(client)),
        words_(std::move(words)),
        announcer_(client_, clock_, "default", "machineconfigcontroller-nodecontroller"),
        forecaster_(loop, client_, clock_) {}

  Result<> Run() {
    if (words_[0] == "run") {
      TRY(BeginDraining());
    } else {
      BeginForecasting();
    }
    return loop_.Run();
  }

 private:
  std::vector<const api::Node*> AllNodes() const {
    std::vector<const api::Node*> nodes;
    for (const auto& [name, node] : nodes_->objects()) nodes.push_back(&node);
    return nodes;
  }

  void Follow(kube::Mirror<api::Node>::Listener listener) {
    listener.trouble = [](const Error& error) { PrintLine("trouble: " + error.message()); };
    nodes_ = std::make_unique<kube::Mirror<api::Node>>(client_, kube::Selection{}, std::move(listener));
  }

  Result<> BeginDraining() {
    api::MachineConfigPool pool;
    for (std::size_t i = 1; i < words_.size(); ++i) {
      const std::size_t equals = words_[i].find('=');
      pool.metadata.annotations[words_[i].substr(0, equals)] = words_[i].substr(equals + 1);
    }
    settings_ = drain::SettingsOf(pool).settings;
    drains_ = std::make_unique<DrainController>(
        DrainController::Parts{loop_, clock_, announcer_, forecaster_, [this] { return AllNodes(); }}, client_);
    input_ = TRY(
        event::FdWatch::Create(loop_, STDIN_FILENO, {.readable = true}, [this](event::FdReadiness) { loop_.Stop(); }));
    Follow({.added = [this](const api::Node& node) { Changed(node); },
            .changed = [this](const api::Node&, const api::Node& node) { Changed(node); },
            .removed = [this](const api::Node& node) { drains_->NodeGone(node.metadata.name); }});
    return {};
  }

  void Changed(const api::Node& node) { drains_->NodeChanged(node, settings_); }

  void BeginForecasting() {
    Follow({.synced = [this] {
      for (std::size_t i = 1; i < words_.size(); ++i) {
        const auto nodes = AllNodes();
        calls_.push_back(
            forecaster_.Ask(words_[i], nodes, [this, node = words_[i]](Result<std::vector<drain::Blocker>> blockers) {
              if (!blockers) return loop_.Stop(std::move(blockers).error());
              Forecasted(node, *blockers);
            }));
      }
    }});
  }

  void Forecasted(const std::string& node, const std::vector<drain::Blocker>& blockers) {
    forecasts_.emplace_back(drain::ProspectOf(blockers), node, drain::Summary(blockers));
    if (forecasts_.size() + 1 < words_.size()) return;
    std::sort(forecasts_.begin(), forecasts_.end());
    static const std::map<drain::Prospect, std::string> kWords = {{drain::Prospect::kClear, "clear"},
                                                                  {drain::Prospect::kMayPass, "may-pass"},
                                                                  {drain::Prospect::kHopeless, "hopeless"}};
    for (const auto& [prospect, name, summary] : forecasts_) {
      PrintLine(fmt::format("{} {} {}", name, kWords.at(prospect), summary));
    }
    loop_.Stop();
  }

  event::Loop& loop_;
  kube::Client client_;
  Words words_;
  SystemClock clock_;
  Announcer announcer_;
  drain::Forecaster forecaster_;
  drain::Settings settings_;
  std::unique_ptr<kube::Mirror<api::Node>> nodes_;
  std::unique_ptr<DrainController> drains_;
  std::optional<event::FdWatch> input_;
  std::vector<kube::Call> calls_;
  std::vector<std::tuple<drain::Prospect, std::string, std::string>> forecasts_;
};

Result<> Run(const std::string& kubeconfig, Words words) {
  const auto loop = TRY(event::Loop::Create());
  // The times are short, so that no test has to wait.
  kube::Client client = TRY(kube::Client::Create(
      *loop, TRY(kube::Access::FromKubeconfig(kubeconfig)),
      {.field_manager = "machine-config-controller",
       .patience = {.attempts = 10,
                    .backoff = {.first = std::chrono::milliseconds(20), .longest = std::chrono::milliseconds(500)}}}));
  return Probe(*loop, std::move(client), std::move(words)).Run();
}

}  // namespace
}  // namespace pintle::controller

int main(int count, char** words) {
  if (count < 3) return 2;
  const auto result = pintle::controller::Run(words[1], {words + 2, words + count});
  if (result) return 0;
  fmt::print(stderr, "{}\n", result.error().message());
  return 1;
}
