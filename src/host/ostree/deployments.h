// SPDX-License-Identifier: Apache-2.0
#pragma once

// Manages the versions of the OS on the machine's disk, and chooses the version for the next boot.
//
// A deployment is an image with the kernel arguments that it boots with and an /etc of its own.  One deployment is
// booted, another may be pending for the next boot, and one is kept for a rollback.  No call here changes the booted
// deployment.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/root.h"
#include "host/ostree/activity_progress.h"
#include "host/systemd/systemd.h"

namespace pintle::host {

// OSTree's own finalizer completes the staged deployment that kStagedDeployment describes, unless the file
// kStagedDeploymentLock exists.
inline constexpr const char* kStagedDeployment = "/run/ostree/staged-deployment";
inline constexpr const char* kStagedDeploymentLock = "/run/ostree/staged-deployment-locked";

struct DeployedImage {
  std::string id;  // OS-COMMIT.SERIAL, the format of rpm-ostree; unique on this disk.
  std::string commit;
  std::string version;                        // The version in the image's own metadata, or "".
  std::string branch;                         // REMOTE:BRANCH or BRANCH, if it came from an OSTree repository.
  std::string image;                          // HOST/PATH@sha256:..., if it came as an OCI image.
  std::string digest;                         // The digest of that image's manifest.
  std::vector<std::string> kernel_arguments;  // The arguments in its boot entry.
  std::string base_commit;                    // The image's own commit; `commit` differs if packages are layered.
  std::vector<std::string> packages;          // The packages that rpm-ostree was asked to layer.
  std::vector<std::string> removed_packages;  // The packages that rpm-ostree was asked to remove.
  bool is_staged = false;                     // A shutdown completes this deployment, and the next boot takes it.
};

// Returns the name by which a user would name the image.
std::string NameOf(const DeployedImage& image);

// Returns whether this name, in the syntax of image_name.h, can stand for the image.  A tag can stand for every image
// that was deployed from the tag's repository.
bool IsOfImage(const DeployedImage& image, const std::string& name);

struct DeploymentsState {
  std::optional<DeployedImage> booted;    // nullopt if the machine does not run from this disk.
  std::optional<DeployedImage> pending;   // The deployment for the next boot; nullopt if that is the booted one.
  std::optional<DeployedImage> rollback;  // The deployment that was booted before.
};

// An image that has been fetched completely.
struct FetchedImage {
  std::string name;  // The requested name, with the digest in the place of a tag.
  // Empty if rpm-ostree has fetched the image: rpm-ostree reports only the commits of deployments.
  std::string commit;
};

// Packages to layer on an image or to remove from it, in addition to those of the booted deployment.  Only rpm-ostree
// can do this.  A package in both `install` and `uninstall` is installed, and one in both `override_remove` and
// `override_reset` is removed.
struct WantedPackages {
  std::vector<std::string> install;
  std::vector<std::string> uninstall;
  std::vector<std::string> override_remove;  // Packages of the image to remove.
  std::vector<std::string> override_reset;   // Removed packages to restore.

  bool IsEmpty() const {
    return install.empty() && uninstall.empty() && override_remove.empty() && override_reset.empty();
  }
};

struct WantedDeployment {
  std::optional<FetchedImage> image;  // nullopt for the booted image.
  std::vector<std::string> add_arguments;
  std::vector<std::string> remove_arguments;
  WantedPackages packages = {};
  // Requests a new deployment even if image, arguments and packages are those of the booted deployment.  A change of
  // files that takes effect with the next boot needs such a deployment.
  bool always_new = false;
  // If true, a deployment that is already pending counts as someone else's, and it is an error to replace it.
  bool must_keep_pending = false;
};

// The effect of an operation on the deployments.
enum class PutEffect { kAsWanted, kChanged };

// While this object lives, rpm-ostree can find the packages of an extensions image.
class OfferedPackages {
 public:
  virtual ~OfferedPackages() = default;
};

// Calls block until they are done.  An object must be used by one thread at a time.
class Deployments {
 public:
  virtual ~Deployments() = default;

  // Returns the present deployments, or an error of the kind kNotFound on a machine without OSTree.
  virtual Result<DeploymentsState> Observe() = 0;

  // Sets the function that gets the progress of long calls.  `doing` is empty in the progress, since the caller knows
  // the activity.  An empty function turns reports off.
  virtual void SetProgressCallback(ProgressCallback) {}

  // Describes the transaction that someone else is running now.  Returns "" if there is none.
  virtual Result<std::string> RunningTransaction() { return std::string(); }

  // Fetches an image by its name in the syntax of image_name.h and imports it as a commit.  An image that Pintle has
  // imported, or that rpm-ostree has deployed, is found by its digest without the network.  An image is stored whole or
  // not at all.
  virtual Result<FetchedImage> Fetch(const std::string& image, const std::stop_token& stop) = 0;

  // Returns whether packages can be layered on images here.
  virtual bool LayersPackages() const = 0;

  // Makes the packages of an extensions image available to Put() and Fetch().  Fetch() needs them, since it also looks
  // for the packages that are layered already.  If `image` is empty, the packages come from the machine's own
  // repositories.
  virtual Result<std::unique_ptr<OfferedPackages>> OfferPackages(const std::string& image,
                                                                 const std::stop_token& stop) = 0;

  // Makes the wanted deployment the one for the next boot.  If the machine runs from this disk, the deployment is
  // staged, otherwise it is deployed at once.  Its kernel arguments are those of the booted deployment with the changes
  // in `wanted`.  If the booted deployment itself is as wanted, the pending one is dropped, unless `always_new` is set.
  virtual Result<PutEffect> Put(const WantedDeployment& wanted) = 0;

  // Makes the next boot take the booted deployment: the inverse of Put().
  virtual Result<PutEffect> DropPending() = 0;

  // Makes the next boot take the deployment that was booted before.
  virtual Result<PutEffect> RollBack() = 0;

  // Finalizes the staged deployment, as a shutdown does, and lets the caller change it.  `put` gets the deployment's
  // tree after its /etc was merged and before the boot entries are written.  In that tree, /var is the machine's own,
  // and /usr is read-only.  Returns kAsWanted if no deployment is staged, or if the staged one is locked.  This must be
  // the last step of a shutdown.  After an error, there is no pending deployment, unless the error reports that the
  // deployment could not be dropped.
  virtual Result<PutEffect> FinalizeStaged(const std::function<Result<>(const Root& next)>& put) = 0;

  // Returns whether Prune() would remove an image.  Returns false if another program removes the images by itself.
  virtual Result<bool> HasUnneededImages() { return false; }

  // Removes data that no deployment needs.
  virtual Result<> Prune() = 0;
};

// Returns kConflict with a remedy if the pending deployment must not be replaced.
Result<> CheckMayReplace(const std::optional<DeployedImage>& pending, const WantedDeployment& wanted);

// Waits until systemd is sure to finalize a staged deployment at shutdown.  The unit that finalizes it is started a
// moment after staging.  A shutdown that begins before that moment loses the deployment.
Result<> AwaitFinalizer(Systemd& systemd, std::chrono::milliseconds patience);

}  // namespace pintle::host
