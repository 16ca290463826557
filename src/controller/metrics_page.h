// SPDX-License-Identifier: Apache-2.0
#pragma once

// The metrics over HTTP: GET of /metrics, and of /healthz for whoever starts this again when it hangs.
//
// The server has threads of its own and is given a text whenever there is another one, once a second at most.

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "event/watches.h"
#include "net/http_server.h"

namespace pintle::controller {

class MetricsPage {
 public:
  static Result<std::unique_ptr<MetricsPage>> Begin(event::Loop& loop, const net::ListenAddress& address,
                                                    std::function<std::string()> text);
  MetricsPage(const MetricsPage&) = delete;
  MetricsPage& operator=(const MetricsPage&) = delete;

  // The text will be asked for soon.
  void Changed();

 private:
  MetricsPage(event::Loop& loop, std::function<std::string()> text);

  void Renew();

  std::function<std::string()> text_;
  event::Timer soon_;
  std::unique_ptr<net::HttpServer> server_;
};

}  // namespace pintle::controller
