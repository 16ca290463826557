// SPDX-License-Identifier: Apache-2.0
#pragma once

// One look at all pools: who is told what, what their statuses say, and which labels, taints and annotations of nodes
// are not as they should be.
//
// All that a node needs is one patch, and a pool's status is written once, as it will be when the nodes have been told.
// Where nothing has changed, nothing is written.

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "controller/changes.h"
#include "controller/rosters.h"
#include "controller/unwritten.h"
#include "controller/verdict.h"
#include "controller/view.h"
#include "pool/candidates.h"
#include "pool/rollout.h"

namespace pintle::controller {

// Adds to a pool's status what else there is to be said of it.
using StatusAddition = std::function<void(const api::MachineConfigPool& pool, api::MachineConfigPoolStatus& status)>;

struct RolloutInputs {
  const View& view;
  const Rosters& rosters;  // Of the view.
  const Verdicts& verdicts;
  // Pools for which something is about to be rendered: they are left alone until it is.
  const pool::NodeNames& rendering;
  const pool::NodeNames& undrainable;
  pool::Features features;
  std::optional<api::Time> now;
  StatusAddition addition = {};
  // Nodes that are told of no other config yet, although it is their turn.
  const pool::NodeNames* awaited = nullptr;
  UnwrittenNodes unwritten = {};
  // Why the nodes are not known, in the server's words: their pools say so, and nothing else is looked at.
  std::string blind = {};
};

Changes RolloutPass(const RolloutInputs& inputs);

}  // namespace pintle::controller
