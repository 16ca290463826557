// SPDX-License-Identifier: Apache-2.0
#pragma once

// The versions of the OS that are on the machine's disk, and the one that the next boot takes.
//
// A deployment is an image with the kernel arguments that it boots with, and an /etc of its own.  The machine runs from
// one; another may be pending, to be taken by the next boot; and one is kept to fall back to.  No call here changes the
// one that runs.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/root.h"
#include "host/how_far.h"
#include "host/systemd.h"

namespace pintle::host {

struct DeployedImage {
  std::string id;  // OS-COMMIT.SERIAL, as rpm-ostree calls it: no other deployment on this disk has it.
  std::string commit;
  std::string version;                        // As the image calls itself; empty when it does not.
  std::string branch;                         // REMOTE:BRANCH or BRANCH, for one that came from an OSTree repository.
  std::string image;                          // HOST/PATH@sha256:..., for one that came as an OCI image,
  std::string digest;                         // and the digest of its manifest.
  std::vector<std::string> kernel_arguments;  // As its boot entry has them.
  std::string base_commit;                    // The image's own, where packages are layered on it; else the same.
  std::vector<std::string> packages;          // Those that rpm-ostree was asked to layer,
  std::vector<std::string> removed_packages;  // and those that it was asked to take out.
  bool is_staged = false;                     // It becomes the one to boot only when the machine shuts down.
};

// What an image is called by whoever asks for it.
std::string NameOf(const DeployedImage& image);

// Whether it is what this name, in the way of image_name.h, stands for.  What a tag stands for is taken to be what was
// deployed from its repository.
bool IsOfImage(const DeployedImage& image, const std::string& name);

struct DeploymentsState {
  std::optional<DeployedImage> booted;    // None: the disk is not the one that this machine runs from.
  std::optional<DeployedImage> pending;   // What the next boot takes, unless that is the booted one.
  std::optional<DeployedImage> rollback;  // What was booted before.
};

// An image that was fetched completely.
struct FetchedImage {
  std::string name;    // As it was asked for, but with the digest in the place of a tag.
  std::string commit;  // Empty if rpm-ostree has it, which only tells the commits of deployments.
};

// Packages that are layered on an image, or taken out of it, beside those of the booted one.  This takes rpm-ostree.
// What is both installed and uninstalled, or both taken out and put back, is installed, or taken out.
struct WantedPackages {
  std::vector<std::string> install;
  std::vector<std::string> uninstall;
  std::vector<std::string> override_remove;  // Packages of the image that are not to be there,
  std::vector<std::string> override_reset;   // and those that are to be there again.

  bool IsEmpty() const {
    return install.empty() && uninstall.empty() && override_remove.empty() && override_reset.empty();
  }
};

struct WantedDeployment {
  std::optional<FetchedImage> image;  // None: the one that is booted.
  std::vector<std::string> add_arguments;
  std::vector<std::string> remove_arguments;
  WantedPackages packages = {};
  // For files that are to take effect with the next boot: a deployment of its own for them even where image, arguments
  // and packages are those of the booted one.
  bool always_new = false;
  // Whether one that is pending already is someone else's, and to take its place would be an error.
  bool keeps_others = false;
};

enum class Putting { kAsWanted, kChanged };

// Packages that can be found while this lives.
class OfferedPackages {
 public:
  virtual ~OfferedPackages() = default;
};

// For one thread at a time: calls block until they are done.
class Deployments {
 public:
  virtual ~Deployments() = default;

  // A machine without OSTree is an error of the kind kNotFound.
  virtual Result<DeploymentsState> Observe() = 0;

  // Calls that take long report to this how far they are, as parts of what their caller does.  Empty: they do not.
  virtual void TellProgressTo(TellHowFar) {}

  // What someone else is doing to them just now, in words; empty: nothing.
  virtual Result<std::string> UnderWay() { return std::string(); }

  // Gets an image as image_name.h names it, and makes it a commit.  Asks nobody for what is here already.  An image is
  // here whole or not at all.
  virtual Result<FetchedImage> Fetch(const std::string& image, const std::stop_token& stop) = 0;

  // Whether packages can be layered on an image here.
  virtual bool LayersPackages() const = 0;

  // Makes the packages of an extensions image available, to Put() and also to Fetch(), which looks for the packages
  // that are layered already.  With an empty name, the packages are those of the repositories that the machine has.
  virtual Result<std::unique_ptr<OfferedPackages>> OfferPackages(const std::string& image,
                                                                 const std::stop_token& stop) = 0;

  // Makes this the deployment that the next boot takes: staged where the machine runs from this disk, and deployed at
  // once otherwise.  Kernel arguments are those of the booted one, with these added and removed.
  virtual Result<Putting> Put(const WantedDeployment& wanted) = 0;

  // The next boot takes what is booted: the inverse of Put().
  virtual Result<Putting> DropPending() = 0;

  // The next boot takes what was booted before.
  virtual Result<Putting> RollBack() = 0;

  // Makes the staged deployment the one that the next boot takes, as a shutdown does, but lets the caller add to it:
  // `put` changes the deployment's own tree after its /etc was merged, and before the boot loader hears of it.  /var is
  // there as the machine has it now, and /usr cannot be written to.  To be called as the last thing of a shutdown. When
  // something fails, nothing is pending any more.
  virtual Result<Putting> FinalizeStaged(const std::function<Result<>(const Root& next)>& put) = 0;

  // Removes what no deployment needs.
  virtual Result<> Prune() = 0;
};

// kConflict if what is pending is to stay, with the remedy.
Result<> CheckMayReplace(const std::optional<DeployedImage>& pending, const WantedDeployment& wanted);

// Waits until systemd is sure to finalize a staged deployment when it shuts down.  OSTree has that begin a moment after
// staging, and a shutdown that begins before just loses the deployment.
Result<> AwaitFinalizer(Systemd& systemd, std::chrono::milliseconds patience);

}  // namespace pintle::host
