// SPDX-License-Identifier: Apache-2.0
#include "generated/template_functions.h"

#include <gtest/gtest.h>

#include <string>

#include "generated/render_config.h"
#include "generated/templates.h"
#include "gotemplate/template.h"
#include "json/parse.h"

namespace pintle::generated {
namespace {

// Executes a template with the spec of a ControllerConfig, and returns the text or the error.
std::string Printed(std::string text, std::string_view spec) {
  const auto parsed = gotemplate::Template::Parse("t", std::move(text), [](std::string_view name) {
    return TemplateFunctions().contains(name) || gotemplate::Builtins().contains(name);
  });
  if (!parsed) return parsed.error().message();
  const auto printed = TextOfTemplate(*parsed, RenderConfig(*json::Parse(spec), "", {}));
  return printed ? *printed : printed.error().message();
}

std::string OnPlatform(std::string text, std::string_view status) {
  return Printed(std::move(text), R"({"infra": {"status": {"platformStatus": )" + std::string(status) + "}}}");
}

std::string HostAndPort(std::string_view url) {
  return Printed("{{urlHost .Infra.Status.APIServerInternalURL}}|{{urlPort .Infra.Status.APIServerInternalURL}}",
                 R"({"infra": {"status": {"apiServerInternalURI": ")" + std::string(url) + "\"}}}");
}

bool EndsWith(const std::string& text, std::string_view end) { return text.ends_with(end); }

TEST(TemplateFunctions, TakeHostAndPortFromAUrl) {
  EXPECT_EQ(HostAndPort("https://h:6443/x"), "h|6443");
  EXPECT_EQ(HostAndPort("HTTPS://u:p@[::1]"), "::1|443");
  EXPECT_TRUE(EndsWith(HostAndPort("ftp://h"), "error calling urlPort: unknown scheme in ftp://h"));
  EXPECT_TRUE(EndsWith(HostAndPort("https://h:x"), "parse \"https://h:x\": invalid port \":x\" after host"));
  EXPECT_TRUE(EndsWith(HostAndPort("https://h%41"), "invalid URL escape \"%41\""));
  EXPECT_TRUE(EndsWith(HostAndPort("https://%u:p@h"), "invalid URL escape \"%u\""));
  EXPECT_TRUE(EndsWith(HostAndPort("https://u:%p:q@h"), "invalid URL escape \"%p:\""));
  EXPECT_TRUE(EndsWith(HostAndPort("https://[::1"), "missing ']' in host"));
  EXPECT_TRUE(EndsWith(HostAndPort("https://[192.0.2.1]"), "invalid IP-literal"));
  EXPECT_TRUE(EndsWith(HostAndPort("https://[api.test]"),
                       "invalid host: ParseAddr(\"api.test\"): unexpected character (at \"api.test\")"));
  EXPECT_TRUE(EndsWith(HostAndPort("https://[fe80::1%25]"),
                       "invalid host: ParseAddr(\"fe80::1%\"): zone must be a non-empty string"));
}

TEST(TemplateFunctions, KnowAddressesOfPlatformsOnPremises) {
  constexpr std::string_view kTwo =
      R"({"type": "BareMetal", "baremetal": {"apiServerInternalIPs": ["192.0.2.5", "2001:db8::5"], "ingressIPs": []}})";
  EXPECT_EQ(OnPlatform("{{onPremPlatformShortName .}} {{onPremPlatformAPIServerInternalIP .}}", kTwo), "kni 192.0.2.5");
  EXPECT_EQ(OnPlatform("{{range onPremPlatformAPIServerInternalIPs .}}<{{.}}>{{end}}", kTwo),
            "<192.0.2.5><2001:db8::5>");
  EXPECT_TRUE(EndsWith(OnPlatform("{{onPremPlatformIngressIP .}}", kTwo), "index out of range [0] with length 0"));
  EXPECT_TRUE(EndsWith(OnPlatform("{{onPremPlatformIngressIPs .}}", R"({"type": "BareMetal"})"),
                       "runtime error: invalid memory address or nil pointer dereference"));
  EXPECT_EQ(OnPlatform("{{onPremPlatformIngressIPs .}}|{{onPremPlatformIngressIP .}}", R"({"type": "VSphere"})"),
            "[]|<no value>");
  EXPECT_TRUE(
      EndsWith(OnPlatform("{{onPremPlatformIngressIP .}}", R"({"type": "AWS"})"), "invalid platform for Ingress IP"));
}

TEST(TemplateFunctions, KnowWhoseLoadBalancerIsUsed) {
  const auto is_managed = [](std::string_view status) {
    return OnPlatform("{{isOpenShiftManagedDefaultLB .}}", status);
  };
  EXPECT_EQ(is_managed(R"({"type": "AWS"})"), "true");
  EXPECT_EQ(is_managed(R"({"type": "Nutanix"})"), "false");
  EXPECT_EQ(is_managed(R"({"type": "Nutanix", "nutanix": {}})"), "true");
  EXPECT_EQ(is_managed(R"({"type": "Nutanix", "nutanix": {"loadBalancer": {"type": "UserManaged"}}})"), "false");
  EXPECT_EQ(is_managed(R"({"type": "VSphere", "vsphere": {}})"), "false");
}

TEST(TemplateFunctions, KnowAddressesOfACloudThatServesItsOwnDns) {
  EXPECT_EQ(OnPlatform("{{cloudPlatformAPIIntLoadBalancerIPs .}}",
                       R"({"type": "GCP", "gcp": {"cloudLoadBalancerConfig": {"dnsType": "ClusterHosted",
                           "clusterHosted": {"apiIntLoadBalancerIPs": ["192.0.2.1"]}}}})"),
            "[192.0.2.1]");
  EXPECT_TRUE(
      EndsWith(OnPlatform("{{cloudPlatformIngressLoadBalancerIPs .}}",
                          R"({"type": "AWS", "aws": {"cloudLoadBalancerConfig": {"dnsType": "ClusterHosted"}}})"),
               "AWS Ingress Load Balancer IPs unavailable when the DNSType is ClusterHosted"));
  EXPECT_TRUE(
      EndsWith(OnPlatform("{{cloudPlatformAPILoadBalancerIPs .}}",
                          R"({"type": "Azure", "azure": {"cloudLoadBalancerConfig": {"dnsType": "ClusterHosted"}}})"),
               ": azure API Server Load Balancer IPs unavailable when the DNSType is ClusterHosted"));
}

TEST(TemplateFunctions, PrintASkippedKeyAsAnAction) {
  EXPECT_EQ(Printed("{{skip \"etcd_x\"}}", "{}"), "{{.etcd_x}}");
  EXPECT_TRUE(EndsWith(Printed("{{skip \"Etcd\"}}", "{}"), "invalid key for skipKey"));
}

TEST(TemplateFunctions, IndentEveryLine) {
  EXPECT_EQ(Printed("{{indent 2 \"a\\n\\nb\"}}", "{}"), "  a\n  \n  b");
  EXPECT_EQ(Printed("{{.AdditionalTrustBundle | toString | indent 1}}", R"({"additionalTrustBundle": "eAp5"})"),
            " x\n y");
}

TEST(RenderConfig, HasTheTypesOfGo) {
  EXPECT_EQ(Printed("{{.DNS.Spec.BaseDomain}}", R"({"dns": null})"),
            "failed to execute template: template: t:1:6: executing \"t\" at <.DNS.Spec.BaseDomain>: nil pointer "
            "evaluating *v1.DNS.Spec");
  EXPECT_EQ(
      Printed("{{.Images.none}} {{.Proxy}} {{eq .IPFamilies \"IPv6\"}}", R"({"images": {}, "ipFamilies": "IPv6"})"),
      "<no value> <nil> true");
  EXPECT_EQ(
      Printed("{{.Network.MTUMigration.Machine.To}}", R"({"network": {"mtuMigration": {"machine": {"to": 9000}}}})"),
      "9000");
}

}  // namespace
}  // namespace pintle::generated
