// SPDX-License-Identifier: Apache-2.0
#include "net/local_address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/un.h>

namespace pintle::net {
namespace {

TEST(LocalAddress, IsAnAddressOfThisMachineOrOfItsLink) {
  for (const char* host :
       {"127.0.0.1", "127.255.255.255", "169.254.169.254", "169.254.0.0", "0.0.0.0", "0.1.2.3", "[::1]", "[::]",
        "[fe80::1]", "[fe80::1%25eth0]", "[febf::1]", "[::ffff:127.0.0.1]", "[::ffff:169.254.169.254]", "[::127.0.0.1]",
        "localhost", "LOCALHOST", "localhost.", "a.localhost", "a.localhost."}) {
    EXPECT_TRUE(IsLocalHost(host)) << host;
  }
}

// The IPv4 address, such as a9fe:a9fe, follows a prefix of 48, 56, 64 or 96 bits.  It skips byte 8 of the IPv6 address,
// counted from 0.
TEST(LocalAddress, IsALocalAddressBehindTheLocalNat64Prefix) {
  for (const char* host : {"[64:ff9b:1:a9fe:a9:fe00::]", "[64:ff9b:1:a9:fe:a9fe::]", "[64:ff9b:1:12a9:fe:a9fe::]",
                           "[64:ff9b:1::a9:fea9:fe00:0]", "[64:ff9b:1:1234:a9:fea9:fe00:0]", "[64:ff9b:1::a9fe:a9fe]",
                           "[64:ff9b:1:1234:5678:9abc:a9fe:a9fe]", "[64:ff9b:1::7f00:1]", "[64:ff9b:1::6464:64c8]"}) {
    EXPECT_TRUE(IsLocalHost(host)) << host;
  }
}

// 64:ff9b::/96 (NAT64) and 2002::/16 (6to4) contain an IPv4 address; a9fe:a9fe is 169.254.169.254, and 6464:64c8 is
// 100.100.100.200.
TEST(LocalAddress, IsTheMetadataServiceOfACloud) {
  for (const char* host : {"169.254.169.254", "100.100.100.200", "168.63.129.16", "[fd00:ec2::254]",
                           "[fd00:c1::a9fe:a9fe]", "[fd20:ce::254]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b::6464:64c8]",
                           "[2002:a9fe:a9fe::1]", "[::ffff:168.63.129.16]"}) {
    EXPECT_TRUE(IsLocalHost(host)) << host;
  }
}

TEST(LocalAddress, IsNoAddressOfAnotherMachine) {
  for (const char* host : {"128.0.0.1",
                           "126.255.255.255",
                           "169.253.0.1",
                           "169.255.0.1",
                           "10.0.0.1",
                           "192.168.0.1",
                           "1.0.0.0",
                           "[fec0::1]",
                           "[fd00::1]",
                           "[2001:db8::1]",
                           "[::ffff:10.0.0.1]",
                           "[64:ff9b::a00:1]",
                           "[2002:a00:1::1]",
                           "[64:ff9b:1::a00:1]",
                           "[64:ff9b:1:a00:0:100::]",
                           "[64:ff9b:2::a9fe:a9fe]",
                           "100.100.100.201",
                           "[fd00:ec2::253]",
                           "prometheus",
                           "notlocalhost",
                           "localhost.example",
                           "localhostess",
                           "",
                           "[",
                           "127.0.0.1.example"}) {
    EXPECT_FALSE(IsLocalHost(host)) << host;
  }
}

TEST(LoopbackHost, IsReachedWithoutANetwork) {
  for (const char* host : {"127.0.0.1", "127.255.255.255", "[::1]", "[::ffff:127.0.0.1]", "localhost", "LOCALHOST"}) {
    EXPECT_TRUE(IsLoopbackHost(host)) << host;
  }
  for (const char* host :
       {"127.example.com", "127.0.0.1.example", "127.", "169.254.169.254", "[fe80::1]", "10.0.0.1", "[2001:db8::1]",
        "[64:ff9b::7f00:1]", "[2002:7f00:1::1]", "a.localhost", "localhost.example", ""}) {
    EXPECT_FALSE(IsLoopbackHost(host)) << host;
  }
}

TEST(LocalAddress, IsRecognizedAsASocketAddressToo) {
  sockaddr_in four = {};
  four.sin_family = AF_INET;
  ASSERT_EQ(::inet_pton(AF_INET, "169.254.169.254", &four.sin_addr), 1);
  EXPECT_TRUE(IsLocal(reinterpret_cast<const sockaddr&>(four)));
  ASSERT_EQ(::inet_pton(AF_INET, "10.0.0.1", &four.sin_addr), 1);
  EXPECT_FALSE(IsLocal(reinterpret_cast<const sockaddr&>(four)));
  sockaddr_in6 six = {};
  six.sin6_family = AF_INET6;
  ASSERT_EQ(::inet_pton(AF_INET6, "fe80::1", &six.sin6_addr), 1);
  EXPECT_TRUE(IsLocal(reinterpret_cast<const sockaddr&>(six)));
  ASSERT_EQ(::inet_pton(AF_INET6, "2001:db8::1", &six.sin6_addr), 1);
  EXPECT_FALSE(IsLocal(reinterpret_cast<const sockaddr&>(six)));
  sockaddr_un file = {};
  file.sun_family = AF_UNIX;
  EXPECT_TRUE(IsLocal(reinterpret_cast<const sockaddr&>(file)));
}

}  // namespace
}  // namespace pintle::net
