#include "inputs/ptx/modifiers.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "inputs/ptx/matrix_shape.hpp"
#include "inputs/ptx/opcode_table.hpp"

namespace atl::ptx {
namespace {

template <typename T> using Named = std::pair<std::string_view, T>;

template <typename T, std::size_t N> bool set_from(const Named<T> (&table)[N], std::string_view word, T& value) {
  const auto at = std::find_if(std::begin(table), std::end(table), [&](const Named<T>& e) { return e.first == word; });
  if (at == std::end(table)) return false;
  value = at->second;
  return true;
}

bool one_of(Op op, std::initializer_list<Op> ops) { return std::find(ops.begin(), ops.end(), op) != ops.end(); }

constexpr Named<Flag> kFlags[] = {
    {"ftz", kFtz},          {"sat", kSat},           {"satfinite", kSatFinite},
    {"approx", kApprox},    {"full", kFull},         {"cc", kCarryOut},
    {"aligned", kAligned},  {"volatile", kVolatile}, {"nc", kNonCoherent},
    {"wrap", kWrap},        {"clamp", kClamp},       {"shiftamt", kShiftAmount},
    {"NaN", kNan},          {"xorsign", kXorSign},   {"relu", kRelu},
    {"noftz", kNoFtz},      {"level", kLevel},       {"grad", kGrad},
    {"trap", kTrap},        {"zero", kZero},         {"noComplete", kNoComplete},
    {"noinc", kNoComplete}, {"parity", kParity},     {"uni", kUni},
    {"sync", kSync},        {"trans", kTrans},
};

constexpr Named<Compare> kCompares[] = {
    {"eq", Compare::eq},   {"ne", Compare::ne},   {"lt", Compare::lt},   {"le", Compare::le},   {"gt", Compare::gt},
    {"ge", Compare::ge},   {"lo", Compare::lo},   {"ls", Compare::ls},   {"hi", Compare::hi},   {"hs", Compare::hs},
    {"equ", Compare::equ}, {"neu", Compare::neu}, {"ltu", Compare::ltu}, {"leu", Compare::leu}, {"gtu", Compare::gtu},
    {"geu", Compare::geu}, {"num", Compare::num}, {"nan", Compare::nan},
};
constexpr Named<BoolOp> kBoolOps[] = {{"and", BoolOp::and_}, {"or", BoolOp::or_}, {"xor", BoolOp::xor_}};
constexpr Named<Part> kParts[] = {{"lo", Part::lo}, {"hi", Part::hi}, {"wide", Part::wide}};
constexpr Named<Round> kRounds[] = {
    {"rn", Round::rn},   {"rz", Round::rz},   {"rm", Round::rm},   {"rp", Round::rp},   {"rni", Round::rni},
    {"rzi", Round::rzi}, {"rmi", Round::rmi}, {"rpi", Round::rpi}, {"rna", Round::rna},
};
constexpr Named<Scope> kScopes[] = {
    {"cta", Scope::cta}, {"cluster", Scope::cluster}, {"gpu", Scope::gpu}, {"gl", Scope::gpu}, {"sys", Scope::sys}};
constexpr Named<Order> kOrders[] = {
    {"weak", Order::weak},       {"relaxed", Order::relaxed}, {"acquire", Order::acquire}, {"release", Order::release},
    {"acq_rel", Order::acq_rel}, {"sc", Order::sc},           {"mmio", Order::mmio},
};
constexpr Named<Cache> kCaches[] = {{"ca", Cache::ca}, {"cg", Cache::cg}, {"cs", Cache::cs}, {"lu", Cache::lu},
                                    {"cv", Cache::cv}, {"wb", Cache::wb}, {"wt", Cache::wt}};
constexpr Named<Geometry> kGeometries[] = {
    {"1d", Geometry::d1},       {"2d", Geometry::d2},     {"3d", Geometry::d3},
    {"a1d", Geometry::a1d},     {"a2d", Geometry::a2d},   {"cube", Geometry::cube},
    {"acube", Geometry::acube}, {"2dms", Geometry::d2ms}, {"a2dms", Geometry::a2dms},
};

constexpr Named<Mode> kAtomics[] = {
    {"add", Mode::add},   {"min", Mode::min},  {"max", Mode::max},   {"and", Mode::and_},
    {"or", Mode::or_},    {"xor", Mode::xor_}, {"inc", Mode::inc},   {"dec", Mode::dec},
    {"exch", Mode::exch}, {"cas", Mode::cas},  {"popc", Mode::popc},
};
constexpr Named<Mode> kShuffles[] = {{"up", Mode::up}, {"down", Mode::down}, {"bfly", Mode::bfly}, {"idx", Mode::idx}};
constexpr Named<Mode> kVotes[] = {{"all", Mode::all}, {"any", Mode::any}, {"uni", Mode::uni}, {"ballot", Mode::ballot}};
constexpr Named<Mode> kPermutes[] = {{"f4e", Mode::f4e}, {"b4e", Mode::b4e}, {"rc8", Mode::rc8},
                                     {"ecl", Mode::ecl}, {"ecr", Mode::ecr}, {"rc16", Mode::rc16}};
constexpr Named<Mode> kTests[] = {{"finite", Mode::finite}, {"infinite", Mode::infinite},
                                  {"number", Mode::number}, {"notanumber", Mode::notanumber},
                                  {"normal", Mode::normal}, {"subnormal", Mode::subnormal}};
constexpr Named<Mode> kShifts[] = {{"l", Mode::left}, {"r", Mode::right}};
constexpr Named<Mode> kCopies[] = {{"async", Mode::copy},
                                   {"commit_group", Mode::commit_group},
                                   {"wait_group", Mode::wait_group},
                                   {"wait_all", Mode::wait_all}};
constexpr Named<Mode> kMbarriers[] = {
    {"init", Mode::init},
    {"inval", Mode::inval},
    {"arrive", Mode::arrive},
    {"arrive_drop", Mode::arrive_drop},
    {"test_wait", Mode::test_wait},
    {"try_wait", Mode::try_wait},
    {"pending_count", Mode::pending_count},
    {"expect_tx", Mode::expect_tx},
    {"complete_tx", Mode::complete_tx},
};
constexpr Named<Mode> kQueries[] = {{"width", Mode::width},
                                    {"height", Mode::height},
                                    {"depth", Mode::depth},
                                    {"channel_data_type", Mode::channel_data_type},
                                    {"channel_order", Mode::channel_order}};

constexpr Named<Mode> kVideo[] = {{"vadd", Mode::v_add},   {"vsub", Mode::v_sub}, {"vabsdiff", Mode::v_absdiff},
                                  {"vavrg", Mode::v_avrg}, {"vmin", Mode::v_min}, {"vmax", Mode::v_max},
                                  {"vset", Mode::v_set},   {"vshl", Mode::v_shl}, {"vshr", Mode::v_shr}};
constexpr Named<Mode> kFragments[] = {{"load", Mode::load_c}, {"store", Mode::store_d}, {"mma", Mode::multiply},
                                      {"a", Mode::load_a},    {"b", Mode::load_b},      {"c", Mode::load_c},
                                      {"d", Mode::store_d}};

/// Layout and shape.
bool matrix_modifier(std::string_view word, Instruction& i) {
  if (word == "row" || word == "col") {
    const bool second = i.has(kLayoutSeen);
    if (word == "col") i.flags |= second ? kColumnB : kColumnA;
    i.flags |= kLayoutSeen;
    return true;
  }
  i.shape = i.shape == 0 ? shape_of(word) : i.shape;
  return i.shape != 0 && name_of_shape(i.shape) == word;
}

/// vadd, vadd4 and the like: what, and on how many parts.
void video_opcode(std::string_view base, Instruction& i) {
  const bool parts = base.back() == '2' || base.back() == '4';
  i.vector = parts ? static_cast<std::uint8_t>(base.back() - '0') : 1;
  set_from(kVideo, base.substr(0, base.size() - (parts ? 1 : 0)), i.mode);
}

/// A bulk copy; `complete_tx`, on an mbarrier, and `bulk_group` are the ways to learn of its end.
bool bulk_modifier(std::string_view word, Instruction& i) {
  if (word == "prefetch") return i.mode = Mode::prefetch, true;
  if (word == "multicast::cluster") return i.flags |= kMulticast, true;
  if (word == "tensor") return i.shape = 1, true;
  if (i.shape != 0 && word.size() == 2 && word[1] == 'd' && word[0] >= '1' && word[0] <= '5')
    return i.shape = static_cast<std::uint8_t>(word[0] - '0'), true;
  if (word == "tile") return i.shape != 0;
  if (word == "async" || word == "bulk" || word == "bulk_group" || word == "read" || word == "L2" ||
      word == "mbarrier::complete_tx::bytes")
    return true;
  return set_from(kCopies, word, i.mode) || set_from(kAtomics, word, i.mode);
}

/// What only means something, or something else, with this opcode.
bool own_modifier(std::string_view word, Instruction& i) {
  switch (i.op) {
    case Op::setp:
    case Op::set:
      return set_from(kBoolOps, word, i.bool_op) || set_from(kCompares, word, i.compare);
    case Op::lop3:
      return set_from(kBoolOps, word, i.bool_op);
    case Op::mul:
    case Op::mul24:
    case Op::mad:
    case Op::mad24:
    case Op::madc:
      return set_from(kParts, word, i.part);
    case Op::dp2a:
      return word != "wide" && set_from(kParts, word, i.part);
    case Op::applypriority:
    case Op::discard:
      return word == "L2";
    case Op::pmevent:
      return word == "mask";
    case Op::st:
    case Op::red:
      if (word == "async") return i.flags |= kAsync, true;
      if (word == "mbarrier::complete_tx::bytes") return i.has(kAsync);
      return i.op == Op::red && set_from(kAtomics, word, i.mode);
    case Op::atom:
    case Op::redux:
      return set_from(kAtomics, word, i.mode);
    case Op::shfl:
      return set_from(kShuffles, word, i.mode);
    case Op::vote:
    case Op::match:
      return set_from(kVotes, word, i.mode);
    case Op::prmt:
      return set_from(kPermutes, word, i.mode);
    case Op::testp:
      return set_from(kTests, word, i.mode);
    case Op::shf:
      return set_from(kShifts, word, i.mode);
    case Op::mbarrier:
      if (word == "expect_tx" && i.mode != Mode::none) return i.flags |= kExpectTx, true;
      return set_from(kMbarriers, word, i.mode);
    case Op::txq:
      return set_from(kQueries, word, i.mode);
    case Op::wmma:
      return set_from(kFragments, word, i.mode) || matrix_modifier(word, i);
    case Op::mma:
      return matrix_modifier(word, i);
    case Op::ldmatrix:
    case Op::stmatrix:
    case Op::movmatrix:
      if (word == "x1" || word == "x2" || word == "x4") return i.vector = static_cast<std::uint8_t>(word[1] - '0'), true;
      return word == "m8n8";
    case Op::video:
      return (word == "add" && (i.flags |= kSum, true)) || set_from(kCompares, word, i.compare);
    case Op::brx:
      return word == "idx";
    case Op::prefetch:
      return word == "L1" || word == "L2" || word == "tensormap";
    case Op::tld4:
      return word == "r";
    case Op::fence:
      // Copies are made at once, so that there is nothing to be ordered with them.
      if (word == "async" || word == "mbarrier_init") return i.scope = Scope::cta, true;
      return word == "proxy" || word == "alias" || word.starts_with("async::") || word.starts_with("sync_restrict::") ||
             word.starts_with("tensormap::");
    case Op::isspacep:
      return word == "shared::cluster" && (i.space = Space::shared, i.scope = Scope::cluster, true);
    case Op::setmaxnreg:
      return word == "inc" || word == "dec";
    case Op::griddepcontrol:
      return word == "launch_dependents" || word == "wait";
    case Op::createpolicy:
      return word == "fractional" || word == "range" || word == "global" || word == "cvt" || word == "L2" ||
             word.starts_with("L2::");
    case Op::suld:
      return word == "b";
    case Op::sust:
      return word == "b" || (word == "p" && (i.flags |= kFormatted, true));
    case Op::cvta:
      return word == "to" && (i.mode = Mode::from_generic, true);
    case Op::bar:
      if (word == "warp") return i.mode = Mode::warp_sync, true;
      if (word == "sync") return i.mode = i.mode == Mode::warp_sync ? Mode::warp_sync : Mode::sync, true;
      if (word == "arrive") return i.mode = Mode::arrive, true;
      if (word == "cluster") return i.scope = Scope::cluster, true;
      if (i.scope == Scope::cluster) {
        if (word == "wait") return i.mode = Mode::wait, true;
        return set_from(kOrders, word, i.order);
      }
      return word == "red" || word == "cta" || set_from(kAtomics, word, i.mode);
    case Op::bulk:
      return bulk_modifier(word, i);
    case Op::cp:
      if (word == "bulk" || word == "reduce") return i.op = Op::bulk, true;
      if (word == "mbarrier") return true;
      if (word == "arrive") return i.mode = Mode::mbarrier_arrive, true;
      return set_from(kCopies, word, i.mode);
    default:
      return false;
  }
}

bool type_modifier(std::string_view word, Instruction& i) {
  Type type = Type::none;
  if (!type_of(word, type)) return false;
  if (i.type == Type::none)
    i.type = type;
  else if (i.source_type == Type::none)
    i.source_type = type;
  else if ((i.op == Op::mma || i.op == Op::wmma || i.op == Op::video) && i.third_type == Type::none)
    i.third_type = type;
  else if ((i.op == Op::mma || i.op == Op::wmma) && i.fourth_type == Type::none)
    i.fourth_type = type;
  else
    return false;
  return true;
}

bool memory_modifier(std::string_view word, Instruction& i, bool& space_seen) {
  Space space = Space::generic;
  if (space_of(word, space)) {
    // Copies name both ends; the destination comes first.
    (space_seen ? i.source_space : i.space) = space;
    space_seen = true;
    return true;
  }
  if (word == "v2" || word == "v4" || word == "v8") return i.vector = static_cast<std::uint8_t>(word[1] - '0'), true;
  // Hints of where to keep a line change nothing that a program sees.
  if (word.starts_with("L1::") || word.starts_with("L2::evict") || word == "L2::64B" || word == "L2::128B" ||
      word == "L2::256B")
    return true;
  if (word == "L2::cache_hint") return i.flags |= kCacheHint, true;
  return set_from(kScopes, word, i.scope) || set_from(kOrders, word, i.order) || set_from(kCaches, word, i.cache);
}

bool has_memory_modifiers(Op op) {
  return one_of(op, {Op::ld,       Op::ldu,           Op::st,        Op::atom, Op::red,   Op::cvta,     Op::isspacep,
                     Op::prefetch, Op::applypriority, Op::discard,   Op::cp,   Op::fence, Op::membar,   Op::mbarrier,
                     Op::tex,      Op::tld4,          Op::suld,      Op::sust, Op::wmma,  Op::ldmatrix, Op::stmatrix,
                     Op::bulk,     Op::mapa,          Op::getctarank});
}

}  // namespace

std::string_view decode_opcode(std::string_view spelled, Instruction& i) {
  const auto word = [&spelled] {
    const std::size_t dot = std::min(spelled.find('.'), spelled.size());
    const std::string_view w = spelled.substr(0, dot);
    spelled.remove_prefix(std::min(dot + 1, spelled.size()));
    return w;
  };
  const std::string_view base = word();
  i.op = op_of(base);
  if (i.op == Op::unsupported) return base;
  if (i.op == Op::video) video_opcode(base, i);
  if (i.op == Op::cvta) i.mode = Mode::to_generic;
  bool space_seen = false;
  while (!spelled.empty()) {
    const std::string_view w = word();
    Flag flag{};
    if (own_modifier(w, i) || type_modifier(w, i)) continue;
    if (has_memory_modifiers(i.op) && memory_modifier(w, i, space_seen)) continue;
    if (set_from(kRounds, w, i.round) || set_from(kGeometries, w, i.geometry)) continue;
    if (w == "abs" && i.has(kXorSign)) continue;
    if (w == "base" && i.op == Op::tex) continue;
    if (!set_from(kFlags, w, flag)) return w;
    i.flags |= flag;
  }
  if (i.op == Op::bar && i.mode == Mode::none) i.mode = Mode::sync;
  return {};
}

}  // namespace atl::ptx
