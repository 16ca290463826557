// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides who may give orders over the system bus: root may always give orders, and other users if polkit allows it.
//
// A call is held until polkit's answer is known, and polkit may wait for a password for minutes.  The number of held
// calls is limited, so that no user can lock out other users.  Each call that waits for polkit takes a place, and frees
// it when polkit has decided, when polkit takes too long, or when the caller's connection is closed.  A user has only a
// few places, however many connections that user has.  The calls of root do not wait for polkit and need no place.
//
// Before a call can wait for polkit, the bus has to name the user of its connection.  Until then only a few calls of
// the connection are held, so that a client that floods the agent harms only itself.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

struct sd_bus;
struct sd_bus_message;

namespace pintle::agent {

// This many calls of one user may wait for polkit at a time.
inline constexpr std::size_t kPlacesOfUser = 4;
// This many calls of all users may wait for polkit.  The bus lets no client wait for more than 128 replies at a time,
// and the agent also waits for replies of other services.
inline constexpr std::size_t kPlacesOfAll = 64;
// This many calls of one connection are held until the bus has named its user.
inline constexpr std::size_t kCallsOfUnknownUser = 16;

// The functions do not block, and run on the thread of the loop that serves the connection.
class Callers {
 public:
  struct Request {
    std::string action;  // The polkit action to check; if empty, only root may do this.
    std::function<void(sd_bus_message* call)> carry_out;  // Carries out the call and replies to it.
  };

  // The bus must outlive this object.
  explicit Callers(::sd_bus* bus);
  ~Callers();
  Callers(const Callers&) = delete;
  Callers& operator=(const Callers&) = delete;

  // Carries out the request, or replies with the reason why it is refused.  Either may happen after this returns.
  void CarryOutIfAllowed(::sd_bus_message* call, Request request);

 private:
  class Caller;

  // Removes and destroys a caller.
  void Forget(const Caller& caller);
  // Returns false if no place is free.
  bool TakePlace(std::uint32_t user);
  void GiveBackPlace(std::uint32_t user);

  ::sd_bus* bus_;
  std::map<std::uint32_t, std::size_t> places_;  // The places that are taken, by user.
  std::size_t places_of_all_ = 0;
  std::uint64_t questions_ = 0;  // The number of questions to polkit so far; it is the id of the latest one.
  // The callers, by the names of their connections.  Destroyed first, since they give back their places.
  std::map<std::string, std::unique_ptr<Caller>> callers_;
};

}  // namespace pintle::agent
