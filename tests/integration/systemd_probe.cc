// SPDX-License-Identifier: Apache-2.0

// A command line for the service manager and logind of a node, for test_systemd.py.  The verbs of systemd-probe are:
//
// - enablement UNIT=enabled|disabled|preset...
// - links: prints the links of units, one a line, as PATH TARGET.
// - put-links: reads such lines, and puts these links.
// - reload.
// - start|stop|restart|try-restart|reload-unit|reload-or-restart UNIT MILLISECONDS.
// - observe UNIT: prints LOAD ACTIVE FILE.
// - inhibit WHY: prints "inhibited", and inhibits a shutdown until its input ends.
// - reboot REASON.
// - hear UNIT COUNT: restarts the unit, makes systemd end COUNT jobs of other programs, observes the unit, and prints
//   by how many bytes the heap has grown since the restart.

#include <fmt/core.h>
#include <malloc.h>
#include <systemd/sd-bus.h>

#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "base/c_ptr.h"
#include "base/root.h"
#include "host/systemd/power_dbus.h"
#include "host/systemd/systemd_dbus.h"

namespace pintle::host {
namespace {

using Words = std::vector<std::string>;

Result<resource::Put<resource::UnitState>> PutFrom(const std::string& word) {
  static const std::map<std::string, resource::Enablement> kEnablements = {
      {"enabled", resource::Enablement::kEnabled},
      {"disabled", resource::Enablement::kDisabled},
      {"preset", resource::Enablement::kPreset},
  };
  const std::size_t equals = word.find('=');
  const auto enablement = kEnablements.find(word.substr(equals + 1));
  if (enablement == kEnablements.end()) return Error(ErrorKind::kInvalid, word);
  return resource::Put<resource::UnitState>{word.substr(0, equals), {{enablement->second}}};
}

Result<> PutEnablement(Systemd& systemd, const Words& words) {
  std::vector<resource::Put<resource::UnitState>> units;
  for (const std::string& word : words) units.push_back(TRY(PutFrom(word)));
  return systemd.PutEnablement(units);
}

Result<> PrintLinks(Systemd& systemd) {
  for (const auto& [path, target] : TRY(systemd.ObserveLinks()).targets) fmt::print("{} {}\n", path, target);
  return {};
}

Result<> PutLinks(Systemd& systemd) {
  resource::UnitLinks::State links;
  std::string path, target;
  while (std::cin >> path >> target) links.targets[path] = target;
  return systemd.PutLinks(links);
}

Result<> Print(Systemd& systemd, const std::string& unit) {
  const UnitStatus status = TRY(systemd.Observe(unit));
  fmt::print("{} {} {}\n", status.load_state, status.active_state, status.file_state);
  return {};
}

Result<> Inhibit(const std::string& why) {
  PowerDbus power;
  const Inhibitor inhibitor = TRY(power.InhibitShutdown(why));
  fmt::print("inhibited\n");
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  return {};
}

// Makes systemd finish this many jobs; starting a running unit is a job, too.
Result<> EndJobs(const std::string& unit, int count) {
  CPtr<sd_bus, sd_bus_flush_close_unref> bus;
  int result = ::sd_bus_new(Out(bus));
  if (result >= 0) result = ::sd_bus_set_address(bus.get(), "unix:path=/run/dbus/system_bus_socket");
  if (result >= 0) result = ::sd_bus_set_bus_client(bus.get(), 1);
  if (result >= 0) result = ::sd_bus_start(bus.get());
  for (int i = 0; result >= 0 && i < count; ++i) {
    result = ::sd_bus_call_method(bus.get(), "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
                                  "org.freedesktop.systemd1.Manager", "StartUnit", nullptr, nullptr, "ss", unit.c_str(),
                                  "replace");
  }
  return result < 0 ? Error::FromErrno("the bus", -result) : Result<>();
}

Result<> Hear(Systemd& systemd, const std::string& unit, int count) {
  TRY(systemd.Run(JobKind::kRestart, unit, std::chrono::minutes(1)));
  const std::size_t before = ::mallinfo2().uordblks;
  TRY(EndJobs(unit, count));
  TRY(systemd.Observe(unit));
  const std::size_t after = ::mallinfo2().uordblks;
  fmt::print("{}\n", after > before ? after - before : 0);
  return {};
}

Result<> Run(const std::string& verb, const Words& words) {
  static const std::map<std::string, JobKind> kJobs = {
      {"start", JobKind::kStart},        {"stop", JobKind::kStop},
      {"restart", JobKind::kRestart},    {"try-restart", JobKind::kTryRestart},
      {"reload-unit", JobKind::kReload}, {"reload-or-restart", JobKind::kReloadOrRestart},
  };
  const Root root = TRY(Root::Open("/"));
  SystemdDbus systemd(root);
  if (verb == "enablement") return PutEnablement(systemd, words);
  if (verb == "links") return PrintLinks(systemd);
  if (verb == "put-links") return PutLinks(systemd);
  if (verb == "reload") return systemd.Reload();
  if (verb == "observe" && words.size() == 1) return Print(systemd, words[0]);
  if (verb == "inhibit" && words.size() == 1) return Inhibit(words[0]);
  if (verb == "reboot" && words.size() == 1) return PowerDbus().Reboot(words[0]);
  if (verb == "hear" && words.size() == 2) return Hear(systemd, words[0], std::stoi(words[1]));
  const auto job = kJobs.find(verb);
  if (job == kJobs.end() || words.size() != 2) return Error(ErrorKind::kInvalid, "no such verb: " + verb);
  return systemd.Run(job->second, words[0], std::chrono::milliseconds(std::stoi(words[1])));
}

}  // namespace
}  // namespace pintle::host

int main(int count, char** words) {
  if (count < 2) return 2;
  const auto result = pintle::host::Run(words[1], {words + 2, words + count});
  if (result) return 0;
  fmt::print(stderr, "{}\n", result.error().message());
  return 1;
}
