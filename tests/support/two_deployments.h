// SPDX-License-Identifier: Apache-2.0
#pragma once

// A machine with two deployments: a directory for each, one /var mounted into both, and a file that names the
// deployment to boot.  Replacing this file by a rename simulates libostree's atomic switch.  The tests need root and a
// mount namespace.

#include <sched.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/root.h"
#include "host/ostree/activity_progress.h"
#include "host/ostree/deployments.h"
#include "support/small_machine.h"

namespace pintle::change {

inline void UseOwnMounts() {
  if (::unshare(CLONE_NEWNS) != 0) throw std::runtime_error("unshare: be root");
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    throw std::runtime_error("/ is no mount: in a chroot, bind its directory to itself first");
  }
}

class TwoDeployments final : public host::Deployments {
 public:
  explicit TwoDeployments(std::filesystem::path directory) : directory_(std::move(directory)) {}

  Result<host::DeploymentsState> Observe() override {
    host::DeploymentsState state;
    state.booted = Image(booted);
    if (Has("staged")) {
      state.pending = Image(Read("staged"));
      state.pending->is_staged = true;
    } else if (ToBoot() != booted) {
      state.pending = Image(ToBoot());
    }
    if (booted == "new") state.rollback = Image("old");
    return state;
  }
  Result<host::FetchedImage> Fetch(const std::string& image, const std::stop_token& stop) override {
    if (fetching) fetching(stop);
    if (stop.stop_requested()) return Error(ErrorKind::kCancelled, "the fetch was cancelled");
    return host::FetchedImage{image, ""};
  }
  void SetProgressCallback(host::ProgressCallback to) override { progress_callback = std::move(to); }
  bool LayersPackages() const override { return false; }
  Result<std::unique_ptr<host::OfferedPackages>> OfferPackages(const std::string&, const std::stop_token&) override {
    return std::make_unique<host::OfferedPackages>();
  }
  Result<host::PutEffect> Put(const host::WantedDeployment& wanted) override {
    TRY(host::CheckMayReplace(TRY(Observe()).pending, wanted));
    TRY(Set("staged", "new"));
    return host::PutEffect::kChanged;
  }
  Result<host::PutEffect> DropPending() override {
    std::filesystem::remove(directory_ / "staged");
    TRY(Set("boot", booted));
    return host::PutEffect::kChanged;
  }
  Result<host::PutEffect> RollBack() override {
    TRY(Set("boot", "old"));
    return host::PutEffect::kChanged;
  }
  Result<host::PutEffect> FinalizeStaged(const std::function<Result<>(const Root& next)>& put) override {
    if (!Has("staged")) return host::PutEffect::kAsWanted;
    auto made = MakeNew(put);
    if (made) return host::PutEffect::kChanged;
    TRY(DropPending());
    return std::move(made).error();
  }
  Result<> Prune() override { return {}; }

  // Stages another deployment, as an administrator may do at any time.
  Result<> StageAnother() { return Set("staged", "other"); }

  std::string ToBoot() const { return Has("boot") ? Read("boot") : "old"; }
  void MountVar() const {
    if (::mount((directory_ / "old/var").c_str(), (directory_ / "new/var").c_str(), nullptr, MS_BIND, nullptr) != 0) {
      throw std::runtime_error("mount: be root");
    }
  }
  void UnmountVar() const {
    while (::umount2((directory_ / "new/var").c_str(), MNT_DETACH) == 0) {
    }
  }

  std::string booted = "old";
  host::ProgressCallback progress_callback;
  std::function<void(const std::stop_token& stop)> fetching;  // Called when a fetch begins.

 private:
  Result<> MakeNew(const std::function<Result<>(const Root& next)>& put) {
    try {
      CopyEtc();
    } catch (const std::filesystem::filesystem_error& error) {
      return Error(ErrorKind::kSystem, error.what());
    }
    MountVar();
    TRY(put(TRY(Root::Open((directory_ / "new").string()))));
    TRY(Set("boot", "new"));
    std::filesystem::remove(directory_ / "staged");
    return {};
  }
  void CopyEtc() const {
    std::filesystem::create_directories(directory_ / "new/var");
    for (const char* part : {"etc", "usr", "home"}) {
      std::filesystem::copy(directory_ / "old" / part, directory_ / "new" / part,
                            std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
    }
  }
  static host::DeployedImage Image(const std::string& name) {
    host::DeployedImage image;
    image.id = name;
    return image;
  }
  bool Has(const std::string& name) const { return std::filesystem::exists(directory_ / name); }
  std::string Read(const std::string& name) const {
    std::string text;
    std::ifstream(directory_ / name) >> text;
    return text;
  }
  Result<> Set(const std::string& name, const std::string& text) const {
    return TRY(Root::Open(directory_.string())).WriteFile(name, text);
  }

  std::filesystem::path directory_;
};

class BootableMachine {
 public:
  // `directory` must exist and be empty.
  explicit BootableMachine(std::filesystem::path directory)
      : directory_(std::move(directory)), old_(MakeSmallMachine(directory_ / "old")), deployments(directory_) {
    std::filesystem::permissions(directory_, std::filesystem::perms(0755));
    std::filesystem::rename(directory_ / "old/home", directory_ / "old/var/home");
    std::filesystem::create_directory_symlink("var/home", directory_ / "old/home");
    Boot();
  }
  ~BootableMachine() { deployments.UnmountVar(); }
  BootableMachine(const BootableMachine&) = delete;
  BootableMachine& operator=(const BootableMachine&) = delete;

  // Boots the next deployment.  A staged deployment that was not finalized is lost.
  void Boot() {
    deployments.UnmountVar();
    std::filesystem::remove(directory_ / "staged");
    deployments.booted = deployments.ToBoot();
    if (deployments.booted == "new") deployments.MountVar();
    const std::filesystem::path top = directory_ / deployments.booted;
    std::filesystem::create_directories(top / "proc/sys/kernel/random");
    std::ofstream(top / "proc/sys/kernel/random/boot_id") << ++boots_;
    root_ = std::make_unique<Root>(ValueOf(Root::Open(top.string())));
    systemd_ = std::make_unique<RecordingSystemd>(*root_);
  }

  host::Host host() { return {*root_, *systemd_, clock_, {}, &deployments}; }
  std::filesystem::path top() const { return directory_ / deployments.booted; }
  void Write(const std::string& path, const std::string& contents) const {
    std::filesystem::create_directories((top() / path).parent_path());
    std::ofstream(top() / path) << contents;
  }

 private:
  static SmallMachine MakeSmallMachine(const std::filesystem::path& place) {
    std::filesystem::create_directory(place);
    return SmallMachine(place);
  }

  std::filesystem::path directory_;
  SmallMachine old_;
  std::unique_ptr<Root> root_;
  std::unique_ptr<RecordingSystemd> systemd_;
  SystemClock clock_;
  int boots_ = 0;

 public:
  TwoDeployments deployments;
};

}  // namespace pintle::change
