// SPDX-License-Identifier: Apache-2.0
#include "machineconfig/yaml_nodes.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "support/expect.h"

namespace pintle::machineconfig {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

using Documents = std::vector<std::vector<YamlNode>>;

// Returns the nodes of each document of a text.
Documents NodesOf(const std::string& text) {
  Documents documents;
  EXPECT_TRUE(Succeeded(ReadYamlNodes(text, {}, [&](std::vector<YamlNode> nodes) -> Result<bool> {
    documents.push_back(std::move(nodes));
    return true;
  })));
  return documents;
}

TEST(ReadYamlNodes, PutsParentsBeforeTheirChildrenAndKeysBeforeTheirValues) {
  const Documents documents = NodesOf("a: [1, '2']\nb: {}\n");
  ASSERT_THAT(documents, ElementsAre(SizeIs(7)));
  const std::vector<YamlNode>& nodes = documents[0];
  EXPECT_EQ(nodes[0].kind, YamlNodeKind::kMap);
  EXPECT_THAT(nodes[0].children, ElementsAre(1U, 2U, 5U, 6U));
  EXPECT_EQ(nodes[2].kind, YamlNodeKind::kList);
  EXPECT_THAT(nodes[2].children, ElementsAre(3U, 4U));
  EXPECT_TRUE(nodes[3].is_plain);
  EXPECT_FALSE(nodes[4].is_plain);
  EXPECT_EQ(nodes[5].text, "b");
  EXPECT_EQ(nodes[5].line, 2U);
}

TEST(ReadYamlNodes, LeadsAnAliasToTheLastNodeWithItsAnchor) {
  const Documents documents = NodesOf("[&x 1, &x 2, *x]");
  ASSERT_THAT(documents, ElementsAre(SizeIs(4)));
  const std::vector<YamlNode>& nodes = documents[0];
  EXPECT_EQ(nodes[3].kind, YamlNodeKind::kAlias);
  EXPECT_EQ(nodes[3].target, 2U);
  EXPECT_FALSE(nodes[1].is_shared);
  EXPECT_TRUE(nodes[2].is_shared);
}

TEST(ReadYamlNodes, ForgetsAnchorsAtTheEndOfTheirDocument) {
  const auto take = [](std::vector<YamlNode>) -> Result<bool> { return true; };
  EXPECT_THAT(MessageOf(ReadYamlNodes("&x 1\n---\n*x\n", {}, take)),
              HasSubstr("line 3: an alias to an anchor that is unknown"));
}

TEST(ReadYamlNodes, NamesAnUnknownAnchorOnlyIfQuotesAreAllowed) {
  const auto take = [](std::vector<YamlNode>) -> Result<bool> { return true; };
  EXPECT_EQ(MessageOf(ReadYamlNodes("*secret", {.reader = YamlReader::kGo}, take)),
            "yaml: unknown anchor 'secret' referenced");
  EXPECT_EQ(MessageOf(ReadYamlNodes("*secret", {.reader = YamlReader::kGo, .quotes = Quotes::kForbidden}, take)),
            "yaml: line 1: unknown anchor referenced");
}

TEST(ReadYamlNodes, StopsWhenADocumentIsNotTaken) {
  std::size_t documents = 0;
  // The second document is wrong, and is not read.
  EXPECT_TRUE(Succeeded(ReadYamlNodes("a\n---\n*x\n", {}, [&](std::vector<YamlNode>) -> Result<bool> {
    ++documents;
    return false;
  })));
  EXPECT_EQ(documents, 1U);
}

}  // namespace
}  // namespace pintle::machineconfig
