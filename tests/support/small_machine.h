// SPDX-License-Identifier: Apache-2.0
#pragma once

// A machine for tests of changes: a real file tree with users and units, and a fake service manager whose jobs succeed
// unless a test makes them fail.  The files belong to root, so these tests have to run as root.

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/root.h"
#include "change/apply.h"
#include "host/systemd/systemd_offline.h"
#include "machineconfig/objects.h"
#include "plan/plan.h"
#include "support/configs.h"
#include "support/expect.h"

namespace pintle::change {

// Makes links as systemd does, and records jobs instead of running services.
class RecordingSystemd final : public host::Systemd {
 public:
  explicit RecordingSystemd(const Root& root) : offline_(root) {}

  Result<> PutEnablement(std::span<const resource::Put<resource::UnitState>> units) override {
    return offline_.PutEnablement(units);
  }
  Result<resource::UnitLinks::State> ObserveLinks() override { return offline_.ObserveLinks(); }
  Result<> PutLinks(const resource::UnitLinks::State& links) override { return offline_.PutLinks(links); }
  Result<> Reload() override { return {}; }
  Result<> Run(host::JobKind, const std::string& unit, std::chrono::milliseconds) override {
    jobs.push_back(unit);
    return unit == failing ? Error(ErrorKind::kInvalid, unit + " does not start") : Result<>();
  }
  Result<host::UnitStatus> Observe(const std::string& unit) override {
    if (is_away) return Error(ErrorKind::kUnavailable, "systemd is not on the system bus");
    if (unit == unseen) return Error(ErrorKind::kSystem, "Too many levels of symbolic links");
    host::UnitStatus status = TRY(offline_.Observe(unit));
    // On a running machine, this unit is active while a deployment is staged.
    if (unit == "ostree-finalize-staged.service") status.active_state = "active";
    if (unit == enabled_at_runtime) status.file_state = "enabled-runtime";
    return status;
  }

  std::vector<std::string> jobs;
  std::string failing;             // The unit whose jobs fail.
  std::string unseen;              // The unit that cannot be observed.
  std::string enabled_at_runtime;  // The unit that is enabled until the next boot.
  bool is_away = false;            // No unit can be observed.

 private:
  host::SystemdOffline offline_;
};

class SmallMachine {
 public:
  // `directory` must exist and be empty.
  explicit SmallMachine(std::filesystem::path directory)
      : directory_(std::move(directory)), root_(ValueOf(Root::Open(directory_.string()))), systemd(root_) {
    // Pintle enters a home with the rights of its user, so every user may enter the directory.
    std::filesystem::permissions(directory_, std::filesystem::perms(0755));
    Write("etc/passwd", "root:x:0:0:root:/root:/bin/bash\ncore:x:1000:1000::/home/core:/bin/bash\n");
    Write("etc/group", "root:x:0:\ncore:x:1000:\n");
    Write("etc/shadow", "root:*:19000:0:99999:7:::\ncore:!:19000:0:99999:7:::\n");
    std::filesystem::permissions(directory_ / "etc/shadow", std::filesystem::perms(0600));
    Write("etc/.pwd.lock", "");
    Write("etc/motd", "the OS's greeting\n");
    Write("usr/lib/systemd/system/shipped.service", "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=a.target\n");
    std::filesystem::create_directories(directory_ / "home/core");
    std::filesystem::create_directories(directory_ / "etc/systemd/system");
    std::filesystem::create_directories(directory_ / "var/lib");
    if (::chown((directory_ / "home/core").c_str(), 1000, 1000) != 0) throw std::runtime_error("chown: be root");
  }

  void Write(const std::string& path, const std::string& contents) const {
    std::filesystem::create_directories((directory_ / path).parent_path());
    std::ofstream(directory_ / path, std::ios::binary) << contents;
  }
  std::string Read(const std::string& path) const {
    std::ostringstream contents;
    contents << std::ifstream(directory_ / path, std::ios::binary).rdbuf();
    return contents.str();
  }
  bool Has(const std::string& path) const {
    return std::filesystem::exists(std::filesystem::symlink_status(directory_ / path));
  }

  host::Host host() { return {root_, systemd, clock_, {}}; }

  Result<Ending> GoFromTo(const plan::TestConfig& from, const plan::TestConfig& to) {
    return Apply(host(), from, to, plan::Make(from, to, policy, {}));
  }

  // Without this policy, each change of a file or a unit would need a reboot.
  plan::NodeDisruptionPolicy policy = {
      .files = {{.path = "/etc", .actions = {{.type = "Restart", .reload = {}, .restart = {{"watcher.service"}}}}}},
      .units = {{.name = "*", .actions = {{.type = "None", .reload = {}, .restart = {}}}}},
      .sshkey = {},
  };

 private:
  std::filesystem::path directory_;
  Root root_;
  SystemClock clock_;

 public:
  RecordingSystemd systemd;
};

// Returns the empty config that a machine has before its first one.
inline plan::TestConfig NoConfig() {
  plan::TestConfig config;
  config.metadata().name = "mco-empty-mc";
  return config;
}

// Returns a config with a thing of each kind.
inline plan::TestConfig Everything() {
  plan::TestConfig config;
  config.WithFile("/etc/motd", "data:,ours").WithFile("/etc/new/deep/file", "data:,new");
  config.WithUnit("ours.service", "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n");
  config.ignition().systemd.units.back().enabled = true;
  ignition::Unit shipped;
  shipped.name = "shipped.service";
  shipped.enabled = true;
  ignition::Dropin& dropin = shipped.dropins.emplace_back();
  dropin.name = "10-more.conf";
  dropin.contents = "[Service]\nNice=1\n";
  config.ignition().systemd.units.push_back(shipped);
  config.WithUser("core", {"ssh-ed25519 AAAA one"});
  config.ignition().passwd.users.back().password_hash = "$6$salt$hash";
  return config;
}

// Everything(), with other contents of its files.
inline plan::TestConfig Reworded() {
  plan::TestConfig config = Everything();
  for (ignition::File& file : config.ignition().storage.files) file.contents.source = "data:,reworded";
  return config;
}

}  // namespace pintle::change
