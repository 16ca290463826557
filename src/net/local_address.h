// SPDX-License-Identifier: Apache-2.0
#pragma once

// Addresses whose servers trust whoever reaches them.
//
// These are addresses that only this machine or only its own link can reach, and those of clouds' metadata services.  A
// service that sends requests to URLs of others must not send them there.

#include <string_view>

struct sockaddr;

namespace pintle::net {

// Returns whether this is a loopback address (127.0.0.0/8, ::1), a link-local one (169.254.0.0/16, fe80::/10), one that
// the kernel takes for this machine (0.0.0.0/8, ::), or that of a metadata service.  An IPv6 address that contains an
// IPv4 address counts as the IPv4 address: a mapped address, or one whose packets a gateway (NAT64) or a tunnel (6to4)
// forwards to the IPv4 address.  In the local NAT64 prefix 64:ff9b:1::/48, all places where the IPv4 address can be are
// checked.  Addresses of other families, such as AF_UNIX, are local.
bool IsLocal(const sockaddr& address);

// Returns whether the host of a URL is a local address, the name localhost, or a name that ends in ".localhost".
bool IsLocalHost(std::string_view host);

// Returns whether the host of a URL is a loopback address or the name localhost, so that no other machine sees what is
// sent to it.
bool IsLoopbackHost(std::string_view host);

}  // namespace pintle::net
