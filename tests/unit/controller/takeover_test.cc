// SPDX-License-Identifier: Apache-2.0
#include "controller/takeover.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "controller/takeover_rights.h"
#include "support/expect.h"
#include "support/temporary_directory.h"
#include "support/unwritable_output.h"
#include "unit/controller/small_openshift.h"

namespace pintle::controller {
namespace {

using testing::HasSubstr;
using testing::Not;

// Runs `takeover check` in a small OpenShift cluster, whose administrator has all rights.
class TakeoverCheckRun : public testing::Test {
 protected:
  TakeoverCheckRun() {
    PutSmallOpenShift(server_);
    server_.Refuse([](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
      if (request.line.find("accessreviews") == std::string::npos) return std::nullopt;
      return kube::Answer{.status = 201, .body = R"({"status": {"allowed": true}})"};
    });
    kube::Access access = server_.access();
    const std::string url = ValueOf(access.Current())->server.text();
    folder_.Write("kubeconfig", R"({"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "k"}}],
                               "clusters": [{"name": "k", "cluster": {"server": ")" +
                                    url + R"("}}]})");
  }

  void PutObject(const std::string& plural, const std::string& kind, const std::string& name, const std::string& spec) {
    server_.Put(plural,
                ValueOf(json::Parse(R"({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": ")" + kind +
                                    R"(", "metadata": {"name": ")" + name + R"("}, "spec": )" + spec + "}")));
  }

  // Returns what the command prints.
  std::string Check() { return Run("check"); }

  std::string Run(const std::string& verb) {
    testing::internal::CaptureStdout();
    status_ = Takeover({verb, "--kubeconfig", kubeconfig_, "--namespace", "namespace"});
    return testing::internal::GetCapturedStdout();
  }

  TemporaryDirectory folder_;
  SmallApiServer server_;
  std::string kubeconfig_ = folder_.path() / "kubeconfig";
  ExitStatus status_ = ExitStatus::kSuccess;
};

TEST_F(TakeoverCheckRun, ListsEachObjectThatCannotBeReadAndGoesOn) {
  PutObject("machineconfigpools", "MachineConfigPool", "worker", R"({"paused": "yes"})");
  PutObject("machineconfigs", "MachineConfig", "10-a", R"({"kernelArguments": "quiet"})");
  PutObject("machineconfigs", "MachineConfig", "10-b", R"({"fips": "no"})");
  const std::string printed = Check();
  EXPECT_EQ(status_, ExitStatus::kDiffers);
  EXPECT_THAT(
      printed,
      HasSubstr("obstacle  worker: decoding a MachineConfigPool from the API server: $.spec.paused: must be true or "
                "false; correct this object with `kubectl edit "
                "machineconfigpools.machineconfiguration.openshift.io worker`, or delete it if nobody needs "
                "it\n"));
  EXPECT_THAT(printed, HasSubstr("10-a: decoding a MachineConfig from the API server: $.spec.kernelArguments"));
  EXPECT_THAT(printed, HasSubstr("10-b: decoding a MachineConfig from the API server: $.spec.fips"));
  // The rest of the check still runs.
  EXPECT_THAT(printed, HasSubstr("there is no ControllerConfig"));
  EXPECT_THAT(printed, HasSubstr("there is no Deployment pintle/pintle-controller"));
  EXPECT_THAT(printed, HasSubstr("A takeover cannot begin before the obstacles are removed.\n"));
}

TEST_F(TakeoverCheckRun, DoesNotCompareTheControllerConfigIfItsSourcesCannotBeRead) {
  server_.Put("controllerconfigs", ValueOf(json::Parse(R"({"metadata": {"name": "machine-config-controller"},
      "spec": {}})")));
  EXPECT_THAT(Check(), HasSubstr("the ControllerConfig: spec."));
  server_.Put("configmaps", ValueOf(json::Parse(R"({"metadata": {"name": "root-ca", "namespace": "kube-system"},
      "data": {"ca.crt": 1}})")));
  const std::string printed = Check();
  EXPECT_THAT(printed, HasSubstr("correct this object with `kubectl edit -n kube-system configmaps root-ca`"));
  EXPECT_THAT(printed, HasSubstr("notice    the ControllerConfig was not compared"));
  EXPECT_THAT(printed, Not(HasSubstr("the ControllerConfig: spec.")));
}

TEST_F(TakeoverCheckRun, DoesNotCompareTheControllerConfigIfTheOsImageStreamCannotBeRead) {
  server_.Put("controllerconfigs", ValueOf(json::Parse(R"({"metadata": {"name": "machine-config-controller"},
      "spec": {}})")));
  EXPECT_THAT(Check(), HasSubstr("the ControllerConfig: spec.baseOSContainerImage would change"));
  server_.Put("osimagestreams", {{"metadata", {{"name", "cluster"}}}, {"status", "none"}});
  const std::string printed = Check();
  EXPECT_THAT(printed, HasSubstr("obstacle  cluster: decoding a OSImageStream"));
  EXPECT_THAT(printed, HasSubstr("notice    the ControllerConfig was not compared"));
  EXPECT_THAT(printed, Not(HasSubstr("the ControllerConfig: spec.")));
}

// An object that cannot be read must not be taken for a missing object.
TEST_F(TakeoverCheckRun, DoesNotReportAnUnreadableControllerConfigAsMissing) {
  EXPECT_THAT(Check(), HasSubstr("there is no ControllerConfig"));
  server_.Put("controllerconfigs", ValueOf(json::Parse(R"({"metadata": {"name": "machine-config-controller",
      "labels": 1}, "spec": {}})")));
  const std::string printed = Check();
  EXPECT_THAT(printed, Not(HasSubstr("there is no ControllerConfig")));
  const std::string finding = "obstacle  machine-config-controller: decoding a ControllerConfig";
  const std::size_t first = printed.find(finding);
  ASSERT_NE(first, std::string::npos) << printed;
  EXPECT_EQ(printed.find(finding, first + 1), std::string::npos) << "it was read by several parts: " << printed;
}

// Nobody can give Pintle's account rights in a namespace that does not exist.
TEST_F(TakeoverCheckRun, NeedsNoRightsInTheNamespaceOfAMachineApiThatIsMissing) {
  server_.Refuse([](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    if (request.line.find("accessreviews") == std::string::npos) return std::nullopt;
    const bool is_in_it = request.body.find("\"namespace\":\"openshift-machine-api\"") != std::string::npos;
    return kube::Answer{.status = 201, .body = is_in_it ? R"({"status": {}})" : R"({"status": {"allowed": true}})"};
  });
  const auto lacking = HasSubstr("may not list secrets in the namespace openshift-machine-api");
  const auto notice =
      HasSubstr("notice    the cluster has no namespace openshift-machine-api, so Pintle writes no user");
  const std::string before = Check();
  EXPECT_THAT(before, lacking);
  EXPECT_THAT(before, Not(notice));
  server_.Remove("namespaces", "openshift-machine-api");
  const std::string after = Check();
  EXPECT_THAT(after, Not(lacking));
  EXPECT_THAT(after, notice);
}

// Answers the first dry runs as if somebody had changed the object since it was read.
void ConflictAtFirst(SmallApiServer& server, int conflicts) {
  const auto dry_runs = std::make_shared<std::atomic<int>>(0);
  server.Refuse([=](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    if (request.line.find("dryRun=All") == std::string::npos) return std::nullopt;
    if (++*dry_runs > conflicts) return kube::Answer{.body = "{}"};
    return SmallApiServer::Status(409, "Conflict", "the object has been modified");
  });
}

TEST_F(TakeoverCheckRun, PlansAStepAgainIfTheObjectHasChangedMeanwhile) {
  ConflictAtFirst(server_, 3);
  const std::string printed = Run("plan");
  EXPECT_THAT(printed, HasSubstr("record "));
  EXPECT_THAT(printed, Not(HasSubstr("the object has been modified")));
  EXPECT_EQ(status_, ExitStatus::kSuccess);
}

TEST_F(TakeoverCheckRun, DoesNotCallAnObjectThatChangesAllTheTimeRefused) {
  ConflictAtFirst(server_, 1000);
  const std::string printed = Run("plan");
  EXPECT_THAT(printed, HasSubstr("could not be tried out, because each dry run met a conflict: "));
  EXPECT_THAT(printed, Not(HasSubstr("refuses")));
  EXPECT_EQ(status_, ExitStatus::kSuccess);
}

// Returns the right that a request needs.
Right RightFor(const std::string& line) {
  const std::size_t space = line.find(' ');
  const std::string method = line.substr(0, space);
  const std::size_t mark = line.find('?');
  const std::string query = mark == std::string::npos ? "" : line.substr(mark);
  std::vector<std::string> parts;
  std::istringstream path(line.substr(space + 2, mark == std::string::npos ? mark : mark - space - 2));
  for (std::string part; std::getline(path, part, '/');) parts.push_back(part);
  Right right;
  if (parts.at(0) == "apis") right.group = parts.at(1);
  std::size_t at = parts.at(0) == "apis" ? 3 : 2;
  if (parts.at(at) == "namespaces" && parts.size() > at + 2) {
    right.namespace_name = parts.at(at + 1);
    at += 2;
  }
  right.resource = parts.at(at);
  if (at + 1 < parts.size()) right.name = parts[at + 1];
  const std::string by_name = "fieldSelector=metadata.name%3D";
  if (const std::size_t found = query.find(by_name); found != std::string::npos) {
    const std::size_t begin = found + by_name.size();
    right.name = query.substr(begin, query.find('&', begin) - begin);
  }
  if (method == "GET") {
    right.verb = query.find("watch=1") != std::string::npos ? "watch" : at + 1 < parts.size() ? "get" : "list";
  } else {
    right.verb = method == "POST" ? "create" : method == "PATCH" ? "patch" : "delete";
  }
  return right;
}

// The reviews of rights that an API server has received at the same time.
struct Reviews {
  std::mutex mutex;
  std::condition_variable changed;
  int under_way = 0;
  int most = 0;
  int all = 0;
  bool were_two_under_way = false;
};

TEST_F(TakeoverCheckRun, AsksForSeveralRightsAtATimeAndListsThemInTheirOrder) {
  const auto reviews = std::make_shared<Reviews>();
  // Only the rights to change something are lacking.
  const auto is_allowed = [](const std::string& body) { return body.find("\"verb\":\"patch\"") == std::string::npos; };
  server_.Refuse([=](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    if (request.line.find("accessreviews") == std::string::npos) return std::nullopt;
    // The rights of Pintle's account.
    if (request.line.find("/selfsubject") == std::string::npos) {
      return kube::Answer{.status = 201, .body = R"({"status": {"allowed": true}})"};
    }
    std::unique_lock lock(reviews->mutex);
    ++reviews->all;
    reviews->most = std::max(reviews->most, ++reviews->under_way);
    reviews->were_two_under_way = reviews->were_two_under_way || reviews->under_way == 2;
    reviews->changed.notify_all();
    // The first review is answered after the second one has come, so that the order of the answers is another one.
    reviews->changed.wait_for(lock, std::chrono::seconds(60), [&] { return reviews->were_two_under_way; });
    --reviews->under_way;
    return kube::Answer{.status = 201,
                        .body = is_allowed(request.body) ? R"({"status": {"allowed": true}})" : R"({"status": {}})"};
  });
  std::string expected;
  for (const Right& right : RightsForTakeover({.namespace_name = "namespace"})) {
    if (right.verb == "patch") expected += "obstacle  you may not " + RightInWords(right) + "; ";
  }
  std::string found;
  std::istringstream printed(Check());
  for (std::string line; std::getline(printed, line);) {
    if (line.starts_with("obstacle  you may not ")) found += line.substr(0, line.find(';')) + "; ";
  }
  EXPECT_EQ(found, expected);
  const std::lock_guard lock(reviews->mutex);
  EXPECT_TRUE(reviews->were_two_under_way);
  EXPECT_LE(reviews->most, 8);
  EXPECT_EQ(reviews->all, static_cast<int>(RightsForTakeover({}).size()));
}

TEST_F(TakeoverCheckRun, EndsWithTheErrorOfAReviewThatFails) {
  server_.Refuse([](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    if (request.line.find("accessreviews") == std::string::npos) return std::nullopt;
    if (request.body.find("osimagestreams") == std::string::npos) {
      return kube::Answer{.status = 201, .body = R"({"status": {"allowed": true}})"};
    }
    return SmallApiServer::Status(403, "Forbidden", "reviews are forbidden");
  });
  testing::internal::CaptureStderr();
  EXPECT_EQ(Check(), "");
  EXPECT_EQ(status_, ExitStatus::kFailure);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::AllOf(HasSubstr("reading the right to "), HasSubstr(" osimagestreams."),
                             HasSubstr("reviews are forbidden")));
}

// Otherwise `check` ends with the first refusal of the API server instead of naming all rights that are missing.
TEST_F(TakeoverCheckRun, NeedsOnlyRightsThatItHasAskedFor) {
  struct Received {
    std::mutex mutex;
    std::set<std::string> lines;
  };
  const auto received = std::make_shared<Received>();
  server_.Refuse([received](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    if (request.line.find("accessreviews") != std::string::npos) {
      return kube::Answer{.status = 201, .body = R"({"status": {"allowed": true}})"};
    }
    const std::lock_guard lock(received->mutex);
    received->lines.insert(request.line);
    return std::nullopt;
  });
  server_.Put("controllerconfigs", ValueOf(json::Parse(R"({"metadata": {"name": "machine-config-controller"},
      "spec": {"pullSecret": {"namespace": "openshift-config", "name": "pull-secret"}}})")));
  server_.Put("proxies", SmallSetting(R"({"trustedCA": {"name": "of-the-proxy"}})", "{}"));
  const std::filesystem::path templates = folder_.path() / "templates";
  std::filesystem::create_directories(templates / "worker/00-worker/_base/files");
  folder_.Write("templates/worker/00-worker/_base/files/role.yaml", "path: /etc/role\ncontents:\n  inline: worker\n");
  for (const char* verb : {"check", "plan"}) {
    Takeover({verb, "--kubeconfig", kubeconfig_, "--namespace", "namespace", "--server", "--daemons", "--templates",
              templates.string()});
  }
  const std::vector<Right> rights = RightsForTakeover(
      {.namespace_name = "namespace", .with_server = true, .with_daemons = true, .with_templates = true});
  const std::lock_guard lock(received->mutex);
  EXPECT_GT(received->lines.size(), 50U);
  for (const std::string& line : received->lines) {
    const Right needed = RightFor(line);
    const bool is_known = std::any_of(rights.begin(), rights.end(), [&](const Right& right) {
      return right.verb == needed.verb && right.group == needed.group && right.resource == needed.resource &&
             right.namespace_name == needed.namespace_name && (right.name.empty() || right.name == needed.name);
    });
    EXPECT_TRUE(is_known) << line << ": " << RightInWords(needed);
  }
}

// Other pods of the namespace would have to answer as Ignition servers.
TEST_F(TakeoverCheckRun, AsksNoPodsOfOthersWhetherTheyServeIgnition) {
  server_.Put("pods", ValueOf(json::Parse(R"({"metadata": {"name": "of-others", "namespace": "pintle"},
      "status": {"phase": "Running"}})")));
  for (const auto& [selector, asked] : {std::pair("{}", 0U), std::pair(R"({"matchLabels": {"app": "pintle"}})", 1U)}) {
    server_.Put("deployments", ValueOf(json::Parse(R"({"metadata": {"name": "pintle-controller", "namespace": "pintle"},
        "spec": {"selector": )" + std::string(selector) +
                                                   R"(, "template": {"spec": {"containers": [
        {"ports": [{"name": "ignition", "containerPort": 22623}]}]}}}})")));
    Takeover({"status", "--kubeconfig", kubeconfig_, "--namespace", "namespace", "--server"});
    EXPECT_EQ(server_.CountOf("GET /api/v1/namespaces/pintle/pods/https:of-others:22623/proxy"), asked) << selector;
  }
}

// A pod that is not there yet, or not gone yet, has the ports of its machine later or still.
TEST_F(TakeoverCheckRun, AwaitsEachPodOfOursThatHasNotEnded) {
  server_.Put("daemonsets",
              ValueOf(json::Parse(R"({"metadata": {"name": "machine-config-server", "namespace": "namespace"},
      "spec": {"template": {"spec": {"nodeSelector": {"pintle.io/taken-over": "true"}}}}, "status": {}})")));
  server_.Put("deployments", ValueOf(json::Parse(R"({"metadata": {"name": "pintle-controller", "namespace": "pintle"},
      "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "pintle"}}, "template": {"spec": {"containers": [
        {"ports": [{"name": "ignition", "containerPort": 22623}]}]}}},
      "status": {"replicas": 1, "updatedReplicas": 1, "readyReplicas": 1}})")));
  const auto put_pod = [this](const std::string& name, const std::string& phase, const std::string& metadata = "") {
    server_.Put("pods", ValueOf(json::Parse(R"({"metadata": {"name": ")" + name + R"(", "namespace": "pintle")" +
                                            metadata + R"(}, "status": {"phase": ")" + phase + R"("}})")));
  };
  server_.Refuse([](const kube::ReceivedRequest& request) -> std::optional<kube::Answer> {
    if (request.line.find("/pods/https:answers:22623/proxy/") == std::string::npos) return std::nullopt;
    return kube::Answer{.body = "{}"};
  });
  const auto serving = [this] {
    testing::internal::CaptureStdout();
    Takeover({"status", "--kubeconfig", kubeconfig_, "--namespace", "namespace", "--server"});
    const std::string printed = testing::internal::GetCapturedStdout();
    return printed.substr(printed.find("\nserving ") + 1);
  };
  put_pod("answers", "Running");
  EXPECT_EQ(serving(), "serving    done\n");
  put_pod("other", "Pending");
  EXPECT_THAT(serving(), HasSubstr("in the pods other (which has not started) of"));
  put_pod("other", "Running", R"(, "deletionTimestamp": "2026-11-21T20:00:00Z")");
  EXPECT_THAT(serving(), HasSubstr("in the pods other (which has to end) of"));
  put_pod("other", "Running");
  EXPECT_THAT(serving(), HasSubstr("in the pods other of"));
  put_pod("other", "Failed");
  EXPECT_EQ(serving(), "serving    done\n");
}

// Anyone who may write an annotation could otherwise forge the last line.
TEST_F(TakeoverCheckRun, PlansWhatTheControllerWritesLaterAndNamesThePriceOfTheOverride) {
  const auto prices = [](const std::string& plan) {
    return plan.find("the cluster gets no new minor version") != plan.npos;
  };
  const std::string without_versions = Run("plan");
  EXPECT_THAT(without_versions, HasSubstr("POOL-user-data-managed"));
  EXPECT_FALSE(prices(without_versions));
  server_.Put("clusterversions", {{"metadata", {{"name", "version"}}}, {"spec", {{"clusterID", "c"}}}});
  EXPECT_TRUE(prices(Run("plan")));
}

TEST_F(TakeoverCheckRun, ReportsBootImagesOnlyIfTheOperatorUpdatesThem) {
  const auto is_reported = [&](const std::string& spec, const std::string& status) {
    server_.Put("machineconfigurations", SmallSetting(spec, status));
    return Check().find("the boot images of machine sets are not updated") != std::string::npos;
  };
  const auto mode = [](const std::string& field, const std::string& name) {
    return R"({")" + field + R"(": {"machineManagers": [{"resource": "machinesets", "apiGroup": "machine.openshift.io",
        "selection": {"mode": ")" +
           name + R"("}}]}})";
  };
  EXPECT_FALSE(is_reported("{}", "{}"));
  EXPECT_TRUE(is_reported("{}", mode("managedBootImagesStatus", "All")));
  EXPECT_FALSE(is_reported(mode("managedBootImages", "None"), mode("managedBootImagesStatus", "None")));
  // An old operator writes no status.
  EXPECT_TRUE(is_reported(mode("managedBootImages", "Partial"), "{}"));
  EXPECT_FALSE(is_reported(mode("managedBootImages", "None"), "{}"));
}

TEST_F(TakeoverCheckRun, EscapesTextsFromTheCluster) {
  server_.Put("controllerconfigs", ValueOf(json::Parse(R"({"metadata": {"name": "machine-config-controller",
      "annotations": {"machineconfiguration.openshift.io/generated-by-version": "4\u001b[31m\nA takeover can begin."}},
      "spec": {}})")));
  const std::string printed = Check();
  EXPECT_THAT(printed, HasSubstr("is of version 4\\x1B[31m\\x0AA takeover can begin.;"));
  EXPECT_THAT(printed, Not(HasSubstr("\x1b")));
}

TEST_F(TakeoverCheckRun, EndsInAnOrderlyWayIfItsAnswerCannotBeWritten) {
  // The answer is longer than the buffer of standard output.
  for (int i = 0; i < 200; ++i) {
    PutObject("machineconfigs", "MachineConfig", "10-" + std::to_string(i), R"({"fips": "no"})");
  }
  const UnwritableOutput full;
  testing::internal::CaptureStderr();
  EXPECT_EQ(Takeover({"check", "--kubeconfig", kubeconfig_, "--namespace", "namespace"}), ExitStatus::kDiffers);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("cannot write to standard output: No space left on device\n"));
}

}  // namespace
}  // namespace pintle::controller
