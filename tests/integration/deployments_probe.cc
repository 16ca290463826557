// SPDX-License-Identifier: Apache-2.0

// The deployments of a node from the command line, for test_deployments.py.
//
//     deployments-probe [--sysroot=DIRECTORY] [--auth-file=FILE] [--certificates=DIRECTORY] [--policy=FILE]
//                       [--patience=MILLISECONDS] VERB
//
//     observe                                      prints JSON
//     fetch IMAGE                                  prints: COMMIT NAME
//     put IMAGE COMMIT [+ARGUMENT...] [-ARGUMENT...]   an IMAGE of "" is the booted one; prints "changed" or "as
//     wanted" drop-pending | roll-back                     print the same prune await-finalizer MILLISECONDS finalize
//     PATH=TEXT...                        puts files into the staged deployment, and finalizes it

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/root.h"
#include "host/deployments_ostree.h"
#include "host/systemd_dbus.h"
#include "json/parse.h"

namespace pintle::host {
namespace {

using Words = std::vector<std::string>;

json::Value ToJson(const std::optional<DeployedImage>& image) {
  if (!image) return nullptr;
  return {{"commit", image->commit},   {"version", image->version}, {"branch", image->branch},
          {"image", image->image},     {"digest", image->digest},   {"arguments", image->kernel_arguments},
          {"staged", image->is_staged}};
}

Result<> Observe(Deployments& deployments) {
  const DeploymentsState state = TRY(deployments.Observe());
  const json::Value all = {
      {"booted", ToJson(state.booted)}, {"pending", ToJson(state.pending)}, {"rollback", ToJson(state.rollback)}};
  fmt::print("{}\n", json::ToText(all));
  return {};
}

Result<> Print(const Result<Putting>& putting) {
  if (!putting) return putting.error();
  fmt::print("{}\n", *putting == Putting::kChanged ? "changed" : "as wanted");
  return {};
}

Result<> Fetch(Deployments& deployments, const std::string& image) {
  const FetchedImage fetched = TRY(deployments.Fetch(image, {}));
  fmt::print("{} {}\n", fetched.commit, fetched.name);
  return {};
}

Result<> Put(Deployments& deployments, const Words& words) {
  WantedDeployment wanted;
  if (!words.at(0).empty()) wanted.image = FetchedImage{words.at(0), words.at(1)};
  for (const std::string& word : Words(words.begin() + 2, words.end())) {
    (word[0] == '-' ? wanted.remove_arguments : wanted.add_arguments).push_back(word.substr(1));
  }
  return Print(deployments.Put(wanted));
}

Result<> Finalize(Deployments& deployments, const Words& words) {
  return Print(deployments.FinalizeStaged([&](const Root& next) -> Result<> {
    for (const std::string& word : words) {
      const std::size_t equals = word.find('=');
      TRY(next.WriteFile(word.substr(0, equals), word.substr(equals + 1)));
    }
    return {};
  }));
}

Result<> AwaitFinalizerOfThisMachine(const std::string& milliseconds) {
  const Root root = TRY(Root::Open("/"));
  SystemdDbus systemd(root);
  return AwaitFinalizer(systemd, std::chrono::milliseconds(std::stoi(milliseconds)));
}

// Has the lock until its input ends, and drops what is staged.
Result<> Hold(Deployments& deployments) {
  return Print(deployments.FinalizeStaged([](const Root&) -> Result<> {
    fmt::print("held\n");
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
    return Error(ErrorKind::kCancelled, "enough");
  }));
}

std::string Option(Words& words, const std::string& name, const std::string& otherwise = "") {
  const std::string prefix = "--" + name + "=";
  for (auto word = words.begin(); word != words.end(); ++word) {
    if (!word->starts_with(prefix)) continue;
    const std::string value = word->substr(prefix.size());
    words.erase(word);
    return value;
  }
  return otherwise;
}

Result<> Run(Words words) {
  const std::string sysroot = Option(words, "sysroot", "/");
  const RegistryAccess access{Option(words, "auth-file"), Option(words, "certificates"), Option(words, "policy")};
  DeploymentsOstree deployments(sysroot, access,
                                std::chrono::milliseconds(std::stoi(Option(words, "patience", "20000"))));
  if (words.empty()) return Error(ErrorKind::kInvalid, "no verb");
  const std::string verb = words[0];
  words.erase(words.begin());
  if (verb == "observe") return Observe(deployments);
  if (verb == "fetch" && words.size() == 1) return Fetch(deployments, words[0]);
  if (verb == "put" && words.size() >= 2) return Put(deployments, words);
  if (verb == "drop-pending") return Print(deployments.DropPending());
  if (verb == "roll-back") return Print(deployments.RollBack());
  if (verb == "prune") return deployments.Prune();
  if (verb == "await-finalizer" && words.size() == 1) return AwaitFinalizerOfThisMachine(words[0]);
  if (verb == "hold") return Hold(deployments);
  if (verb == "finalize") return Finalize(deployments, words);
  return Error(ErrorKind::kInvalid, "no such verb: " + verb);
}

}  // namespace
}  // namespace pintle::host

int main(int count, char** words) {
  const auto result = pintle::host::Run(pintle::host::Words(words + 1, words + count));
  if (result) return 0;
  fmt::print(stderr, "{}\n", result.error().message());
  return 1;
}
