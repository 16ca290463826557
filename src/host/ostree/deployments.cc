// SPDX-License-Identifier: Apache-2.0
#include "host/ostree/deployments.h"

#include <fmt/core.h>

#include <variant>

#include "host/ostree/image_name.h"

namespace pintle::host {
namespace {

constexpr const char* kFinalizer = "ostree-finalize-staged.service";

// Decides whether a name, of any kind, stands for the image.
class ImageNameMatcher {
 public:
  explicit ImageNameMatcher(const DeployedImage& image) : image_(image) {}

  bool operator()(const RegistryImage& name) const {
    // The name of an image for several architectures has the digest of the index, which is not `image_.digest`.
    if (image_.image == PullSpec(name)) return true;
    return name.digest.empty() ? image_.image.starts_with(name.repository + "@") : name.digest == image_.digest;
  }
  bool operator()(const LayoutImage& name) const {
    return image_.image == fmt::format("oci:{}{}{}", name.directory, name.tag.empty() ? "" : ":", name.tag);
  }
  bool operator()(const OstreeBranch& name) const {
    return image_.branch == (name.remote.empty() ? name.branch : fmt::format("{}:{}", name.remote, name.branch));
  }
  bool operator()(const OstreeCommit& name) const { return image_.commit == name.checksum; }

 private:
  const DeployedImage& image_;
};

}  // namespace

std::string NameOf(const DeployedImage& image) {
  if (!image.image.empty()) return image.image;
  return image.branch.empty() ? image.commit : image.branch;
}

bool IsOfImage(const DeployedImage& image, const std::string& name) {
  const auto parsed = ParseImageName(name);
  return parsed ? std::visit(ImageNameMatcher(image), *parsed) : NameOf(image) == name;
}

Result<> CheckMayReplace(const std::optional<DeployedImage>& pending, const WantedDeployment& wanted) {
  if (!pending || !wanted.must_keep_pending) return {};
  return Error(
      ErrorKind::kConflict,
      fmt::format("the deployment {} of someone else is pending for the next boot, and would be lost: reboot into "
                  "it, or drop it by `rpm-ostree cleanup --pending` or `ostree admin undeploy 0`",
                  pending->id));
}

Result<> AwaitFinalizer(Systemd& systemd, std::chrono::milliseconds patience) {
  const auto doing = [] { return "making sure that the staged deployment will be finalized"; };
  if (TRY(systemd.Observe(kFinalizer), doing()).active_state == "active") return {};
  // A path unit may start kFinalizer at the same time, which does no harm.
  TRY(systemd.Run(JobKind::kStart, kFinalizer, patience), doing());
  const UnitStatus status = TRY(systemd.Observe(kFinalizer), doing());
  if (status.active_state == "active") return {};
  return Error(ErrorKind::kSystem, fmt::format("{} is {} ({})", kFinalizer, status.active_state, status.load_state))
      .While(doing());
}

}  // namespace pintle::host
