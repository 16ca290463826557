// SPDX-License-Identifier: Apache-2.0
#pragma once

// The objects that describe an OpenShift cluster, as a small API server has them.

#include <map>
#include <string>
#include <utility>

#include "base/base64.h"
#include "json/parse.h"
#include "unit/controller/small_api_server.h"
#include "unit/net/made_certificate.h"

namespace pintle::controller {

inline json::Value SmallConfigMap(const std::string& namespace_name, const std::string& name,
                                  const std::map<std::string, std::string>& data) {
  json::Value map = {{"metadata", {{"name", name}, {"namespace", namespace_name}}}, {"data", json::Value::object()}};
  for (const auto& [key, value] : data) map["data"][key] = value;
  return map;
}

inline json::Value SmallSecret(const std::string& namespace_name, const std::string& name, const std::string& key,
                               const std::string& text) {
  json::Value secret = {{"metadata", {{"name", name}, {"namespace", namespace_name}}}, {"data", json::Value::object()}};
  secret["data"][key] = EncodeBase64(text);
  return secret;
}

// The account that pulls from the cluster's own registry, with the credentials in this Secret.
inline json::Value SmallPuller(const std::string& secret) {
  return {{"metadata", {{"name", "machine-os-puller"}, {"namespace", "namespace"}}},
          {"imagePullSecrets", json::Value::array({{{"name", secret}}})}};
}

inline json::Value SmallSetting(const std::string& spec, const std::string& status) {
  return {{"metadata", {{"name", "cluster"}}}, {"spec", *json::Parse(spec)}, {"status", *json::Parse(status)}};
}

// Puts a ControllerConfig without a status, and its pull secret: all that the templates of a small folder need.
inline void PutTemplateInputs(SmallApiServer& server, json::Value annotations = json::Value::object()) {
  server.Put("controllerconfigs",
             {{"metadata",
               {{"name", "machine-config-controller"}, {"generation", 1}, {"annotations", std::move(annotations)}}},
              {"spec",
               {{"baseOSContainerImage", "registry/os@sha256:1"},
                {"pullSecret", {{"namespace", "openshift-config"}, {"name", "pull-secret"}}},
                {"dns", {{"spec", {{"baseDomain", "demo.test"}}}}},
                {"infra", {{"status", {{"platformStatus", {{"type", "None"}}}}}}}}}});
  json::Value secret = SmallSecret("openshift-config", "pull-secret", ".dockerconfigjson", R"({"auths":{}})");
  secret["type"] = "kubernetes.io/dockerconfigjson";
  server.Put("secrets", secret);
}

// Puts a cluster of the release 4.21.0, whose operator's namespace is "namespace".
inline void PutSmallOpenShift(SmallApiServer& server) {
  server.Put("namespaces", {{"metadata", {{"name", "openshift-machine-api"}}}});
  server.Put("infrastructures", SmallSetting("{}", R"({"apiServerInternalURI": "https://api-int.a.example:6443",
      "controlPlaneTopology": "HighlyAvailable", "platformStatus": {"type": "AWS"}})"));
  server.Put("networks", SmallSetting(R"({"serviceNetwork": ["172.30.0.0/16"], "networkType": "OVNKubernetes"})",
                                      R"({"networkType": "OVNKubernetes"})"));
  server.Put("dnses", SmallSetting(R"({"baseDomain": "a.example"})", "{}"));
  server.Put("proxies", SmallSetting("{}", "{}"));
  server.Put("images", SmallSetting("{}", "{}"));
  server.Put("configmaps", SmallConfigMap("kube-system", "root-ca", {{"ca.crt", NamedCertificate("root")}}));
  server.Put("configmaps", SmallConfigMap("kube-system", "bootstrap", {{"status", "complete"}}));
  server.Put("configmaps", SmallConfigMap("openshift-config-managed", "kube-apiserver-client-ca",
                                          {{"ca-bundle.crt", NamedCertificate("clients")}}));
  server.Put("configmaps", SmallConfigMap("openshift-config", "initial-kube-apiserver-server-ca",
                                          {{"ca-bundle.crt", NamedCertificate("initial")}}));
  server.Put("configmaps", SmallConfigMap("namespace", "machine-config-osimageurl",
                                          {{"releaseVersion", "4.21.0"},
                                           {"baseOSContainerImage", "registry/os@sha256:1"},
                                           {"baseOSExtensionsContainerImage", "registry/ext@sha256:2"}}));
  server.Put("configmaps",
             SmallConfigMap("namespace", "machine-config-operator-images",
                            {{"images.json", R"({"releaseVersion": "4.21.0", "machineConfigOperator": "mco"})"}}));
  server.Put("secrets", SmallSecret("openshift-config", "pull-secret", ".dockerconfigjson",
                                    R"({"auths": {"quay.example": {"auth": "of-quay"}}})"));
  server.Put("secrets", SmallSecret("namespace", "puller-1", ".dockercfg",
                                    R"({"image-registry.openshift-image-registry.svc:5000": {"auth": "first"}})"));
  server.Put("serviceaccounts", SmallPuller("puller-1"));
}

}  // namespace pintle::controller
