// SPDX-License-Identifier: Apache-2.0
#include "dashboard/document.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "base/ascii.h"
#include "dashboard/markup.h"

namespace pintle::dashboard {
namespace {

// Longer texts are cut off; these limits are in bytes.
constexpr std::size_t kLongestExplanation = 600;
constexpr std::size_t kLongestDetails = 64 << 10;
constexpr std::size_t kLongestWaveName = 80;
// The grid of a pool shows the names of its nodes if it has at most this many.  In a larger pool, a name appears only
// under the mouse pointer and in screen readers.
constexpr std::size_t kMostNamedNodes = 60;
// A certificate that ends within this time needs attention.
constexpr auto kSoonToExpire = std::chrono::days(30);

// Returns the sign beside the colour, for people who cannot distinguish the colours.
std::string_view SignFor(Activity activity) {
  switch (activity) {
    case Activity::kDone:
      return "✓";
    case Activity::kWaiting:
      return "○";
    case Activity::kDraining:
      return "⇣";
    case Activity::kUpdating:
      return "◐";
    case Activity::kRebooting:
      return "↻";
    case Activity::kNotReady:
      return "!";
    case Activity::kDegraded:
      return "✕";
  }
  return "";
}

// Returns the name of an activity in the style sheet, such as "not-ready".
std::string ClassFor(Activity activity) {
  std::string name(WordFor(activity));
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

// Returns a text such as "2 nodes".
std::string CountText(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// Returns a text such as "1 draining, 2 degraded", without the activities that no node has.
template <typename T>
std::string ActivityCounts(const T& nodes) {
  std::vector<std::string> parts;
  for (const Activity activity : kAllActivities) {
    const std::size_t count = nodes.CountOf(activity);
    if (count > 0) parts.push_back(fmt::format("{} {}", count, WordFor(activity)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string ConfigName(std::string_view config) {
  return config.empty() ? "no config" : fmt::format("<code>{}</code>", Escaped(config));
}

// Returns the query of the URL that opens the details of a node.
std::string QueryFor(std::string_view name) {
  std::string query = "?node=";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = IsLetterOrDigit(c) || c == '-' || c == '.' || c == '_';
    if (is_plain) {
      query += c;
    } else {
      query += fmt::format("%{:02X}", byte);
    }
  }
  return query;
}

// ---- pieces ---------------------------------------------------------------------------------------------------------

Piece Summary(const Contents& contents) {
  const ClusterState& cluster = contents.cluster;
  std::string text;
  if (!contents.unread_kinds.empty()) {
    text = "Not read from the API server yet: " + Escaped(contents.unread_kinds) + ".";
  } else if (cluster.pools.empty()) {
    text = "The cluster has no pools.";
  } else {
    const std::size_t nodes = cluster.node_count();
    text = fmt::format("{} with {}{}{}.", CountText(cluster.pools.size(), "pool"), CountText(nodes, "node"),
                       nodes == 0 ? "" : ": ", ActivityCounts(cluster));
  }
  return {"summary", fmt::format("<p id=\"summary\" role=\"status\">{}</p>", text)};
}

std::string NodeLink(const NodeEntry& node) {
  return fmt::format("<a href=\"{}\">{}</a>", QueryFor(node.name), Escaped(node.name));
}

std::string AttentionItem(const NodeEntry& node) {
  const std::string why = node.explanation.empty() ? std::string("no reason is reported")
                                                   : EscapedLines(node.explanation, kLongestExplanation);
  return fmt::format("<li class=\"{}\"><span class=\"sign\" aria-hidden=\"true\">{}</span> {} is {}: {}</li>",
                     ClassFor(node.activity), SignFor(node.activity), NodeLink(node), WordFor(node.activity), why);
}

std::string AttentionItem(const std::string& pool, const RolloutEntry& rollout) {
  const std::string& why = rollout.mistakes.empty() ? rollout.message : rollout.mistakes;
  return fmt::format("<li>Pool {}: the rollout by {} {}: {}</li>", Escaped(pool), Escaped(rollout.policy),
                     WordsFor(rollout), EscapedLines(why, kLongestExplanation));
}

Piece Attention(const Contents& contents) {
  std::string items;
  for (const PoolEntry& pool : contents.cluster.pools) {
    if (pool.rollout && pool.rollout->needs_person()) items += AttentionItem(pool.name, *pool.rollout);
    for (const PoolCondition& condition : pool.conditions) {
      items += fmt::format("<li>Pool {}: {}: {}</li>", Escaped(pool.name), Escaped(condition.type),
                           EscapedLines(condition.message, kLongestExplanation));
    }
    for (const NodeEntry& node : pool.nodes) {
      if (node.activity == Activity::kDegraded || node.activity == Activity::kNotReady) items += AttentionItem(node);
    }
  }
  for (const Certificate& certificate : contents.cluster.certificates) {
    if (certificate.until > contents.now + kSoonToExpire) break;
    items += fmt::format("<li>The certificate {} of {} {} {}</li>", Escaped(certificate.subject),
                         Escaped(certificate.bundle), certificate.until > contents.now ? "expires at" : "expired at",
                         TimeElement(certificate.until));
  }
  const std::string list =
      items.empty() ? "<p>Nothing needs attention.</p>" : fmt::format("<ul class=\"attention\">{}</ul>", items);
  return {"attention",
          fmt::format("<section id=\"attention\" aria-labelledby=\"attention-title\"><h2 id=\"attention-title\">Needs "
                      "attention</h2>{}</section>",
                      list)};
}

std::string ElementId(std::string_view prefix, std::string_view name) {
  return std::string(prefix) + std::string(name);
}

// Returns the waves as a list.  Each wave has a sign: done, under way, or still to come.
std::string WaveList(const RolloutEntry& rollout) {
  std::string items;
  for (std::size_t i = 0; i < rollout.waves.size(); ++i) {
    const auto number = static_cast<int>(i) + 1;
    const bool is_done = number < rollout.wave || rollout.is_complete();
    const Activity activity = is_done                  ? Activity::kDone
                              : number == rollout.wave ? Activity::kUpdating
                                                       : Activity::kWaiting;
    const std::string_view word = is_done ? "done" : number == rollout.wave ? "under way" : "to come";
    items += fmt::format(
        "<li class=\"{}\"{}><span class=\"sign\" aria-hidden=\"true\">{}</span> {}<span class=\"unseen\">: "
        "{}</span></li>",
        ClassFor(activity), number == rollout.wave && !is_done ? " aria-current=\"step\"" : "", SignFor(activity),
        EscapedLines(rollout.waves[i], kLongestWaveName), word);
  }
  return items.empty() ? "" : "<ol class=\"waves\" aria-label=\"waves\">" + items + "</ol>";
}

// Returns a paragraph such as "Wave 2 of 4, 11 of 40 nodes: the rollout by workers waits for an approval, since 07:30."
// and the list of the waves.  Returns an empty text for a pool without a policy.
std::string RolloutText(const std::optional<RolloutEntry>& rollout) {
  if (!rollout) return "";
  std::string text = "<p class=\"rollout\">";
  if (!rollout->waves.empty()) {
    text += fmt::format("Wave {} of {}, {} of {}: ", rollout->wave, rollout->waves.size(), rollout->updated,
                        CountText(static_cast<std::size_t>(std::max(rollout->nodes, 0)), "node"));
  }
  text += fmt::format("the rollout by {} {}", Escaped(rollout->policy), WordsFor(*rollout));
  if (rollout->since && rollout->mistakes.empty()) text += ", since " + TimeElement(*rollout->since);
  text += ". ";
  const std::string& why = rollout->mistakes.empty() ? rollout->message : rollout->mistakes;
  if (!why.empty() && !rollout->is_complete()) text += EscapedLines(why, kLongestExplanation) + ". ";
  const bool awaits_window = rollout->phase == "AwaitingWindow" || rollout->phase == "Frozen";
  if (awaits_window && rollout->window_opens)
    text += "The window opens at " + TimeElement(*rollout->window_opens) + ".";
  return text + "</p>" + WaveList(*rollout);
}

Piece PoolHead(const PoolEntry& pool) {
  const std::string id = ElementId("pool-", pool.name);
  const std::string name = Escaped(pool.name);
  const std::string head = fmt::format("<div id=\"{}\"><h3>{}{}</h3>", Escaped(id), name,
                                       pool.is_paused ? " <span class=\"paused\">‖ paused</span>" : "");
  if (pool.nodes.empty()) {
    return {id, fmt::format("{}<p>No nodes. The target is {}.</p></div>", head, ConfigName(pool.target))};
  }
  const std::size_t done = pool.CountOf(Activity::kDone);
  return {id, fmt::format("{0}<p>{1} of {2} have {3}. {4}.</p><progress max=\"{5}\" value=\"{1}\" "
                          "aria-label=\"nodes of {6} that are done\"></progress>{7}</div>",
                          head, done, CountText(pool.nodes.size(), "node"), ConfigName(pool.target),
                          ActivityCounts(pool), pool.nodes.size(), name, RolloutText(pool.rollout))};
}

std::string CellId(const NodeEntry& node) { return ElementId("node-", node.name); }

// Returns a digest of those details of the node that are not in its cell anyway.
std::string DetailsDigest(const NodeEntry& node) {
  const std::string details = fmt::format("{}\n{}\n{}", node.config, node.desired_config, node.explanation);
  return fmt::format("{:x}", std::hash<std::string>()(details));
}

// The details of a node are no piece, since each browser may show the details of another node.  The script renews the
// details when the cell of their node has changed, so the cell has a digest of the details.
Piece NodeCell(const NodeEntry& node, bool is_named) {
  const std::string id = CellId(node);
  const std::string name = Escaped(node.name);
  return {
      id,
      fmt::format(
          "<li id=\"{}\" class=\"{}\" data-digest=\"{}\"><a href=\"{}\" title=\"{}: {}\"><span class=\"sign\" "
          "aria-hidden=\"true\">{}</span><span class=\"{}\">{}<span class=\"unseen\">: {}</span></span></a></li>",
          Escaped(id), ClassFor(node.activity), DetailsDigest(node), QueryFor(node.name), name, WordFor(node.activity),
          SignFor(node.activity), is_named ? "name" : "unseen", name, WordFor(node.activity))};
}

Piece Drains(const Contents& contents) {
  std::string rows;
  for (const PoolEntry& pool : contents.cluster.pools) {
    for (const NodeEntry& node : pool.nodes) {
      if (node.activity != Activity::kDraining) continue;
      rows += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td></tr>", NodeLink(node),
                          node.drain_began ? TimeElement(*node.drain_began) : "not yet",
                          EscapedLines(node.explanation, kLongestExplanation));
    }
  }
  const std::string table =
      rows.empty() ? "<p>No node is being drained.</p>"
                   : fmt::format(
                         "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"drains-title\"><table>"
                         "<thead><tr><th scope=\"col\">node</th><th scope=\"col\">since</th><th "
                         "scope=\"col\">waits for</th></tr></thead><tbody>{}</tbody></table></div>",
                         rows);
  return {"drains", fmt::format("<section id=\"drains\" aria-labelledby=\"drains-title\"><h2 "
                                "id=\"drains-title\">Drains</h2>{}</section>",
                                table)};
}

Piece Certificates(const Contents& contents) {
  std::string rows;
  for (const Certificate& certificate : contents.cluster.certificates) {
    const auto days = std::chrono::floor<std::chrono::days>(certificate.until - contents.now).count();
    rows += fmt::format("<tr><td>{}</td><th scope=\"row\">{}</th><td>{}</td><td class=\"number\">{}</td></tr>",
                        Escaped(certificate.bundle), Escaped(certificate.subject), TimeElement(certificate.until),
                        days < 0 ? "ended" : std::to_string(days));
  }
  const std::string table =
      rows.empty()
          ? "<p>The ControllerConfig lists no certificates.</p>"
          : fmt::format(
                "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"certificates-title\"><table>"
                "<thead><tr><th scope=\"col\">bundle</th><th scope=\"col\">subject</th><th scope=\"col\">valid "
                "until</th><th scope=\"col\">days left</th></tr></thead><tbody>{}</tbody></table></div>",
                rows);
  return {"certificates", fmt::format("<section id=\"certificates\" aria-labelledby=\"certificates-title\"><h2 "
                                      "id=\"certificates-title\">Certificates</h2>{}</section>",
                                      table)};
}

Piece Timeline(const Contents& contents) {
  std::string items;
  for (auto at = contents.timeline.rbegin(); at != contents.timeline.rend(); ++at) {
    items += fmt::format("<li>{} {}</li>", TimeElement(at->at), Escaped(at->text));
  }
  const std::string list = items.empty() ? "<p>Nothing has changed since this replica began to watch.</p>"
                                         : fmt::format("<ol class=\"timeline\">{}</ol>", items);
  return {"timeline", fmt::format("<section id=\"timeline\" aria-labelledby=\"timeline-title\"><h2 "
                                  "id=\"timeline-title\">Timeline</h2>{}</section>",
                                  list)};
}

// ---- the details of one node ----------------------------------------------------------------------------------------

// Returns the details of a node; empty if `name` is empty.
std::string Details(const Contents& contents, std::string_view name) {
  if (name.empty()) return {};
  for (const PoolEntry& pool : contents.cluster.pools) {
    for (const NodeEntry& node : pool.nodes) {
      if (node.name != name) continue;
      return fmt::format(
          "<section id=\"details\" class=\"{}\" data-cell=\"{}\" aria-labelledby=\"details-title\">"
          "<h2 id=\"details-title\">{}</h2><dl>"
          "<dt>state</dt><dd><span class=\"sign\" aria-hidden=\"true\">{}</span> {}</dd><dt>pool</dt><dd>{}</dd>"
          "<dt>current config</dt><dd>{}</dd><dt>desired config</dt><dd>{}</dd>{}</dl>"
          "<p><a href=\".\">Close</a></p></section>",
          ClassFor(node.activity), Escaped(CellId(node)), Escaped(node.name), SignFor(node.activity),
          WordFor(node.activity), Escaped(pool.name), ConfigName(node.config), ConfigName(node.desired_config),
          node.explanation.empty() ? ""
                                   : fmt::format("<dt>why</dt><dd><pre tabindex=\"0\">{}</pre></dd>",
                                                 EscapedLines(node.explanation, kLongestDetails)));
    }
  }
  return fmt::format("<section id=\"details\"><p>No pool has a node {}. <a href=\".\">Close</a></p></section>",
                     Escaped(name));
}

std::string Legend() {
  std::string items;
  for (const Activity activity : kAllActivities) {
    items += fmt::format("<li class=\"{}\"><span class=\"sign\" aria-hidden=\"true\">{}</span> {}</li>",
                         ClassFor(activity), SignFor(activity), WordFor(activity));
  }
  return "<ul class=\"legend\" aria-label=\"the signs of nodes\">" + items + "</ul>";
}

}  // namespace

std::vector<Piece> PiecesOf(const Contents& contents) {
  std::vector<Piece> pieces = {Summary(contents), Attention(contents)};
  for (const PoolEntry& pool : contents.cluster.pools) {
    pieces.push_back(PoolHead(pool));
    const bool is_named = pool.nodes.size() <= kMostNamedNodes;
    for (const NodeEntry& node : pool.nodes) pieces.push_back(NodeCell(node, is_named));
  }
  pieces.push_back(Drains(contents));
  pieces.push_back(Certificates(contents));
  pieces.push_back(Timeline(contents));
  return pieces;
}

std::optional<std::vector<Piece>> ChangesOf(const std::vector<Piece>& before, const std::vector<Piece>& after) {
  if (before.size() != after.size()) return std::nullopt;
  std::vector<Piece> changes;
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (before[i].id != after[i].id) return std::nullopt;
    if (before[i].html != after[i].html) changes.push_back(after[i]);
  }
  return changes;
}

std::string DocumentOf(const Contents& contents, std::string_view version, std::string_view node) {
  const std::vector<Piece> pieces = PiecesOf(contents);
  auto piece = pieces.begin();
  const auto next_html = [&] { return (piece++)->html; };
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\" data-version=\"{}\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>Pintle</title>"
      "<link rel=\"icon\" href=\"icon.svg\"><link rel=\"stylesheet\" href=\"style.css\">"
      "<script src=\"script.js\" defer></script></head>\n<body><a class=\"skip\" href=\"#pools\">Skip to the pools</a>"
      "<header><h1>Pintle</h1>",
      Escaped(version));
  html += next_html();
  html += "<p id=\"connection\" hidden></p></header>\n<main>";
  html += Details(contents, node);
  html += next_html();
  html += "<section id=\"pools\" aria-labelledby=\"pools-title\"><h2 id=\"pools-title\">Pools</h2>" + Legend();
  for (const PoolEntry& pool : contents.cluster.pools) {
    html += fmt::format("<article class=\"{}\">", pool.nodes.size() <= kMostNamedNodes ? "few" : "many");
    html += next_html();
    html += fmt::format("<ul class=\"nodes\" aria-label=\"nodes of {}\">", Escaped(pool.name));
    for (std::size_t i = 0; i < pool.nodes.size(); ++i) html += next_html();
    html += "</ul></article>\n";
  }
  html += "</section>";
  while (piece != pieces.end()) html += next_html();
  return html + "</main></body></html>\n";
}

}  // namespace pintle::dashboard
