// SPDX-License-Identifier: Apache-2.0
#include "generated/kubelet_files.h"

#include <gtest/gtest.h>

#include "unit/generated/kubelet_fixture.h"

namespace pintle::generated {
namespace {

constexpr const char* kSizing = "/etc/node-sizing-enabled.env";
constexpr const char* kLogging = "/etc/systemd/system/kubelet.service.d/20-logging.conf";

std::vector<NewFile> Files(const char* spec, const char* base = "") {
  Result<std::vector<NewFile>> files = KubeletFiles(Kubelet(spec), *ParseKubeletConf(base));
  if (!files) return {{"error", files.error().message()}};
  return *std::move(files);
}

std::vector<std::string> Paths(const std::vector<NewFile>& files) {
  std::vector<std::string> paths;
  for (const NewFile& file : files) paths.push_back(file.path);
  return paths;
}

TEST(KubeletFiles, HaveAFixedOrderAndAreMadeOnlyIfNeeded) {
  const std::string conf(kKubeletConfPath);
  EXPECT_EQ(Paths(Files("{}")), (std::vector<std::string>{conf}));
  EXPECT_EQ(Paths(Files(R"({"logLevel":0})")), (std::vector<std::string>{kLogging, conf}));
  EXPECT_EQ(Paths(Files(R"({"logLevel":4,"autoSizingReserved":true})")),
            (std::vector<std::string>{kSizing, kLogging, conf}));
  EXPECT_EQ(Files(R"({"logLevel":4})")[0].contents, "[Service]\nEnvironment=\"KUBELET_LOG_LEVEL=4\"\n");
}

struct Sizing {
  const char* spec;
  const char* contents;  // "" if there is no such file.
};

TEST(KubeletFiles, ReserveResourcesForSystemServices) {
  constexpr const char* kUsual = "SYSTEM_RESERVED_MEMORY=1Gi\nSYSTEM_RESERVED_CPU=500m\nSYSTEM_RESERVED_ES=1Gi\n";
  const std::string enabled = std::string("NODE_SIZING_ENABLED=true\n") + kUsual;
  const std::string disabled = std::string("NODE_SIZING_ENABLED=false\n") + kUsual;
  const Sizing cases[] = {
      {R"({"autoSizingReserved":true})", enabled.c_str()},
      {R"({"autoSizingReserved":false})", disabled.c_str()},
      {R"({"autoSizingReserved":true,"kubeletConfig":{"systemReserved":{"memory":"2Gi"}}})",
       "NODE_SIZING_ENABLED=false\nSYSTEM_RESERVED_MEMORY=2Gi\nSYSTEM_RESERVED_CPU=500m\nSYSTEM_RESERVED_ES=1Gi\n"},
      {R"({"kubeletConfig":{"systemReserved":{"cpu":"750m","ephemeral-storage":"3Gi"}}})",
       "NODE_SIZING_ENABLED=false\nSYSTEM_RESERVED_MEMORY=1Gi\nSYSTEM_RESERVED_CPU=750m\nSYSTEM_RESERVED_ES=3Gi\n"},
      {R"({"kubeletConfig":{"systemReserved":{"cpu":"","memory":""}}})", disabled.c_str()},
      {R"({"kubeletConfig":{"systemReserved":{"pid":"500"}}})", ""},
      {R"({"kubeletConfig":{"systemReserved":{}}})", ""},
  };
  for (const Sizing& c : cases) {
    const std::vector<NewFile> files = Files(c.spec);
    EXPECT_EQ(files[0].path == kSizing ? files[0].contents : "", c.contents) << c.spec;
  }
}

TEST(KubeletFiles, CorrectAndCheckTheBaseAlsoWithoutSettingsOfTheUser) {
  const std::vector<NewFile> files =
      Files(R"({"logLevel":4})",
            "reservedSystemCPUs: 0-1\nsystemReservedCgroup: /s\nenforceNodeAllocatable: [system-reserved]");
  EXPECT_EQ(files.back().contents.find("systemReservedCgroup"), std::string::npos);
  EXPECT_NE(files.back().contents.find("enforceNodeAllocatable:\n- pods\n"), std::string::npos);
  EXPECT_EQ(Files("{}", "systemReservedCgroup: /s\nsystemCgroups: /c")[0].contents,
            "invalid merged configuration: systemReservedCgroup (/s) must match systemCgroups (/c)");
}

struct Merge {
  const char* what;
  const char* base;
  const char* user;
  std::vector<const char*> has;  // Lines of kubelet.conf, or the error.
  std::vector<const char*> has_not;
};

TEST(KubeletFiles, HaveTheUsersSettingsMergedOverTheBase) {
  const Merge cases[] = {
      {"amounts of reserved resources that go to another file are left out",
       "systemReserved: {pid: 200m, cpu: 1}",
       R"({"systemReserved":{"cpu":"2","pid":"3"}})",
       {"systemReserved:\n  cpu: \"1\"\n  pid: \"3\"\n"},
       {}},
      {"the features of the release win",
       "featureGates: {A: true}",
       R"({"featureGates":{"A":false}})",
       {"  A: true\n"},
       {}},
      {"a false protectKernelDefaults overrides the base",
       "protectKernelDefaults: true",
       R"({"protectKernelDefaults":false})",
       {},
       {"protectKernelDefaults"}},
      {"a false ProtectKernelDefaults in this spelling does not override the base",
       "protectKernelDefaults: true",
       R"({"ProtectKernelDefaults":false})",
       {"protectKernelDefaults: true\n"},
       {}},
      {"false and zero of other settings do not override the base",
       "serializeImagePulls: true\nmaxPods: 200\nkubeAPIQPS: 40\npodPidsLimit: 5",
       R"({"serializeImagePulls":false,"maxPods":0,"kubeAPIQPS":0,"podPidsLimit":0})",
       {"serializeImagePulls: true\n", "maxPods: 200\n", "kubeAPIQPS: 40\n", "podPidsLimit: 5\n"},
       {}},
      {"an empty path does not override the base",
       "staticPodPath: /a",
       R"({"staticPodPath":""})",
       {"staticPodPath: /a\n"},
       {}},
      {"the system's group is dropped if it is not enforced",
       "systemReservedCgroup: /s\nenforceNodeAllocatable: [pods, system-reserved]",
       R"({"enforceNodeAllocatable":["pods"]})",
       {"enforceNodeAllocatable:\n- pods\n"},
       {"systemReservedCgroup", "- system"}},
      {"the system's group stays if it is enforced",
       "systemReservedCgroup: /s",
       R"({"enforceNodeAllocatable":["system-reserved"]})",
       {"systemReservedCgroup: /s\n"},
       {}},
      {"the system's group stays if its compressible resources are enforced",
       "systemReservedCgroup: /s",
       R"({"enforceNodeAllocatable":["system-reserved-compressible"]})",
       {"systemReservedCgroup: /s\n"},
       {}},
      {"the user's own group stays without being enforced",
       "systemReservedCgroup: /s",
       R"({"enforceNodeAllocatable":["pods"],"systemReservedCgroup":"/t"})",
       {"systemReservedCgroup: /t\n"},
       {}},
      {"an empty list of enforced groups does not override the base",
       "systemReservedCgroup: /s\nenforceNodeAllocatable: [pods]",
       R"({"enforceNodeAllocatable":[]})",
       {"systemReservedCgroup: /s\n", "enforceNodeAllocatable:\n- pods\n"},
       {}},
      {"reserved processors drop the system's group",
       "systemReservedCgroup: /s\nenforceNodeAllocatable: [pods, system-reserved-compressible]",
       R"({"reservedSystemCPUs":"0-1"})",
       {"reservedSystemCPUs: 0-1\n", "enforceNodeAllocatable:\n- pods\n"},
       {"systemReservedCgroup", "- system"}},
      {"reserved processors put pods in front of the user's list",
       "systemReservedCgroup: /s",
       R"({"reservedSystemCPUs":"0-1","enforceNodeAllocatable":["system-reserved","none"]})",
       {"enforceNodeAllocatable:\n- pods\n- none\n"},
       {"systemReservedCgroup"}},
      {"reserved processors of the base",
       "reservedSystemCPUs: 0-1\nsystemReservedCgroup: /s",
       R"({"maxPods":1})",
       {"enforceNodeAllocatable:\n- pods\n"},
       {"systemReservedCgroup"}},
      {"groups that differ are an error",
       "systemCgroups: /a",
       R"({"systemReservedCgroup":"/b"})",
       {"invalid merged configuration: systemReservedCgroup (/b) must match systemCgroups (/a)"},
       {}},
      {"groups that differ are no error if one of them is dropped",
       "systemReservedCgroup: /a",
       R"({"systemCgroups":"/b","reservedSystemCPUs":"0"})",
       {"systemCgroups: /b\n"},
       {"systemReservedCgroup"}},
      {"reserved processors of the base if the user has no configuration",
       "systemCgroups: /a\nsystemReservedCgroup: /b\nreservedSystemCPUs: 0-1",
       "null",
       {"systemCgroups: /a\n", "enforceNodeAllocatable:\n- pods\n"},
       {"systemReservedCgroup"}},
  };
  for (const Merge& c : cases) {
    SCOPED_TRACE(c.what);
    const std::string spec = std::string(R"({"kubeletConfig":)") + c.user + "}";
    const std::string text = Files(spec.c_str(), c.base).back().contents;
    for (const char* line : c.has) EXPECT_NE(text.find(line), std::string::npos) << line << " in\n" << text;
    for (const char* line : c.has_not) EXPECT_EQ(text.find(line), std::string::npos) << line << " in\n" << text;
  }
}

TEST(KubeletFiles, HaveTheTlsProfileBelowTheUsersOwnSettings) {
  const char* base = "tlsMinVersion: VersionTLS12\ntlsCipherSuites: [X]";
  const auto text = [&](const char* spec) { return Files(spec, base).back().contents; };
  EXPECT_NE(text(R"({"tlsSecurityProfile":{"type":"Modern"}})").find("tlsMinVersion: VersionTLS13\n"),
            std::string::npos);
  const std::string own = text(
      R"({"tlsSecurityProfile":{"type":"Modern"},"kubeletConfig":{"tlsMinVersion":"VersionTLS11","tlsCipherSuites":["Y"]}})");
  EXPECT_NE(own.find("tlsCipherSuites:\n- \"Y\"\ntlsMinVersion: VersionTLS11\n"), std::string::npos) << own;
  const std::string none =
      text(R"({"tlsSecurityProfile":{"type":"Custom","custom":{"minTLSVersion":"VersionTLS13"}}})");
  EXPECT_EQ(none.find("tlsCipherSuites"), std::string::npos);
}

}  // namespace
}  // namespace pintle::generated
