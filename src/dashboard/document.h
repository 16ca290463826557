// SPDX-License-Identifier: Apache-2.0
#pragma once

// The page as HTML.
//
// The whole page is made here, so that it works without the script.  Its parts that change are pieces: elements,
// each with an ID.  As long as the IDs stay the same, the script gets the changed pieces and puts them in place.  The
// details of a node are no piece: if the piece of that node has changed, the script loads the page again.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "dashboard/cluster_state.h"
#include "dashboard/timeline.h"

namespace pintle::dashboard {

struct Piece {
  std::string id;
  std::string html;  // The whole element.

  bool operator==(const Piece&) const = default;
};

// The contents of a page.
struct Contents {
  ClusterState cluster;
  std::vector<Happening> timeline;  // The oldest comes first.
  std::string unread_kinds;  // The kinds that have not been read yet, such as "nodes, pods"; empty if all were read.
  WallTime now;
};

// Returns all pieces, in the order in which the page has them.
std::vector<Piece> PiecesOf(const Contents& contents);

// Returns the pieces that differ, or nullopt if the lists of IDs differ, so that the page has to be loaded again.
std::optional<std::vector<Piece>> ChangesOf(const std::vector<Piece>& before, const std::vector<Piece>& after);

// Returns the whole page.  The script requests the changes since `version`, which is the version of `contents`.  `node`
// is the node whose details the page shows; empty for none.
std::string DocumentOf(const Contents& contents, std::string_view version, std::string_view node);

}  // namespace pintle::dashboard
