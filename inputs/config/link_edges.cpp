#include "inputs/config/link_edges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <tuple>

#include "core/engine/error.hpp"

namespace atl {
namespace {

constexpr char kEdgesKey[] = "link.edges";

/// Reads numbers and the signs between them from one word.
class EdgeReader {
 public:
  explicit EdgeReader(const std::string& text) : text_(text), at_(text.data()), end_(text.data() + text.size()) {}

  template <class T> T number(double least, double most) {
    T value{};
    const auto [next, error] = std::from_chars(at_, end_, value);
    const auto number = static_cast<double>(value);
    if (error != std::errc{} || !(number >= least && number <= most))  // nor is `nan` one
      refuse(fmt::format("a number from {} to {} is missing", least, most));
    at_ = next;
    return value;
  }
  bool take(char sign) { return at_ != end_ && *at_ == sign && (++at_, true); }
  bool empty() const { return at_ == end_; }
  [[noreturn]] void refuse(const std::string& why) const {
    throw InputError(kEdgesKey,
                     fmt::format("`{}` is no link, {} at `{}`: write A-B, A-B:GBPS, A-B:GBPS/GBPS, each with @CYCLES "
                                 "or without, such as 0-1:1500/1200@40",
                                 text_, why, std::string(at_, end_)));
  }

 private:
  const std::string& text_;
  const char *at_, *end_;
};

LinkEdge read_edge(const std::string& text, const LinkConfig& link, std::uint32_t chips) {
  EdgeReader word(text);
  LinkEdge e{0, 0, link.bandwidth_gbps, link.bandwidth_gbps, link.latency_cycles};
  e.a = word.number<std::uint32_t>(0, chips - 1);
  if (!word.take('-')) word.refuse("`-` is missing");
  e.b = word.number<std::uint32_t>(0, chips - 1);
  if (word.take(':')) {
    e.gbps = e.back_gbps = word.number<double>(0.01, 1e6);
    if (word.take('/')) e.back_gbps = word.number<double>(0.01, 1e6);
  }
  if (word.take('@')) e.latency_cycles = word.number<std::uint32_t>(1, 1e6);
  if (!word.empty()) word.refuse("something else stands");
  if (e.a == e.b) word.refuse("both ends are one chip,");
  if (e.a > e.b) std::swap(e.a, e.b), std::swap(e.gbps, e.back_gbps);
  return e;
}

}  // namespace

std::vector<Wire> wires(const SystemConfig& c) {
  if (c.link.topology != Topology::graph) return {{"`link.bandwidth_gbps`", c.link.bandwidth_gbps, c.link.latency_cycles}};
  std::vector<Wire> all;
  for (const LinkEdge& e : link_edges(c.link, c.chips)) {
    all.push_back({fmt::format("link {}-{} of `link.edges`", e.a, e.b), e.gbps, e.latency_cycles});
    all.push_back({fmt::format("link {}-{} of `link.edges`", e.b, e.a), e.back_gbps, e.latency_cycles});
  }
  return all;
}

bool edges_state(const std::string& edges, char sign) {
  std::istringstream words(edges);
  std::string word;
  while (words >> word)
    if (word.find(sign) == word.npos) return false;
  return true;
}

std::vector<std::vector<std::uint32_t>> hops_between(const std::vector<LinkEdge>& edges, std::uint32_t chips) {
  std::vector<std::vector<std::uint32_t>> hops(chips, std::vector<std::uint32_t>(chips, chips));
  for (std::uint32_t c = 0; c < chips; ++c) hops[c][c] = 0;
  for (const LinkEdge& e : edges) hops[e.a][e.b] = hops[e.b][e.a] = 1;
  for (std::uint32_t via = 0; via < chips; ++via) {
    for (auto& from : hops)
      for (std::uint32_t to = 0; to < chips; ++to) from[to] = std::min(from[to], from[via] + hops[via][to]);
  }
  return hops;
}

std::vector<LinkEdge> link_edges(const LinkConfig& link, std::uint32_t chips) {
  std::vector<LinkEdge> edges;
  std::istringstream words(link.edges);
  for (std::string word; words >> word;) edges.push_back(read_edge(word, link, chips));
  const auto ends = [](const LinkEdge& e) { return std::tie(e.a, e.b); };
  std::sort(edges.begin(), edges.end(), [&](const auto& x, const auto& y) { return ends(x) < ends(y); });
  for (std::size_t i = 1; i < edges.size(); ++i) {
    if (ends(edges[i]) == ends(edges[i - 1]))
      throw InputError(kEdgesKey, fmt::format("links chips {} and {} twice: give one link the bandwidth of both", edges[i].a,
                                              edges[i].b));
  }
  const auto hops = hops_between(edges, chips);
  for (std::uint32_t a = 0; a < chips; ++a) {
    for (std::uint32_t b = 0; b < chips; ++b) {
      if (hops[a][b] >= chips && a != b)
        throw InputError(kEdgesKey, fmt::format("leads nowhere from chip {} to chip {}: link all {} chips", a, b, chips));
      if (hops[a][b] > kMaxHops)
        throw InputError(kEdgesKey,
                         fmt::format("has chips {} and {} {} links apart, and {} are the most", a, b, hops[a][b], kMaxHops));
    }
  }
  return edges;
}

}  // namespace atl
