// SPDX-License-Identifier: Apache-2.0
#include "generated/kubelet_configuration.h"

#include <gtest/gtest.h>

#include <sstream>

#include "json/parse.h"

namespace pintle::generated {
namespace {

KubeletConfiguration Read(std::string_view json) {
  Result<KubeletConfiguration> config = ReadKubeletConfiguration(*json::Parse(json));
  EXPECT_TRUE(config) << (config ? "" : config.error().message());
  return config ? *std::move(config) : KubeletConfiguration{};
}

// Returns the lines of a kubelet.conf that differ from those of an empty configuration.
std::string Added(const KubeletConfiguration& config) {
  const Result<std::string> text = KubeletConfText(config);
  if (!text) return text.error().message();
  const std::string empty = "\n" + *KubeletConfText({});
  std::istringstream lines(*text);
  std::string added;
  for (std::string line; std::getline(lines, line);) {
    if (empty.find("\n" + line + "\n") == std::string::npos) added += line + "\n";
  }
  return added;
}

TEST(KubeletConfText, WritesEmptyStructsAndZeroDurations) {
  EXPECT_EQ(*KubeletConfText({}), R"(apiVersion: kubelet.config.k8s.io/v1beta1
authentication:
  anonymous: {}
  webhook:
    cacheTTL: 0s
  x509: {}
authorization:
  webhook:
    cacheAuthorizedTTL: 0s
    cacheUnauthorizedTTL: 0s
containerRuntimeEndpoint: ""
cpuManagerReconcilePeriod: 0s
crashLoopBackOff: {}
evictionPressureTransitionPeriod: 0s
fileCheckFrequency: 0s
httpCheckFrequency: 0s
imageMaximumGCAge: 0s
imageMinimumGCAge: 0s
kind: KubeletConfiguration
logging:
  flushFrequency: 0
  options:
    json:
      infoBufferSize: "0"
    text:
      infoBufferSize: "0"
  verbosity: 0
memorySwap: {}
nodeStatusReportFrequency: 0s
nodeStatusUpdateFrequency: 0s
runtimeRequestTimeout: 0s
shutdownGracePeriod: 0s
shutdownGracePeriodCriticalPods: 0s
streamingConnectionIdleTimeout: 0s
syncFrequency: 0s
volumeStatsAggPeriod: 0s
)");
}

struct WrittenDocument {
  const char* json;
  const char* lines;
};

TEST(KubeletConfText, WritesWhatWasRead) {
  const WrittenDocument cases[] = {
      {R"({"maxPods":5,"MAXPODS":6,"noSuchField":1})", "maxPods: 5\n"},
      {R"({"MaxPods":5})", "maxPods: 5\n"},
      {"{\"\xC5\xBFtaticPodPath\":\"/a\"}", "staticPodPath: /a\n"},
      {R"({"maxPods":null,"evictionHard":null,"registerNode":null,"authentication":null})", ""},
      {R"({"maxPods":420.0})", "maxPods: 420\n"},
      {R"({"kind":"Other","apiVersion":"x/v9"})", ""},
      {R"({"registerNode":false,"healthzPort":0,"resolvConf":""})",
       "healthzPort: 0\nregisterNode: false\nresolvConf: \"\"\n"},
      {R"({"systemReserved":{"pid":"500","cpu":null}})", "systemReserved:\n  cpu: \"\"\n  pid: \"500\"\n"},
      {R"({"featureGates":{"Gate10":true,"Gate9":false}})", "featureGates:\n  Gate9: false\n  Gate10: true\n"},
      {R"({"staticPodURLHeader":{"a":["x"],"b":null}})", "staticPodURLHeader:\n  a:\n  - x\n  b: null\n"},
      {R"({"reservedMemory":[{"numaNode":0,"limits":{"memory":"1024Mi","hugepages-1Gi":2}}]})",
       "reservedMemory:\n- limits:\n    hugepages-1Gi: \"2\"\n    memory: 1Gi\n  numaNode: 0\n"},
      {R"({"reservedMemory":[{"numaNode":1},{"limits":{}},{"limits":null}]})",
       "reservedMemory:\n- limits: null\n  numaNode: 1\n- limits: {}\n  numaNode: 0\n- limits: null\n  numaNode: 0\n"},
      {R"({"registerWithTaints":[{"key":"a","effect":"NoSchedule","timeAdded":"2020-01-01T01:00:00+01:00"}]})",
       "registerWithTaints:\n- effect: NoSchedule\n  key: a\n  timeAdded: \"2020-01-01T00:00:00Z\"\n"},
      {R"({"memoryThrottlingFactor":0.9})", "memoryThrottlingFactor: 0.9\n"},
      {R"({"logging":{"flushFrequency":"5s","verbosity":3}})", "  flushFrequency: 5s\n  verbosity: 3\n"},
      {R"({"logging":{"flushFrequency":5000000000,"format":"json","vmodule":[{"filePattern":"a*","verbosity":2}]}})",
       "  flushFrequency: 5000000000\n  format: json\n  vmodule:\n  - filePattern: a*\n    verbosity: 2\n"},
      {R"({"tracing":{},"userNamespaces":{"idsPerPod":65536}})", "tracing: {}\nuserNamespaces:\n  idsPerPod: 65536\n"},
      {R"({"crashLoopBackOff":{"maxContainerRestartPeriod":"60s"}})",
       "crashLoopBackOff:\n  maxContainerRestartPeriod: 1m0s\n"},
      {R"({"syncFrequency":"1us"})", "syncFrequency: 1\xC2\xB5s\n"},
      {R"({"evictionHard":{"memory.available":"5%","nodefs.available":"yes"}})",
       "evictionHard:\n  memory.available: 5%\n  nodefs.available: \"yes\"\n"},
  };
  for (const WrittenDocument& c : cases) EXPECT_EQ(Added(Read(c.json)), c.lines) << c.json;
}

struct RefusedDocument {
  const char* json;
  const char* error;
};

TEST(ReadKubeletConfiguration, RefusesInTheWordsOfGo) {
  const RefusedDocument cases[] = {
      {R"({"maxPods":"5"})",
       "json: cannot unmarshal string into Go struct field KubeletConfiguration.maxPods of type int32"},
      {R"({"maxPods":3000000000})",
       "json: cannot unmarshal number 3000000000 into Go struct field KubeletConfiguration.maxPods of type int32"},
      {R"({"maxPods":1.5})",
       "json: cannot unmarshal number 1.5 into Go struct field KubeletConfiguration.maxPods of type int32"},
      {R"({"cgroupDriver":5})",
       "json: cannot unmarshal number into Go struct field KubeletConfiguration.cgroupDriver of type string"},
      {R"({"registerNode":"yes"})",
       "json: cannot unmarshal string into Go struct field KubeletConfiguration.registerNode of type bool"},
      {R"({"clusterDNS":"a"})",
       "json: cannot unmarshal string into Go struct field KubeletConfiguration.clusterDNS of type []string"},
      {R"({"clusterDNS":[1]})",
       "json: cannot unmarshal number into Go struct field KubeletConfiguration.clusterDNS of type string"},
      {R"({"evictionHard":{"a":1}})",
       "json: cannot unmarshal number into Go struct field KubeletConfiguration.evictionHard of type string"},
      {R"({"evictionHard":[]})",
       "json: cannot unmarshal array into Go struct field KubeletConfiguration.evictionHard of type map[string]string"},
      {R"({"featureGates":{"A":"x"}})",
       "json: cannot unmarshal string into Go struct field KubeletConfiguration.featureGates of type bool"},
      {R"({"authentication":[]})",
       "json: cannot unmarshal array into Go struct field KubeletConfiguration.authentication of type "
       "v1beta1.KubeletAuthentication"},
      {R"({"authorization":{"mode":1}})",
       "json: cannot unmarshal number into Go struct field KubeletAuthorization.authorization.mode of type "
       "v1beta1.KubeletAuthorizationMode"},
      {R"({"authentication":{"webhook":{"cacheTTL":5}}})",
       "json: cannot unmarshal number into Go struct field "
       "KubeletWebhookAuthentication.authentication.webhook.cacheTTL "
       "of type string"},
      {R"({"registerWithTaints":[{"key":1}]})",
       "json: cannot unmarshal number into Go struct field Taint.registerWithTaints.key of type string"},
      {R"({"kind":1})",
       "json: cannot unmarshal number into Go struct field KubeletConfiguration.TypeMeta.kind of type string"},
      {R"({"logging":{"verbosity":-1}})",
       "json: cannot unmarshal number -1 into Go struct field LoggingConfiguration.logging.verbosity of type "
       "v1.VerbosityLevel"},
      {R"({"syncFrequency":10})",
       "json: cannot unmarshal number into Go struct field KubeletConfiguration.syncFrequency of type string"},
      {R"({"syncFrequency":"10"})", "time: missing unit in duration \"10\""},
      {R"({"logging":{"flushFrequency":true}})",
       "invalid duration \"true\": json: cannot unmarshal bool into Go value of type time.Duration"},
      {R"({"logging":{"flushFrequency":1.5}})",
       "invalid duration \"1.5\": json: cannot unmarshal number 1.5 into Go value of type time.Duration"},
      {R"({"logging":{"flushFrequency":{"a":1}}})",
       "invalid duration \"{\\\"a\\\":1}\": json: cannot unmarshal object into Go value of type time.Duration"},
      {R"({"logging":{"vmodule":"a=1"}})",
       "json: cannot unmarshal string into Go struct field LoggingConfiguration.logging.vmodule of type "
       "v1.VModuleConfiguration"},
      {R"({"reservedMemory":[{"limits":"1Gi"}]})",
       "json: cannot unmarshal string into Go struct field MemoryReservation.reservedMemory.limits of type "
       "v1.ResourceList"},
      {R"({"syncFrequency":null})", "time: invalid duration \"\""},
      {R"({"memoryThrottlingFactor":"x"})",
       "json: cannot unmarshal string into Go struct field KubeletConfiguration.memoryThrottlingFactor of type "
       "float64"},
      // Decoding goes on after a wrong type, and the first such error is reported unless a later error ends decoding.
      {R"({"maxPods":"a","port":"b"})",
       "json: cannot unmarshal string into Go struct field KubeletConfiguration.maxPods of type int32"},
      {R"({"maxPods":"a","syncFrequency":"b"})", "time: invalid duration \"b\""},
      {"[1]",
       "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type "
       "v1beta1.KubeletConfiguration"},
      {"\"maxPods: 5\"",
       "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal string into Go value of type "
       "v1beta1.KubeletConfiguration"},
      {"true",
       "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal bool into Go value of type "
       "v1beta1.KubeletConfiguration"},
  };
  for (const RefusedDocument& c : cases) {
    const Result<KubeletConfiguration> config = ReadKubeletConfiguration(*json::Parse(c.json));
    EXPECT_EQ(config ? "" : config.error().message(), c.error) << c.json;
  }
}

TEST(ParseKubeletConf, AcceptsNumbersAndBooleansAsTexts) {
  const Result<KubeletConfiguration> config = ParseKubeletConf(
      "systemReserved:\n  cpu: 500\n  memory: 1.5\n  pid: yes\nmaxPods: 0x10\nresolvConf: 7\n---\nmaxPods: 1\n");
  ASSERT_TRUE(config);
  EXPECT_EQ(Added(*config),
            "maxPods: 16\nresolvConf: \"7\"\nsystemReserved:\n  cpu: \"500\"\n  memory: \"1.5\"\n  pid: \"true\"\n");
  EXPECT_TRUE(ParseKubeletConf("# nothing\n"));
  const Result<KubeletConfiguration> wrong = ParseKubeletConf("maxPods: a\n");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message(),
            "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal string into Go struct field "
            "KubeletConfiguration.maxPods of type int32");
}

struct MergeCase {
  const char* below;
  const char* above;
  const char* lines;
};

TEST(MergeOver, ReplacesValuesByValuesThatAreNotEmpty) {
  const MergeCase cases[] = {
      {R"({"maxPods":1})", R"({"maxPods":2})", "maxPods: 2\n"},
      {R"({"maxPods":1})", R"({"maxPods":0})", "maxPods: 1\n"},
      {R"({"staticPodPath":"/a"})", R"({"staticPodPath":""})", "staticPodPath: /a\n"},
      {R"({"protectKernelDefaults":true})", R"({"protectKernelDefaults":false})", "protectKernelDefaults: true\n"},
      {R"({"syncFrequency":"5s"})", R"({"syncFrequency":"0s"})", "syncFrequency: 5s\n"},
      {R"({"syncFrequency":"5s"})", R"({"syncFrequency":"6s"})", "syncFrequency: 6s\n"},
      // Pointers.
      {"{}", R"({"kubeAPIQPS":0,"registerNode":false})", "kubeAPIQPS: 0\nregisterNode: false\n"},
      {R"({"kubeAPIQPS":40,"registerNode":true})", R"({"kubeAPIQPS":0,"registerNode":false})",
       "kubeAPIQPS: 40\nregisterNode: true\n"},
      {R"({"kubeAPIQPS":40,"registerNode":false})", R"({"kubeAPIQPS":50,"registerNode":true})",
       "kubeAPIQPS: 50\nregisterNode: true\n"},
      {R"({"cpuCFSQuotaPeriod":"5ms"})", R"({"cpuCFSQuotaPeriod":"0s"})", "cpuCFSQuotaPeriod: 5ms\n"},
      {R"({"tracing":{"endpoint":"a"}})", R"({"tracing":{"samplingRatePerMillion":5}})",
       "tracing:\n  endpoint: a\n  samplingRatePerMillion: 5\n"},
      // Lists.
      {R"({"clusterDNS":["a","b"]})", R"({"clusterDNS":["c"]})", "clusterDNS:\n- c\n"},
      {R"({"clusterDNS":["a","b"]})", R"({"clusterDNS":[]})", "clusterDNS:\n- a\n- b\n"},
      // Maps.
      {R"({"evictionHard":{"a":"1","b":"2"}})", R"({"evictionHard":{"b":"","c":"3"}})",
       "evictionHard:\n  a: \"1\"\n  b: \"\"\n  c: \"3\"\n"},
      {R"({"evictionHard":{"a":"1"}})", R"({"evictionHard":{}})", "evictionHard:\n  a: \"1\"\n"},
      // Structs.
      {R"({"authentication":{"anonymous":{"enabled":false},"x509":{"clientCAFile":"/a"}}})",
       R"({"authentication":{"anonymous":{"enabled":true},"webhook":{"enabled":true}}})",
       "  anonymous:\n    enabled: true\n    enabled: true\n  x509:\n    clientCAFile: /a\n"},
      {R"({"memorySwap":{"swapBehavior":"NoSwap"}})", R"({"memorySwap":{}})", "memorySwap:\n  swapBehavior: NoSwap\n"},
      {"{}", R"({"logging":{"options":{"json":{"infoBufferSize":"1Mi","splitStream":true}}}})",
       "      splitStream: true\n"},
      {R"({"logging":{"flushFrequency":"5s"}})", R"({"logging":{"flushFrequency":6000000000}})",
       "  flushFrequency: 6s\n"},
  };
  for (const MergeCase& c : cases) {
    KubeletConfiguration config = Read(c.below);
    MergeOver(config, Read(c.above));
    std::string added = Added(config);
    EXPECT_EQ(added, c.lines) << c.below << c.above;
  }
}

}  // namespace
}  // namespace pintle::generated
