// SPDX-License-Identifier: Apache-2.0
#pragma once

// The HTTP answers of the page.
//
// The page is read-only and has no login: it listens on a loopback address, which `kubectl port-forward` reaches.  A
// website could let its own name point to 127.0.0.1, and read the page through a browser on the same machine.  So
// requests are answered only if they name a loopback host.

#include "dashboard/document.h"
#include "dashboard/updates.h"
#include "net/http_answer.h"

namespace pintle::dashboard {

// `contents` and `version` belong together.
net::HttpAnswer AnswerFrom(const Contents& contents, std::string_view version, Updates& updates,
                           const net::IncomingRequest& request);

}  // namespace pintle::dashboard
