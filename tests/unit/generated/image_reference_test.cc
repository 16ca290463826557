// SPDX-License-Identifier: Apache-2.0
#include "generated/image_reference.h"

#include <gtest/gtest.h>

namespace pintle::generated {
namespace {

const std::string kDigits(64, 'a');

TEST(RepositoryOf, IsThePartBeforeTagAndDigest) {
  for (const std::string& tail :
       {std::string(), std::string(":4.20"), "@sha256:" + kDigits, ":4.20@sha256:" + kDigits}) {
    const auto repository = RepositoryOf("r.test:5000/ns/release" + tail);
    ASSERT_TRUE(repository) << tail;
    EXPECT_EQ(*repository, "r.test:5000/ns/release");
  }
}

TEST(RepositoryOf, RefusesANameThatIsNotComplete) {
  for (const std::string image :
       {"", "release", "release:latest", "ns/release", "not a ref", "docker.io/release", "index.docker.io/ns/release",
        "r.test/Release", "r.test", "HOST/release", "[2001:db8::1]:5000/release"}) {
    EXPECT_FALSE(RepositoryOf(image)) << image;
  }
  EXPECT_TRUE(RepositoryOf("docker.io/library/release:1"));
  EXPECT_TRUE(RepositoryOf("localhost/release"));
}

TEST(CheckImageName, HasTheErrorOfTheContainerTools) {
  struct Row {
    std::string name;
    std::string error;  // Empty if the reference is valid.
  };
  for (const Row& row : {
           Row{"s.test/r", ""},
           {"r", ""},
           {"S.test/r", ""},
           {"s.test/a__b/c---d/e.f", ""},
           {"s.test/r@sha256:" + kDigits, ""},
           {"Bad Repo", "invalid reference format: repository name must be lowercase"},
           {"s.test/Upper", "invalid reference format: repository name must be lowercase"},
           // A first part without a dot or a port is not a host.
           {"UPPER/r", "invalid reference format: repository name must be lowercase"},
           {"[::1]:5000/r", "invalid reference format"},
           {"", "invalid reference format"},
           {"s.test/a b", "invalid reference format"},
           {"s.test/a..b", "invalid reference format"},
           {"s.test/a___b", "invalid reference format"},
           {"s.test//b", "invalid reference format"},
           {"s.test/r:", "invalid reference format"},
           {"s.test/r:-", "invalid reference format"},
           {"s.test/r@sha256:abc", "invalid reference format"},
           {"http://s.test/r", "invalid reference format"},
           {kDigits, "invalid repository name (" + kDigits + "), cannot specify 64-byte hexadecimal strings"},
           {"s.test/r@md5:" + kDigits, "unsupported digest algorithm"},
           {"s.test/r@sha512:" + kDigits, "invalid checksum digest length"},
           {"s.test/r@sha256:" + std::string(64, 'A'), "invalid checksum digest format"},
           {"s.test/" + std::string(300, 'a'), "repository name must not be more than 255 characters"},
       }) {
    const auto checked = CheckImageName(row.name);
    EXPECT_EQ(checked ? "" : checked.error().message(), row.error) << row.name;
  }
}

TEST(IsRegistryOrRepository, AcceptsAHostWithOrWithoutARepository) {
  for (const std::string_view scope : {"r.test", "r.test:5000", "R.test", "localhost", "r.test/ns/app-1_b"}) {
    EXPECT_TRUE(IsRegistryOrRepository(scope)) << scope;
  }
  for (const std::string_view scope :
       {"", "bad source", "Bad_Source!", "bad_source", "r.test/", "r.test/Upper", "r.test/a:tag", "r.test/a@sha256",
        "*.w.test", "http://m.test", "-r.test", "r.test:", "r..test", "[::1", "[::1]x", "[::1]:1/a"}) {
    EXPECT_FALSE(IsRegistryOrRepository(scope)) << scope;
  }
}

}  // namespace
}  // namespace pintle::generated
