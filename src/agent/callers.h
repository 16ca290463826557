// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who calls the agent over the system bus, and whether they may: root may at once, others when polkit allows it.
//
// A call is held until that is known, and polkit may wait for a password for minutes.  So that nobody can take from
// others what is there for all, every user but root has a few places, whatever number of connections it has, and gets
// them back when the connection goes.  Root needs none.  Of a connection whose user the bus has not told yet, a few
// calls are held as well, so that only the one who floods it is refused.

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
// This many calls of all users may wait for it.  The bus lets nobody wait for more than 128 answers at a time, and the
// agent waits for others than polkit's as well.
inline constexpr std::size_t kPlacesOfAll = 64;
// This many calls of one connection are held until the bus has said whose it is.
inline constexpr std::size_t kHeldUnknown = 16;

// All is done without waiting, on the thread of the loop that serves the connection.
class Callers {
 public:
  struct Wish {
    std::string action;                                   // Of polkit; empty: it is for root alone.
    std::function<void(sd_bus_message* call)> carry_out;  // Answers the call.
  };

  // The connection must outlive this.
  explicit Callers(::sd_bus* bus);
  ~Callers();
  Callers(const Callers&) = delete;
  Callers& operator=(const Callers&) = delete;

  // Carries it out or answers with the reason why not, now or later.
  void Take(::sd_bus_message* call, Wish wish);

 private:
  class Caller;

  void Forget(const Caller& caller);
  bool TakePlace(std::uint32_t user);
  void GiveBackPlace(std::uint32_t user);

  ::sd_bus* bus_;
  std::map<std::uint32_t, std::size_t> places_;  // Those that are taken, by user.
  std::size_t places_of_all_ = 0;
  std::uint64_t questions_ = 0;
  // By the names of their connections.  Destroyed first: they give back their places.
  std::map<std::string, std::unique_ptr<Caller>> callers_;
};

}  // namespace pintle::agent
