// SPDX-License-Identifier: Apache-2.0
#include "ctl/cluster_objects.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "json/fields.h"
#include "json/list_reader.h"
#include "json/parse.h"
#include "machineconfig/input.h"
#include "support/expect.h"
#include "support/temporary_directory.h"

namespace pintle::ctl {
namespace {

using json::Value;
using testing::HasSubstr;

Value NodeNamed(const std::string& name) {
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata",
           {{"name", name},
            {"annotations", {{"machineconfiguration.openshift.io/state", "Done"}, {"example.com/other", "x"}}},
            {"labels", {{"example.com/zone", "a"}}},
            {"resourceVersion", "12"}}},
          {"spec", {{"unschedulable", true}}},
          {"status", {{"conditions", Value::array({{{"type", "Ready"}, {"status", "True"}, {"message", "well"}}})}}}};
}

Value ReportNamed(const std::string& name, const std::string& type = "Updated") {
  const Value condition = {{"type", type},
                           {"status", "True"},
                           {"reason", "why"},
                           {"message", "m"},
                           {"lastTransitionTime", "2027-01-01T00:00:00Z"}};
  const Value owner = {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", name}, {"uid", "1"}};
  return {
      {"kind", "MachineConfigNode"},
      {"metadata", {{"name", name}, {"ownerReferences", Value::array({owner})}, {"uid", "2"}}},
      {"spec", {{"node", {{"name", name}}}, {"pool", {{"name", "worker"}}}, {"configVersion", {{"desired", "c"}}}}},
      {"status", {{"conditions", Value::array({condition})}, {"configVersion", {{"current", "b"}, {"desired", "c"}}}}}};
}

std::string ListOf(const std::vector<Value>& objects) {
  Value items = Value::array();
  for (const Value& object : objects) items.push_back(object);
  return json::ToIndentedText({{"apiVersion", "v1"}, {"items", items}, {"kind", "List"}});
}

// Nodes and their reports, in more text than the window that large lists are read through.
std::string LongList() {
  std::vector<Value> objects;
  for (int i = 0; i < 500; ++i) {
    objects.push_back(NodeNamed("n" + std::to_string(i)));
    objects.push_back(ReportNamed("n" + std::to_string(i), i % 2 == 0 ? "Updated" : "UpdatePrepared"));
  }
  return ListOf(objects);
}

// Reads a text with the parser for all texts, as AddFile() does if it cannot read a list in pieces.
Result<> AddText(const std::string& text, const std::string& path, ClusterObjects& objects) {
  for (Value& document : TRY(machineconfig::DocumentsIn(text, path))) {
    if (document.is_null()) continue;
    TRY(AddDocument(std::move(document), "", objects), path);
  }
  return {};
}

// Returns the parts of the objects that decisions depend on.
std::string NeededPartsOf(ClusterObjects objects) {
  Value all = Value::array();
  for (api::Node& node : objects.nodes) {
    node.metadata.resource_version.clear();
    node.metadata.annotations.erase("example.com/other");
    all.push_back(json::Encode(node));
  }
  for (api::MachineConfigNode& node : objects.machine_config_nodes) {
    node.metadata.uid.clear();
    if (node.status.config_version) node.status.config_version->current.clear();
    for (api::Condition& condition : node.status.conditions) condition.reason.clear();
    all.push_back(json::Encode(node));
  }
  return json::ToText(all);
}

std::string OutcomeOf(const Result<>& result, ClusterObjects objects) {
  return result ? NeededPartsOf(std::move(objects)) : "error: " + result.error().message();
}

std::string OutcomeOfFile(const std::string& path) {
  ClusterObjects objects;
  const Result<> added = AddFile(path, "", objects);
  return OutcomeOf(added, std::move(objects));
}

std::string OutcomeOfText(const std::string& text, const std::string& path) {
  ClusterObjects objects;
  const Result<> added = AddText(text, path, objects);
  return OutcomeOf(added, std::move(objects));
}

// Puts a text into a pipe, and returns a name of its reading end.
class Pipe {
 public:
  explicit Pipe(const std::string& text) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
    reading_.Reset(ends[0]);
    const UniqueFd writing(ends[1]);
    if (::fcntl(writing.get(), F_SETPIPE_SZ, 1 << 20) < 0) throw std::runtime_error("F_SETPIPE_SZ");
    if (::write(writing.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      throw std::runtime_error("write");
    }
  }

  std::string path() const { return "/proc/self/fd/" + std::to_string(reading_.get()); }

 private:
  UniqueFd reading_;
};

TEST(ClusterObjects, AreReadFromAListThatIsLongerThanTheWindow) {
  const TemporaryDirectory directory;
  const std::string text = LongList();
  ASSERT_GT(text.size(), 2 * json::kReadWindow);
  directory.Write("list.json", text);
  const std::string path = directory / "list.json";
  const std::string outcome = OutcomeOfFile(path);
  EXPECT_EQ(outcome, OutcomeOfText(text, path));
  ClusterObjects objects;
  ASSERT_TRUE(Succeeded(AddFile(path, "", objects)));
  EXPECT_EQ(objects.nodes.size(), 500U);
  EXPECT_EQ(objects.machine_config_nodes.size(), 250U);
  EXPECT_EQ(objects.nodes[499].metadata.name, "n499");
  // The list was read in pieces: the parser for all texts would have kept this annotation.
  EXPECT_FALSE(objects.nodes[0].metadata.annotations.contains("example.com/other"));
}

TEST(ClusterObjects, AreReadFromAListWithAnElementThatIsLongerThanTheWindow) {
  const TemporaryDirectory directory;
  Value large = NodeNamed("large");
  large["metadata"]["labels"]["long"] = std::string(2 * json::kReadWindow, 'x');
  const std::string text = ListOf({NodeNamed("a"), large, NodeNamed("b")});
  directory.Write("list.json", text);
  const std::string path = directory / "list.json";
  EXPECT_EQ(OutcomeOfFile(path), OutcomeOfText(text, path));
  EXPECT_THAT(OutcomeOfFile(path), HasSubstr("xxxxxx"));
}

TEST(ClusterObjects, AreReadFromAPipeAsFromAFile) {
  const TemporaryDirectory directory;
  // The last two are not lists of objects: what has been read from the pipe has to be read again.
  const std::string list = ListOf({NodeNamed("a"), ReportNamed("a")});
  for (const std::string& text : {list, LongList().substr(0, 300'000), "---\n" + list + "\n---\n" + list}) {
    directory.Write("file", text);
    const std::string path = directory / "file";
    const Pipe pipe(text);
    const std::string of_pipe = OutcomeOfFile(pipe.path());
    std::string of_file = OutcomeOfFile(path);
    if (const auto place = of_file.find(path); place != std::string::npos) {
      of_file.replace(place, path.size(), pipe.path());
    }
    EXPECT_EQ(of_pipe, of_file);
  }
}

TEST(ClusterObjects, HaveTheSameErrorsWhereverTheErrorIs) {
  const TemporaryDirectory directory;
  const std::string path = directory / "list.json";
  const std::string list = LongList();
  const std::string node = json::ToText(NodeNamed("odd"));
  const auto odd = [&](const std::string& from, const std::string& to) {
    std::string changed = node;
    changed.replace(changed.find(from), from.size(), to);
    return changed;
  };
  const std::vector<std::string> elements = {
      odd("\"v1\"", "\"v1\",\"a\":1,}"),
      odd("\"12\"", "12"),  // A resourceVersion that is no string is an error, although no decision depends on it.
      odd("\"True\"", "true"),
      odd("\"Done\"", "\"Do\x01ne\""),
      odd("\"Done\"", "\"Do\xffne\""),
      odd("\"well\"", "\"\\x\""),
      odd("\"well\"", "1e999"),
      odd("\"kind\":\"Node\"", "\"kind\":1"),
      odd("\"name\":\"odd\"", "\"name\":\"odd\",\"name\":\"even\""),
      odd("\"kind\":\"Node\",", ""),
      "{\"kind\":\"List\",\"items\":[" + node + "]}",
      "7",
      "[",
  };
  for (const std::string& element : elements) {
    for (const std::size_t near : {std::size_t{0}, json::kReadWindow + 1, list.size() - 3000}) {
      std::string text = list;
      const std::size_t end = text.find("\n    },\n", near);
      ASSERT_NE(end, std::string::npos);
      text.insert(end + 7, element + ",");
      directory.Write("list.json", text);
      EXPECT_EQ(OutcomeOfFile(path), OutcomeOfText(text, path)) << element << " near " << near;
    }
  }
  for (const std::string& text :
       {list.substr(0, list.size() - 1), list.substr(0, list.size() / 2), list.substr(0, json::kReadWindow), list + "x",
        "\xef\xbb\xbf" + list, std::string(), std::string("items:\n- kind: Node\n"), std::string("[1, 2")}) {
    directory.Write("list.json", text);
    EXPECT_EQ(OutcomeOfFile(path), OutcomeOfText(text, path)) << text.substr(0, 100);
  }
}

TEST(ClusterObjects, HaveOnlyTheTrueConditionsOfAMachineConfigNodeUnlessNoneIsTrue) {
  const TemporaryDirectory directory;
  Value some = ReportNamed("some");
  Value none = ReportNamed("none");
  Value other = some["status"]["conditions"][0];
  other["type"] = "NodeDegraded";
  other["status"] = "False";
  some["status"]["conditions"] = Value::array({other, some["status"]["conditions"][0]});
  none["status"]["conditions"] = Value::array({other, other});
  directory.Write("list.json", ListOf({some, none}));
  ClusterObjects objects;
  ASSERT_TRUE(Succeeded(AddFile(directory / "list.json", "", objects)));
  ASSERT_EQ(objects.machine_config_nodes.size(), 2U);
  const auto& kept = objects.machine_config_nodes[0].status.conditions;
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].type, "Updated");
  EXPECT_EQ(objects.machine_config_nodes[1].status.conditions.size(), 1U);
}

TEST(ClusterObjects, AreNotReadFromADirectoryOrAFileThatDoesNotExist) {
  const TemporaryDirectory directory;
  const std::string path = directory.path();
  EXPECT_EQ(OutcomeOfFile(path), "error: reading " + path + ": it is a directory; name a file in it");
  EXPECT_EQ(OutcomeOfFile(path + "/none"), "error: reading " + path + "/none: open: No such file or directory");
  EXPECT_EQ(OutcomeOfFile(""), "error: the name of a file is empty");
}

}  // namespace
}  // namespace pintle::ctl
