// SPDX-License-Identifier: Apache-2.0
#pragma once

// The HTTP answers of the page.
//
// The page is read-only and has no login of its own.  At a loopback address, which `kubectl port-forward` reaches, it
// is served to everyone.  A website could let its own name point to 127.0.0.1, and read the page through a browser on
// the same machine.  So a request at a loopback address is answered only if it names a loopback host.  At other
// addresses, each request needs a token (controller/page_guard.h), which no browser sends by itself, and may name any
// host.

#include "dashboard/document.h"
#include "dashboard/updates.h"
#include "net/http_answer.h"

namespace pintle::dashboard {

enum class Hosts { kLoopback, kAny };

// Returns the answer to a request.  `version` is the version of `contents`.  The request must name one of the `hosts`.
net::HttpAnswer AnswerFrom(const Contents& contents, std::string_view version, Updates& updates, Hosts hosts,
                           const net::IncomingRequest& request);

// Returns whether the answer to this request is the stream of changes.
bool WantsStream(const net::IncomingRequest& request);

}  // namespace pintle::dashboard
