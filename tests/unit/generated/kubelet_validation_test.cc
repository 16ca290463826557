// SPDX-License-Identifier: Apache-2.0
#include "generated/kubelet_validation.h"

#include <gtest/gtest.h>

#include "unit/generated/kubelet_fixture.h"

namespace pintle::generated {
namespace {

struct ObjectCase {
  const char* spec;
  const char* error;
};

TEST(Validate, ReportsTheFirstMistake) {
  const ObjectCase cases[] = {
      {"{}", ""},
      {R"({"kubeletConfig":null})", ""},
      {R"({"kubeletConfig":{}})", ""},
      {R"({"kubeletConfig":{"kind":"Other","maxPods":1,"noSuchField":2}})", ""},
      {R"({"logLevel":0})", ""},
      {R"({"logLevel":10})", ""},
      {R"({"logLevel":11})", "KubeletConfig's LogLevel is not valid [0,10]: 11"},
      {R"({"logLevel":-1,"kubeletConfig":{"clusterDomain":"x"}})", "KubeletConfig's LogLevel is not valid [0,10]: -1"},
      {R"({"kubeletConfig":{"syncFrequency":"1"}})",
       "KubeletConfig could not be unmarshalled, err: time: missing unit in duration \"1\""},
      {R"({"kubeletConfig":{"cgroupDriver":"x","clusterDNS":["1"]}})",
       "KubeletConfiguration: cgroupDriver is not allowed to be set, but contains: x"},
      {R"({"kubeletConfig":{"clusterDNS":["1","2"],"clusterDomain":"y"}})",
       "KubeletConfiguration: clusterDNS is not allowed to be set, but contains: [1 2]"},
      {R"({"kubeletConfig":{"clusterDomain":"y","featureGates":{"A":true}}})",
       "KubeletConfiguration: clusterDomain is not allowed to be set, but contains: y"},
      {R"({"kubeletConfig":{"featureGates":{"B":false,"A":true},"failSwapOn":true}})",
       "KubeletConfiguration: featureGates is not allowed to be set, but contains: map[A:true B:false]"},
      {R"({"kubeletConfig":{"failSwapOn":false,"memorySwap":{"swapBehavior":"LimitedSwap"}}})",
       "KubeletConfiguration: failSwapOn is not allowed to be set, but contains: false"},
      {R"({"autoSizingReserved":true,"kubeletConfig":{"memorySwap":{"swapBehavior":"LimitedSwap"},"systemReserved":{"cpu":"1"}}})",
       "KubeletConfiguration: swapBehavior is not allowed to be set, but contains: LimitedSwap"},
      {R"({"autoSizingReserved":true,"kubeletConfig":{"systemReserved":{"pid":"1"},"systemCgroups":"/a","systemReservedCgroup":"/b"}})",
       "KubeletConfiguration: autoSizingReserved and systemdReserved cannot be set together"},
      {R"({"autoSizingReserved":false,"kubeletConfig":{"systemReserved":{"pid":"1"}}})", ""},
      {R"({"autoSizingReserved":true,"kubeletConfig":{"systemReserved":{}}})", ""},
      {R"({"kubeletConfig":{"systemCgroups":"/a","systemReservedCgroup":"/b"}})",
       "KubeletConfiguration: systemReservedCgroup (/b) must match systemCgroups (/a)"},
      {R"({"kubeletConfig":{"systemCgroups":"/a","systemReservedCgroup":"/a"}})", ""},
      {R"({"kubeletConfig":{"systemCgroups":"/a"}})", ""},
      {R"({"kubeletConfig":{"clusterDNS":[],"featureGates":{},"memorySwap":{},"clusterDomain":""}})", ""},
      {R"({"kubeletConfig":{"ClusterDomain":"y"}})",
       "KubeletConfiguration: clusterDomain is not allowed to be set, but contains: y"},
  };
  for (const ObjectCase& c : cases) {
    const Result<> valid = Validate(Kubelet(c.spec));
    EXPECT_EQ(valid ? "" : valid.error().message(), c.error) << c.spec;
  }
}

struct PoolCase {
  const char* name;
  const char* pool_spec;
  const char* kubelet_config;
  const char* error;
};

TEST(ValidateForPool, RefusesStaticPodPath) {
  const char* refused = "KubeletConfiguration: staticPodPath is not allowed to be set for control plane pool \"{}\"";
  const PoolCase cases[] = {
      {"master", "{}", R"({"maxPods":1})", ""},
      {"master", "{}", R"({"staticPodPath":"/a"})", refused},
      {"master", "{}", R"({"staticPodPath":""})", refused},
      {"master", "{}", R"({"StaticPodPath":"/a"})", refused},
      {"master", "{}", R"({"STATICPODPATH":""})", refused},
      {"master", "{}", "{\"\xC5\xBFtaticPodPath\":\"/a\"}", refused},
      {"master", "{}", "null", ""},
      {"arbiter", "{}", R"({"staticPodPath":"/a"})", refused},
      {"cp", R"({"nodeSelector":{"matchLabels":{"node-role.kubernetes.io/master":"x"}}})", R"({"staticPodPath":"/a"})",
       refused},
      {"cp", R"({"nodeSelector":{"matchExpressions":[{"key":"node-role.kubernetes.io/master","operator":"Exists"}]}})",
       R"({"staticPodPath":"/a"})", refused},
      {"cp",
       R"({"nodeSelector":{"matchExpressions":[{"key":"node-role.kubernetes.io/master","operator":"In","values":[""]}]}})",
       R"({"staticPodPath":"/a"})", refused},
      {"no-cp",
       R"({"nodeSelector":{"matchExpressions":[{"key":"node-role.kubernetes.io/master","operator":"DoesNotExist"}]}})",
       R"({"staticPodPath":""})", ""},
      {"worker", "{}", R"({"staticPodPath":""})", ""},
      {"worker", "{}", R"({"staticPodPath":"/a"})",
       "KubeletConfiguration: staticPodPath must be empty for pool \"worker\", but contains: /a"},
      {"worker", "{}", R"({"StaticPodPath":"/a"})",
       "KubeletConfiguration: staticPodPath must be empty for pool \"worker\", but contains: /a"},
  };
  for (const PoolCase& c : cases) {
    const api::KubeletConfig object = Kubelet(std::string(R"({"kubeletConfig":)") + c.kubelet_config + "}");
    const Result<> valid = ValidateForPool(Pool(c.name, c.pool_spec), object);
    std::string expected = c.error;
    if (const std::size_t at = expected.find("{}"); at != std::string::npos) expected.replace(at, 2, c.name);
    EXPECT_EQ(valid ? "" : valid.error().message(), expected) << c.name << c.kubelet_config;
  }
}

}  // namespace
}  // namespace pintle::generated
