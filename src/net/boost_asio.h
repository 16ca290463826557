// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parts of Boost.Asio that the HTTP server uses.

// The thread sanitizer does not support fences; the locks of Boost's queues give enough order.
#ifdef __SANITIZE_THREAD__
#define BOOST_ASIO_DISABLE_FENCED_BLOCK 1
#endif

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

namespace pintle::net {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

}  // namespace pintle::net
