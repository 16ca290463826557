// SPDX-License-Identifier: Apache-2.0
#include "ctl/generated_output.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pintle::ctl {
namespace {

generated::MachineConfig Config(const std::string& name, const std::string& text) {
  generated::MachineConfig config;
  config.name = name;
  config.role = "worker";
  config.config = text;
  return config;
}

// tests/vectors/generated compares this text with lists that were recorded from the Machine Config Operator, so the
// white space matters.
TEST(DigestsText, HasTheNameTheFileAndTheDigestOfEachConfig) {
  EXPECT_EQ(DigestsText({Config("00-worker", "{}"), Config("01-worker-kubelet", "{ }")}),
            "[\n"
            " {\n"
            "  \"name\": \"00-worker\",\n"
            "  \"file\": \"00-worker.json\",\n"
            "  \"sha256OfSpecConfigRaw\": \"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a\"\n"
            " },\n"
            " {\n"
            "  \"name\": \"01-worker-kubelet\",\n"
            "  \"file\": \"01-worker-kubelet.json\",\n"
            "  \"sha256OfSpecConfigRaw\": \"257c1be96ae69f4b01c2c69bdb6d78605f59175819fb007d0bf245bf48444c4a\"\n"
            " }\n"
            "]\n");
}

TEST(DigestsText, IsAnEmptyListWithoutConfigs) { EXPECT_EQ(DigestsText({}), "[]\n"); }

}  // namespace
}  // namespace pintle::ctl
