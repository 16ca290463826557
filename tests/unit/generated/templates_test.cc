// SPDX-License-Identifier: Apache-2.0
#include "generated/templates.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "generated/template_functions.h"
#include "gotemplate/template.h"
#include "json/parse.h"
#include "support/temporary_directory.h"

namespace pintle::generated {
namespace {

RenderConfig ConfigFor(std::string_view platform, std::string_view more_status = "", std::string pull_secret = "{}") {
  const std::string spec = R"({"clusterDNSIP": "172.30.0.10", "infra": {"status": {"platformStatus": {"type": ")" +
                           std::string(platform) + "\"}" + std::string(more_status) + "}}}";
  return RenderConfig(*json::Parse(spec), std::move(pull_secret), TlsSettingsOf(nullptr));
}

std::string FileAt(std::string_view path, std::string_view contents) {
  return "path: " + std::string(path) + "\nmode: 0644\ncontents: {inline: \"" + std::string(contents) + "\"}\n";
}

// Returns a line for each config, with its name and its Ignition config, or the error.
std::string IgnitionOf(const TemplateFolder& templates, const RenderConfig& config) {
  const auto configs = MachineConfigsOfTemplates(templates, config, "HASH");
  if (!configs) return configs.error().message();
  std::string all;
  for (const MachineConfig& made : *configs) all += made.name + " " + made.config + "\n";
  return all;
}

bool Has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(MachineConfigsOfTemplates, LetsLaterFoldersOverrideEarlierOnes) {
  TemplateFolder templates("t");
  templates.Add("common/_base/files/a", FileAt("/a", "base"));
  templates.Add("common/aws/files/a", FileAt("/a", "aws"));
  templates.Add("worker/00-worker/_base/files/a", FileAt("/a", "worker"));
  EXPECT_EQ(
      IgnitionOf(templates, ConfigFor("AWS")),
      "00-worker {\"ignition\":{\"version\":\"3.5.0\"},\"storage\":{\"files\":[{\"overwrite\":true,\"path\":\"/a\","
      "\"contents\":{\"source\":\"data:,worker\"},\"mode\":420}]}}\n");
}

TEST(MachineConfigsOfTemplates, RemovesATemplateByAnEmptyFileAndNotByWhiteSpace) {
  TemplateFolder templates("t");
  for (const char* name : {"gone", "stays"}) {
    templates.Add(std::string("worker/00-worker/_base/files/") + name, FileAt(std::string("/") + name, "x"));
  }
  templates.Add("worker/00-worker/aws/files/below/gone", "");
  templates.Add("worker/00-worker/aws/files/stays", "{{if false}}x{{end}}\n");
  const std::string made = IgnitionOf(templates, ConfigFor("AWS"));
  EXPECT_FALSE(Has(made, "/gone")) << made;
  EXPECT_TRUE(Has(made, "/stays")) << made;
}

TEST(MachineConfigsOfTemplates, PutsCommonTemplatesIntoTheFirstConfigOfEachRole) {
  TemplateFolder templates("t");
  templates.Add("common/_base/files/c", FileAt("/c", "x"));
  for (const char* name : {"master/00-master", "master/01-master-kubelet", "worker/00-worker"}) {
    templates.Add(std::string(name) + "/_base/files/own", FileAt("/own", "x"));
  }
  const auto configs = MachineConfigsOfTemplates(templates, ConfigFor("None"), "HASH");
  ASSERT_TRUE(configs);
  ASSERT_EQ(configs->size(), 3U);
  EXPECT_EQ((*configs)[0].name, "00-master");
  EXPECT_EQ((*configs)[1].name, "00-worker");
  EXPECT_TRUE(Has((*configs)[0].config, "\"/c\""));
  EXPECT_TRUE(Has((*configs)[1].config, "\"/c\""));
  EXPECT_FALSE(Has((*configs)[2].config, "\"/c\""));
  EXPECT_EQ((*configs)[1].annotations, MadeBy("HASH"));
}

TEST(MachineConfigsOfTemplates, TakesTheFoldersOfTheTopology) {
  TemplateFolder templates("t");
  for (const char* folder : {"sno", "two-node-with-fencing", "on-prem"}) {
    templates.Add(std::string("worker/00-worker/") + folder + "/extensions/" + folder, "x");
  }
  const auto extensions = [&](const RenderConfig& config) {
    return MachineConfigsOfTemplates(templates, config, "HASH")->front().extensions;
  };
  EXPECT_EQ(extensions(ConfigFor("AWS", R"(, "controlPlaneTopology": "SingleReplica")")),
            std::vector<std::string>{"sno"});
  EXPECT_EQ(extensions(ConfigFor("BareMetal", R"(, "controlPlaneTopology": "DualReplica")")),
            (std::vector<std::string>{"on-prem", "two-node-with-fencing"}));
}

TEST(MachineConfigsOfTemplates, MakesConfigsOfTheArbiterOnlyWhereThereIsOne) {
  TemplateFolder templates("t");
  templates.Add("arbiter/00-arbiter/_base/files/a", FileAt("/a", "x"));
  EXPECT_EQ(IgnitionOf(templates, ConfigFor("AWS")), "");
  EXPECT_TRUE(Has(IgnitionOf(templates, ConfigFor("AWS", R"(, "controlPlaneTopology": "HighlyAvailableArbiter")")),
                  "00-arbiter"));
}

TEST(MachineConfigsOfTemplates, NamesTheTemplateThatIsWrong) {
  TemplateFolder templates("t");
  templates.Add("worker/00-worker/_base/files/a", "{{.NoSuch}}");
  EXPECT_EQ(IgnitionOf(templates, ConfigFor("AWS")),
            "failed to create MachineConfig for role worker: failed to execute template: template: "
            "t/worker/00-worker/_base/files/a:1:2: executing \"t/worker/00-worker/_base/files/a\" at <.NoSuch>: can't "
            "evaluate field NoSuch in type template.RenderConfig");
}

TEST(MachineConfigsOfTemplates, ReportsAFileInThePlaceOfAFolder) {
  TemplateFolder templates("t");
  templates.Add("worker/00-worker/_base", "x");
  EXPECT_EQ(IgnitionOf(templates, ConfigFor("AWS")),
            "failed to create MachineConfig for role worker: expected template directory, "
            "\"t/worker/00-worker/_base\" is not a directory");
  templates.Add("common", "x");
  EXPECT_EQ(IgnitionOf(templates, ConfigFor("AWS")),
            "failed to create MachineConfig for role worker: failed to open dir \"t/common/_base\": stat "
            "t/common/_base: not a directory");
}

TEST(MachineConfigsOfTemplates, DoesNotReadATemplateOfAnotherPlatform) {
  TemplateFolder templates("t");
  templates.Add("worker/00-worker/gcp/files/a", "{{");
  EXPECT_EQ(IgnitionOf(templates, ConfigFor("AWS")), "00-worker {\"ignition\":{\"version\":\"\"}}\n");
  EXPECT_EQ(IgnitionOf(templates, ConfigFor("GCP")),
            "failed to create MachineConfig for role worker: failed to parse template t/worker/00-worker/gcp/files/a: "
            "template: t/worker/00-worker/gcp/files/a:1: unclosed action");
}

TEST(MachineConfigsOfTemplates, DoesNotPutThePullSecretIntoAnError) {
  TemplateFolder templates("t");
  templates.Add("worker/00-worker/_base/files/a", "path: /a\ncontents: {inline: {{.PullSecret}} }\n");
  const std::string error = IgnitionOf(templates, ConfigFor("AWS", "", R"({"auths":{"r":{"auth":"c2VjcmV0"}}})"));
  EXPECT_TRUE(Has(error, "failed to unmarshal a text with the pull secret in it into struct")) << error;
  EXPECT_FALSE(Has(error, "c2VjcmV0")) << error;
  TemplateFolder looping("t");
  looping.Add("worker/00-worker/_base/files/a", "{{range .PullSecret}}{{end}}");
  const std::string loop_error = IgnitionOf(looping, ConfigFor("AWS", "", R"({"auths":{"r":{"auth":"c2VjcmV0"}}})"));
  EXPECT_TRUE(Has(loop_error, "a: its error contains the pull secret and is not printed")) << loop_error;
  EXPECT_FALSE(Has(loop_error, "c2VjcmV0")) << loop_error;
}

TEST(MachineConfigsOfTemplates, DoesNotPutTheDigitsOfThePullSecretIntoAnError) {
  TemplateFolder templates("t");
  templates.Add("worker/00-worker/_base/files/a", "path: [{{printf \"% x\" .PullSecret}}\n");
  const std::string error = IgnitionOf(templates, ConfigFor("AWS", "", R"({"auths":{"r":{"auth":"c2VjcmV0"}}})"));
  EXPECT_TRUE(Has(error, "failed to unmarshal a text with the pull secret in it into struct")) << error;
  EXPECT_FALSE(Has(error, "7b 22")) << error;
}

TEST(MachineConfigsOfTemplates, NamesThePlaceOfAWrongValueThatComesFromThePullSecret) {
  struct Row {
    std::string_view kind;
    std::string_view text;
    std::string_view error;
  };
  constexpr std::string_view kFile = "failed to unmarshal a text with the pull secret in it into struct: ";
  constexpr std::string_view kUnit = "failed to unmarshal systemd unit into struct: ";
  for (const Row& row : {
           Row{"files", "path: /a\nmode: {{slice .PullSecret 8 12}}.5\n",
               "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal number into Go struct field "
               "File.Mode of type int"},
           {"files", "path: /a\nmode: !!int x{{slice .PullSecret 8 12}}\n",
            "error converting YAML to JSON: yaml: line 2: the value does not fit its tag"},
           {"files", "path: /a\n\n? [{{slice .PullSecret 8 12}}]\n: b\n",
            "error converting YAML to JSON: yaml: line 3: a key must be a text, a number, true or false"},
           {"files", "path: *a{{slice .PullSecret 8 12}}\n",
            "error converting YAML to JSON: yaml: line 1: unknown anchor referenced"},
           {"files", "path: &a{{slice .PullSecret 8 12}} [*a{{slice .PullSecret 8 12}}]\n",
            "error converting YAML to JSON: yaml: line 1: an anchor's value contains itself"},
           {"units", "name: a\nenabled: !!bool x{{slice .PullSecret 8 12}}\n",
            "error converting YAML to JSON: yaml: line 2: the value does not fit its tag"},
       }) {
    TemplateFolder templates("t");
    const std::string path = fmt::format("worker/00-worker/_base/{}/a", row.kind);
    templates.Add(path, std::string(row.text));
    const std::string error = IgnitionOf(templates, ConfigFor("AWS", "", R"({"pin":"7391"})"));
    EXPECT_TRUE(
        Has(error, fmt::format("{}{}; the template is t/{}", row.kind == "files" ? kFile : kUnit, row.error, path)))
        << error;
    EXPECT_FALSE(Has(error, "7391")) << error;
  }
}

TEST(TextOfTemplate, AnErrorThatDoesNotDependOnThePullSecretIsPrinted) {
  const auto parsed = gotemplate::Template::Parse("t/a", "{{.PullSecret}}{{range 1.5}}{{end}}", IsTemplateFunction);
  ASSERT_TRUE(parsed);
  const auto text = TextOfTemplate(*parsed, ConfigFor("AWS", "", R"({"auths":{"r":{"auth":"c2VjcmV0"}}})"));
  ASSERT_FALSE(text);
  EXPECT_TRUE(Has(text.error().message(), "1.5")) << text.error().message();
}

TEST(TextOfTemplate, FindsAnEscapedPullSecretInAnError) {
  const json::Value spec = *json::Parse(R"({"internalRegistryPullSecret": "eyJhdXRocyI6e319"})");
  for (const char* printed :
       {R"(printf "%q" .PullSecret)", R"(printf "%q" (printf "%q" .PullSecret))", R"(printf "%+q" .PullSecret)",
        "html .PullSecret", "js .PullSecret", "urlquery .PullSecret", R"(printf "%x" .PullSecret)",
        R"(printf "%X" .PullSecret)", R"(printf "%d" .InternalRegistryPullSecret)", R"(printf "% x" .PullSecret)",
        R"(printf "%# X" .PullSecret)", R"(printf "%.20s" .PullSecret)", R"(printf "% o" .InternalRegistryPullSecret)",
        "slice .PullSecret 1 20"}) {
    const auto parsed =
        gotemplate::Template::Parse("t/a", "{{range " + std::string(printed) + "}}{{end}}", IsTemplateFunction);
    ASSERT_TRUE(parsed) << printed;
    const RenderConfig config(spec, "{\"auths\":{\"\xc3\xa9.test\":{\"auth\":\"c2VjcmV0IA==\"}}}",
                              TlsSettingsOf(nullptr));
    const auto text = TextOfTemplate(*parsed, config);
    ASSERT_FALSE(text) << printed;
    EXPECT_EQ(text.error().message(),
              "failed to execute template: template: t/a: its error contains the pull secret and is not printed")
        << printed;
  }
}

TEST(MachineConfigsOfRole, GivesACustomPoolTheTemplatesOfWorkers) {
  TemplateFolder templates("t");
  templates.Add("worker/00-worker/_base/files/a", FileAt("/a", "x"));
  const auto configs = MachineConfigsOfRole(templates, ConfigFor("AWS"), "infra");
  ASSERT_TRUE(configs);
  EXPECT_EQ(configs->front().name, "00-worker");
  EXPECT_EQ(configs->front().role, "infra");
}

TEST(TemplateFolder, ReadsTheTemplatesOfAFolder) {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory.path() / "worker/00-worker/_base/files");
  std::filesystem::create_directories(directory.path() / "worker/01-empty");
  std::ofstream(directory.path() / "worker/00-worker/_base/files/a") << FileAt("/a", "{{.ClusterDNSIP}}");
  std::ofstream(directory.path() / "worker/README") << "{{";
  const auto templates = TemplateFolder::Read(directory.path());
  ASSERT_TRUE(templates) << templates.error().message();
  const std::string made = IgnitionOf(*templates, ConfigFor("AWS"));
  EXPECT_TRUE(Has(made, "data:,172.30.0.10")) << made;
  EXPECT_TRUE(Has(made, "01-empty {\"ignition\":{\"version\":\"\"}}")) << made;
}

// An empty folder and a missing one cause different errors.
TEST(TemplateFolder, HasAnotherDigestWithAnEmptyFolder) {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory.path() / "worker/00-worker/_base/files");
  const std::string before = TemplateFolder::Read(directory.path())->Digest();
  EXPECT_EQ(TemplateFolder::Read(directory.path())->Digest(), before);
  std::filesystem::create_directories(directory.path() / "worker/01-empty");
  EXPECT_NE(TemplateFolder::Read(directory.path())->Digest(), before);
}

TEST(TemplateFolder, ReportsAMissingFolder) {
  const auto templates = TemplateFolder::Read("/no/such/folder");
  ASSERT_FALSE(templates);
  EXPECT_TRUE(Has(templates.error().message(), "/no/such/folder")) << templates.error().message();
}

TEST(TemplateFolder, OfAReleaseNeedsTheFolderOfARole) {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory.path() / "common/_base/files");
  const auto release = TemplateFolder::ReadRelease(directory.path());
  ASSERT_FALSE(release);
  EXPECT_TRUE(Has(release.error().message(), "it has no folder of a role, such as ")) << release.error().message();
  EXPECT_TRUE(TemplateFolder::Read(directory.path()));
  std::filesystem::create_directory(directory.path() / "master");
  EXPECT_TRUE(TemplateFolder::ReadRelease(directory.path()));
}

TEST(TemplateFolder, LimitsTheSizeOfAllTemplatesTogether) {
  const TemporaryDirectory directory;
  for (int i = 0; i < 9; ++i) {
    const auto path = directory.path() / std::to_string(i);
    std::ofstream(path) << "x";
    std::filesystem::resize_file(path, 8'000'000);  // The file takes no space on the disk.
  }
  const auto templates = TemplateFolder::Read(directory.path());
  ASSERT_FALSE(templates);
  EXPECT_EQ(templates.error().message(),
            "reading templates: " + directory.path().string() +
                ": its templates together have more than 64 MiB; remove those that are not the release's");
}

TEST(CompactPullSecret, RemovesWhiteSpaceBetweenTokensOnly) {
  EXPECT_EQ(*CompactPullSecret("{ \"a b\" : [1, \"\\\" x\"] }\n"), R"({"a b":[1,"\" x"]})");
  EXPECT_EQ(CompactPullSecret("").error().message(), "couldn't compact pullsecret \"\": unexpected end of JSON input");
  EXPECT_FALSE(Has(CompactPullSecret("{\"auths\": \"c2VjcmV0").error().message(), "c2VjcmV0"));
}

}  // namespace
}  // namespace pintle::generated
