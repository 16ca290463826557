// SPDX-License-Identifier: Apache-2.0

// A command line for the deployments of a node, for test_deployments.py and test_rpm_ostree.py.
//
//     deployments-probe [--sysroot=DIRECTORY] [--auth-file=FILE] [--certificates=DIRECTORY] [--policy=FILE]
//                       [--patience=MILLISECONDS] [--by=chosen] [--stop=input] [--progress=shown] VERB
//
// The verbs are:
//
// - observe: prints JSON.
// - fetch IMAGE: prints COMMIT NAME.
// - put IMAGE COMMIT [CHANGE...]: prints "changed" or "as wanted"; an IMAGE of "" is the booted one.
// - drop-pending, roll-back: print "changed" or "as wanted", too.
// - prune.
// - has-unneeded: prints "yes" or "no".
// - await-finalizer MILLISECONDS.
// - finalize PATH=TEXT...: puts files into the staged deployment, and finalizes it.
// - hold: holds the lock until its input ends.
// - extensions ROOT IMAGE: unpacks an image of extensions below ROOT, prints all files there and yum's configuration,
//   and removes the files again.
//
// A CHANGE is +ARGUMENT, -ARGUMENT, new, install=PACKAGE, uninstall=PACKAGE, remove=PACKAGE or reset=PACKAGE; `new`
// requests a new deployment even if nothing differs.  --by=chosen uses rpm-ostree or libostree, whichever the machine
// has; otherwise, libostree is used.  --progress=shown prints the progress to standard error.  --stop=input stops the
// work when the input ends.

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/root.h"
#include "host/ostree/deployments_ostree.h"
#include "host/ostree/extensions_image.h"
#include "host/ostree/open_deployments.h"
#include "host/systemd/systemd_dbus.h"
#include "json/fields.h"
#include "json/parse.h"

namespace pintle::host {
namespace {

using Words = std::vector<std::string>;

json::Value ToJson(const std::optional<DeployedImage>& image) {
  if (!image) return nullptr;
  return {{"commit", image->commit},
          {"version", image->version},
          {"branch", image->branch},
          {"image", image->image},
          {"digest", image->digest},
          {"arguments", json::Encode(image->kernel_arguments)},
          {"staged", image->is_staged},
          {"packages", json::Encode(image->packages)},
          {"removed", json::Encode(image->removed_packages)}};
}

Result<> Observe(Deployments& deployments) {
  const DeploymentsState state = TRY(deployments.Observe());
  const json::Value all = {
      {"booted", ToJson(state.booted)}, {"pending", ToJson(state.pending)}, {"rollback", ToJson(state.rollback)}};
  fmt::print("{}\n", json::ToText(all));
  return {};
}

Result<> Print(const Result<PutEffect>& effect) {
  if (!effect) return effect.error();
  fmt::print("{}\n", *effect == PutEffect::kChanged ? "changed" : "as wanted");
  return {};
}

Result<> Fetch(Deployments& deployments, const std::string& image, const std::stop_token& stop) {
  const FetchedImage fetched = TRY(deployments.Fetch(image, stop));
  fmt::print("{} {}\n", fetched.commit, fetched.name);
  return {};
}

Words& ListFor(const std::string& change, WantedDeployment& wanted) {
  if (change.starts_with("install=")) return wanted.packages.install;
  if (change.starts_with("uninstall=")) return wanted.packages.uninstall;
  if (change.starts_with("remove=")) return wanted.packages.override_remove;
  if (change.starts_with("reset=")) return wanted.packages.override_reset;
  return change[0] == '-' ? wanted.remove_arguments : wanted.add_arguments;
}

Result<> Put(Deployments& deployments, const Words& words) {
  WantedDeployment wanted;
  if (!words.at(0).empty()) wanted.image = FetchedImage{words.at(0), words.at(1)};
  for (const std::string& word : Words(words.begin() + 2, words.end())) {
    if (word == "new") {
      wanted.always_new = true;
      continue;
    }
    const bool is_argument = word[0] == '-' || word[0] == '+';
    ListFor(word, wanted).push_back(word.substr(is_argument ? 1 : word.find('=') + 1));
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

// Holds the lock until its input ends, and then drops the staged deployment.
Result<> Hold(Deployments& deployments) {
  return Print(deployments.FinalizeStaged([](const Root&) -> Result<> {
    fmt::print("held\n");
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
    return Error(ErrorKind::kCancelled, "enough");
  }));
}

Result<> PrintExtensions(const std::string& root, const std::string& image, const RegistryAccess& access,
                         const std::stop_token& stop, const ProgressCallback& report_progress) {
  const ExtensionsImage unpacked = TRY(ExtensionsImage::Unpack(root, image, access, stop, report_progress));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.is_regular_file()) fmt::print("{}\n", entry.path().string().substr(root.size()));
  }
  const Root opened = TRY(Root::Open(root));
  fmt::print("{}", TRY(opened.ReadFile(kExtensionsRepository)));
  return {};
}

void PrintProgress(const ActivityProgress& progress) { fmt::print(stderr, "progress: {}\n", InWords(progress)); }

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

// Requests a stop of the work when standard input ends.
class StopAtEndOfInput {
 public:
  explicit StopAtEndOfInput(bool is_wanted) {
    if (!is_wanted) return;
    std::thread([source = source_]() mutable {
      while (std::getchar() != EOF) {
      }
      source.request_stop();
    }).detach();
  }
  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
};

// The deployments of this machine, by rpm-ostree or libostree, or those of a disk, by libostree.
class OpenedDeployments {
 public:
  static Result<std::unique_ptr<OpenedDeployments>> Open(const std::string& sysroot, const std::string& by,
                                                         const RegistryAccess& access,
                                                         const RpmOstreeSettings& settings) {
    std::unique_ptr<OpenedDeployments> opened(new OpenedDeployments(TRY(Root::Open("/"))));
    if (by == "chosen") {
      opened->deployments_ = TRY(OpenDeployments(opened->systemd_, access, settings));
    } else {
      opened->deployments_ = std::make_unique<DeploymentsOstree>(sysroot, access, settings.patience);
    }
    return opened;
  }
  Deployments& deployments() { return *deployments_; }

 private:
  explicit OpenedDeployments(Root root) : root_(std::move(root)), systemd_(root_) {}

  Root root_;
  SystemdDbus systemd_;
  std::unique_ptr<Deployments> deployments_;
};

Result<> Run(Words words) {
  const std::string sysroot = Option(words, "sysroot", "/");
  const RegistryAccess access{Option(words, "auth-file"), Option(words, "certificates"), Option(words, "policy")};
  const StopAtEndOfInput stopping(Option(words, "stop") == "input");
  RpmOstreeSettings settings;
  settings.stop = stopping.token();
  settings.patience = std::chrono::milliseconds(std::stoi(Option(words, "patience", "20000")));
  const auto opened = TRY(OpenedDeployments::Open(sysroot, Option(words, "by"), access, settings));
  Deployments& deployments = opened->deployments();
  const ProgressCallback report_progress =
      Option(words, "progress") == "shown" ? ProgressCallback(PrintProgress) : ProgressCallback();
  deployments.SetProgressCallback(report_progress);
  if (words.empty()) return Error(ErrorKind::kInvalid, "no verb");
  const std::string verb = words[0];
  words.erase(words.begin());
  if (verb == "observe") return Observe(deployments);
  if (verb == "fetch" && words.size() == 1) return Fetch(deployments, words[0], stopping.token());
  if (verb == "put" && words.size() >= 2) return Put(deployments, words);
  if (verb == "drop-pending") return Print(deployments.DropPending());
  if (verb == "roll-back") return Print(deployments.RollBack());
  if (verb == "prune") return deployments.Prune();
  if (verb == "has-unneeded") {
    fmt::print("{}\n", TRY(deployments.HasUnneededImages()) ? "yes" : "no");
    return {};
  }
  if (verb == "await-finalizer" && words.size() == 1) return AwaitFinalizerOfThisMachine(words[0]);
  if (verb == "hold") return Hold(deployments);
  if (verb == "extensions" && words.size() == 2) {
    return PrintExtensions(words[0], words[1], access, stopping.token(), report_progress);
  }
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
