// SPDX-License-Identifier: Apache-2.0
#pragma once

// Things on a node, and states that they can be in.
//
// A resource is a kind of thing: files, units, keys.  Its key identifies one thing and its state describes it.  Both
// are plain data, so that a plan can be made, written down and compared without a machine.  The functions in
// host/ read and change the things.

#include <concepts>
#include <optional>

#include "json/field_list.h"

namespace pintle::resource {

template <typename R>
concept Resource = requires {
  typename R::Key;
  typename R::State;
}
&&json::Described<typename R::State>;

// Demands that a thing is in a state, or that it is absent if there is no state.
template <Resource R>
struct Put {
  typename R::Key key;
  std::optional<typename R::State> want;

  static constexpr auto kFields = json::FieldList{
      json::Required{"key", &Put::key},
      json::Field{"want", &Put::want},
  };
};

}  // namespace pintle::resource
