// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/deployments_rpm_ostree.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "base/digest.h"
#include "base/root.h"
#include "host/ostree/extensions_image.h"
#include "host/ostree/image_name.h"
#include "host/ostree/kernel_arguments.h"
#include "host/ostree/rpm_ostree_dbus.h"

namespace pintle::host {
namespace {

using Words = std::vector<std::string>;

// rpm-ostree reads pull secrets from this file first.
constexpr const char* kAuthLink = "run/ostree/auth.json";
constexpr const char* kAuthDirectory = "run/ostree";  // rpm-ostree does not make it.

class UnpackedExtensions final : public OfferedPackages {
 public:
  explicit UnpackedExtensions(ExtensionsImage image) : image_(std::move(image)) {}

 private:
  ExtensionsImage image_;
};

bool IsContainer(const ImageName& name) {
  return std::holds_alternative<RegistryImage>(name) || std::holds_alternative<LayoutImage>(name);
}

// Returns the name of the image for a rebase.  rpm-ostree writes this name into the origin file.
Result<std::string> RefspecOf(const ImageName& name) {
  if (const auto* image = std::get_if<RegistryImage>(&name)) {
    if (!image->digest.empty()) return ContainerReference(*image);
    return Error(ErrorKind::kInvalid, fmt::format("{} is a tag, which may stand for another image later: name the "
                                                  "image by its digest",
                                                  PullSpec(*image)));
  }
  if (const auto* image = std::get_if<LayoutImage>(&name)) return ContainerReference(*image);
  if (const auto* commit = std::get_if<OstreeCommit>(&name)) return commit->checksum;
  const auto& branch = std::get<OstreeBranch>(name);
  return branch.remote.empty() ? branch.branch : branch.remote + ":" + branch.branch;
}

// Returns those of `words` that are not in `others`, in the order of `words`.
Words Without(const Words& words, const Words& others) {
  const std::set<std::string> set(others.begin(), others.end());
  Words left;
  std::copy_if(words.begin(), words.end(), std::back_inserter(left),
               [&](const std::string& word) { return !set.contains(word); });
  return left;
}

// Sorts the words and removes duplicates.
Words SortedOnce(Words words) {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

// Returns `current` without `removed` and with `added`.  A word that is in both `removed` and `added` is added.
Words ChangedWords(const Words& current, const Words& removed, const Words& added) {
  Words words = Without(current, removed);
  words.insert(words.end(), added.begin(), added.end());
  return SortedOnce(std::move(words));
}

}  // namespace

// The wanted contents of the next deployment.
struct DeploymentsRpmOstree::Spec {
  std::string refspec;  // Empty if the image does not change.
  std::string commit;   // Empty if the commit is not known yet.
  bool is_container = false;
  Words arguments;
  Words packages;
  Words removed;

  static Result<Spec> Of(const WantedDeployment& wanted, const DeployedImage& booted) {
    Spec spec;
    if (wanted.image) {
      const ImageName name = TRY(ParseImageName(wanted.image->name));
      spec.is_container = IsContainer(name);
      spec.refspec = TRY(RefspecOf(name));
      spec.commit = wanted.image->commit;
      // rpm-ostree returns an error if a request names the image that is deployed already.
      if (spec.HasImage(booted)) spec.refspec.clear();
    }
    if (spec.refspec.empty()) spec.commit = booted.base_commit;
    spec.arguments = MergedKernelArguments(booted.kernel_arguments, wanted.remove_arguments, wanted.add_arguments);
    spec.packages = ChangedWords(booted.packages, wanted.packages.uninstall, wanted.packages.install);
    spec.removed =
        ChangedWords(booted.removed_packages, wanted.packages.override_reset, wanted.packages.override_remove);
    return spec;
  }

  bool Matches(const DeployedImage& deployed) const {
    return HasImage(deployed) && deployed.kernel_arguments == arguments && SortedOnce(deployed.packages) == packages &&
           SortedOnce(deployed.removed_packages) == removed;
  }

 private:
  bool HasImage(const DeployedImage& deployed) const {
    if (!refspec.empty() && is_container) return deployed.image == ImageOfReference(refspec);
    return (refspec.empty() || deployed.branch == refspec) && deployed.base_commit == commit;
  }
};

DeploymentsRpmOstree::DeploymentsRpmOstree(Systemd& systemd, RegistryAccess registries, RpmOstreeSettings settings)
    : systemd_(systemd),
      registries_(std::move(registries)),
      settings_(std::move(settings)),
      disk_("/", registries_, settings_.patience) {}

void DeploymentsRpmOstree::SetProgressCallback(ProgressCallback report) {
  disk_.SetProgressCallback(report);
  settings_.report = std::move(report);
}

Result<DeploymentsState> DeploymentsRpmOstree::Observe() { return disk_.Observe(); }

Result<std::string> DeploymentsRpmOstree::RunningTransaction() {
  const std::string transaction = TRY(RpmOstree::ActiveTransaction(systemd_));
  if (!transaction.empty()) return fmt::format("rpm-ostree is at work ({})", transaction);
  return disk_.RunningTransaction();
}

// rpm-ostree can fetch an image without deploying it.  So everything is downloaded, and all errors of the network are
// found, before a change begins.  The later rebase finds the layers on the disk.
Result<FetchedImage> DeploymentsRpmOstree::Fetch(const std::string& image, const std::stop_token& stop) {
  ImageName name = TRY(ParseImageName(image));
  // For OSTree's own remotes, libostree is used, as on machines without rpm-ostree.
  if (!IsContainer(name)) return disk_.Fetch(image, stop);
  if (auto* in_registry = std::get_if<RegistryImage>(&name); in_registry != nullptr && in_registry->digest.empty()) {
    const std::string manifest = TRY(Skopeo(registries_, "/var/tmp").Manifest(*in_registry, stop));
    name = RegistryImage{in_registry->repository, "", "sha256:" + Sha256(manifest).hex()};
  }
  RpmOstreeUpdate update;
  update.refspec = TRY(RefspecOf(name));
  update.depth = RpmOstreeUpdate::Depth::kFetch;
  FetchedImage fetched{ImageOfReference(update.refspec), ""};
  const DeploymentsState state = TRY(disk_.Observe());
  for (const auto& deployed : {state.booted, state.pending, state.rollback}) {
    if (deployed && deployed->image == fetched.name) return fetched;
  }
  TRY(LinkPullSecrets());
  RpmOstreeSettings settings = settings_;
  settings.stop = stop;
  TRY(TRY(RpmOstree::Connect(systemd_, std::move(settings)))->Update(update));
  return fetched;
}

Result<> DeploymentsRpmOstree::LinkPullSecrets() const {
  const std::string auth_file = AuthFileOf(registries_);
  if (auth_file.empty()) return {};
  const auto doing = [] { return "giving rpm-ostree the pull secrets"; };
  const Root root = TRY(Root::Open("/"), doing());
  TRY(root.MakeDirectories(kAuthDirectory), doing());
  TRY(root.WriteLink(kAuthLink, auth_file), doing());
  return {};
}

Result<std::unique_ptr<OfferedPackages>> DeploymentsRpmOstree::OfferPackages(const std::string& image,
                                                                             const std::stop_token& stop) {
  if (image.empty()) return std::make_unique<OfferedPackages>();
  return std::make_unique<UnpackedExtensions>(
      TRY(ExtensionsImage::Unpack("/", image, registries_, stop, settings_.report)));
}

Result<PutEffect> DeploymentsRpmOstree::Put(const WantedDeployment& wanted) {
  const DeploymentsState state = TRY(disk_.Observe());
  if (!state.booted) return Error(ErrorKind::kNotFound, "there is no deployment to take /etc from");
  const Spec spec = TRY(Spec::Of(wanted, *state.booted));
  // If the caller wants a new deployment in order to put files into it, a pending deployment serves only while it is
  // staged: a staged deployment is completed at shutdown, so files can still be put into it.
  const bool is_reusable = state.pending && (!wanted.always_new || state.pending->is_staged);
  if (is_reusable && spec.Matches(*state.pending)) return PutEffect::kAsWanted;
  TRY(CheckMayReplace(state.pending, wanted));
  if (spec.Matches(*state.booted)) {
    if (!wanted.always_new) return DropPending();
    WantedDeployment same;
    same.always_new = true;
    return disk_.Put(same);
  }
  const Result<> made = MakeDeployment(spec, state);
  if (made) return PutEffect::kChanged;
  const auto dropped = DropPending();
  if (dropped) return made.error();
  return Error(made.error().kind(), fmt::format("{}; and then {}", made.error().message(), dropped.error().message()));
}

// Each request starts from the result of the previous one, so that together they make one deployment.  Packages are
// removed in the request that replaces the image.  Packages are added afterwards, since they must fit the new image.
Result<> DeploymentsRpmOstree::MakeDeployment(const Spec& spec, const DeploymentsState& state) {
  const DeployedImage& booted = *state.booted;
  const auto rpm_ostree = TRY(RpmOstree::Connect(systemd_, settings_));
  if (state.pending) TRY(rpm_ostree->CleanUp(RpmOstreeCleanup::kPending));
  if (spec.is_container) TRY(LinkPullSecrets());
  RpmOstreeUpdate removals;
  removals.refspec = spec.refspec;
  // Only the image that was fetched before may be deployed.  The digest in the name of a container image ensures this.
  // Any other image is deployed without fetching.
  if (!spec.refspec.empty() && !spec.is_container) removals.depth = RpmOstreeUpdate::Depth::kDeployWithoutFetching;
  removals.uninstall = Without(booted.packages, spec.packages);
  removals.override_reset = Without(booted.removed_packages, spec.removed);
  if (!removals.refspec.empty() || !removals.uninstall.empty() || !removals.override_reset.empty()) {
    TRY(rpm_ostree->Update(removals));
  }
  if (spec.arguments != booted.kernel_arguments) {
    TRY(rpm_ostree->SetKernelArguments(booted.kernel_arguments, spec.arguments));
  }
  RpmOstreeUpdate additions;
  additions.install = Without(spec.packages, booted.packages);
  additions.override_remove = Without(spec.removed, booted.removed_packages);
  if (!additions.install.empty() || !additions.override_remove.empty()) TRY(rpm_ostree->Update(additions));
  return ExpectPending(spec);
}

Result<> DeploymentsRpmOstree::ExpectPending(const Spec& spec) {
  const DeploymentsState state = TRY(disk_.Observe());
  if (state.pending && spec.Matches(*state.pending)) return {};
  return Error(ErrorKind::kSystem, state.pending ? "rpm-ostree has staged another deployment than was requested"
                                                 : "rpm-ostree has not staged a deployment");
}

Result<PutEffect> DeploymentsRpmOstree::DropPending() {
  if (!TRY(disk_.Observe()).pending) return PutEffect::kAsWanted;
  const Result<> dropped = Drop();
  // Going back must not depend on the daemon.  The daemon cleans up its data of the deployment when it is used next.
  if (!dropped) return TRY(disk_.DropPending(), dropped.error().message() + "; and then");
  return PutEffect::kChanged;
}

// Ignores a request to stop, since this request may be the reason why the deployment is dropped.
Result<> DeploymentsRpmOstree::Drop() {
  RpmOstreeSettings settings = settings_;
  settings.stop = {};
  return TRY(RpmOstree::Connect(systemd_, std::move(settings)))->CleanUp(RpmOstreeCleanup::kPending);
}

// Uses libostree, since rpm-ostree refuses to roll back while a deployment is staged.
Result<PutEffect> DeploymentsRpmOstree::RollBack() { return disk_.RollBack(); }

Result<PutEffect> DeploymentsRpmOstree::FinalizeStaged(const std::function<Result<>(const Root& next)>& put) {
  return disk_.FinalizeStaged(put);
}

Result<> DeploymentsRpmOstree::Prune() {
  TRY(TRY(RpmOstree::Connect(systemd_, settings_))->CleanUp(RpmOstreeCleanup::kBase));
  return disk_.Prune();
}

}  // namespace pintle::host
