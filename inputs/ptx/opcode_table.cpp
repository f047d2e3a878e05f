#include "inputs/ptx/opcode_table.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace atl::ptx {
namespace {

template <typename T> using Named = std::pair<std::string_view, T>;

/// Sorted by name. Several spellings of one opcode may stand here; the first is how messages name it.
constexpr Named<Op> kOps[] = {
    {"abs", Op::abs},
    {"activemask", Op::activemask},
    {"add", Op::add},
    {"addc", Op::addc},
    {"and", Op::and_},
    {"applypriority", Op::applypriority},
    {"atom", Op::atom},
    {"bar", Op::bar},
    {"barrier", Op::bar},
    {"bfe", Op::bfe},
    {"bfi", Op::bfi},
    {"bfind", Op::bfind},
    {"bmsk", Op::bmsk},
    {"bra", Op::bra},
    {"brev", Op::brev},
    {"brkpt", Op::brkpt},
    {"brx", Op::brx},
    {"call", Op::call},
    {"clz", Op::clz},
    {"cnot", Op::cnot},
    {"copysign", Op::copysign},
    {"cos", Op::cos},
    {"cp", Op::cp},
    {"createpolicy", Op::createpolicy},
    {"cvt", Op::cvt},
    {"cvta", Op::cvta},
    {"discard", Op::discard},
    {"div", Op::div},
    {"dp2a", Op::dp2a},
    {"dp4a", Op::dp4a},
    {"elect", Op::elect},
    {"ex2", Op::ex2},
    {"exit", Op::exit},
    {"fence", Op::fence},
    {"fma", Op::fma},
    {"fns", Op::fns},
    {"getctarank", Op::getctarank},
    {"griddepcontrol", Op::griddepcontrol},
    {"isspacep", Op::isspacep},
    {"ld", Op::ld},
    {"ldmatrix", Op::ldmatrix},
    {"ldu", Op::ldu},
    {"lg2", Op::lg2},
    {"lop3", Op::lop3},
    {"mad", Op::mad},
    {"mad24", Op::mad24},
    {"madc", Op::madc},
    {"mapa", Op::mapa},
    {"match", Op::match},
    {"max", Op::max},
    {"mbarrier", Op::mbarrier},
    {"membar", Op::membar},
    {"min", Op::min},
    {"mma", Op::mma},
    {"mov", Op::mov},
    {"movmatrix", Op::movmatrix},
    {"mul", Op::mul},
    {"mul24", Op::mul24},
    {"nanosleep", Op::nanosleep},
    {"neg", Op::neg},
    {"not", Op::not_},
    {"or", Op::or_},
    {"pmevent", Op::pmevent},
    {"popc", Op::popc},
    {"prefetch", Op::prefetch},
    {"prefetchu", Op::prefetch},
    {"prmt", Op::prmt},
    {"rcp", Op::rcp},
    {"red", Op::red},
    {"redux", Op::redux},
    {"rem", Op::rem},
    {"ret", Op::ret},
    {"rsqrt", Op::rsqrt},
    {"sad", Op::sad},
    {"selp", Op::selp},
    {"set", Op::set},
    {"setmaxnreg", Op::setmaxnreg},
    {"setp", Op::setp},
    {"shf", Op::shf},
    {"shfl", Op::shfl},
    {"shl", Op::shl},
    {"shr", Op::shr},
    {"sin", Op::sin},
    {"slct", Op::slct},
    {"sqrt", Op::sqrt},
    {"st", Op::st},
    {"stmatrix", Op::stmatrix},
    {"sub", Op::sub},
    {"subc", Op::subc},
    {"suld", Op::suld},
    {"sust", Op::sust},
    {"szext", Op::szext},
    {"tanh", Op::tanh},
    {"testp", Op::testp},
    {"tex", Op::tex},
    {"tld4", Op::tld4},
    {"trap", Op::trap},
    {"txq", Op::txq},
    {"vabsdiff", Op::video},
    {"vabsdiff2", Op::video},
    {"vabsdiff4", Op::video},
    {"vadd", Op::video},
    {"vadd2", Op::video},
    {"vadd4", Op::video},
    {"vavrg2", Op::video},
    {"vavrg4", Op::video},
    {"vmax", Op::video},
    {"vmax2", Op::video},
    {"vmax4", Op::video},
    {"vmin", Op::video},
    {"vmin2", Op::video},
    {"vmin4", Op::video},
    {"vote", Op::vote},
    {"vset", Op::video},
    {"vset2", Op::video},
    {"vset4", Op::video},
    {"vshl", Op::video},
    {"vshr", Op::video},
    {"vsub", Op::video},
    {"vsub2", Op::video},
    {"vsub4", Op::video},
    {"wmma", Op::wmma},
    {"xor", Op::xor_},
};

constexpr Named<Type> kTypes[] = {
    {"pred", Type::pred},
    {"b8", Type::b8},
    {"b16", Type::b16},
    {"b32", Type::b32},
    {"b64", Type::b64},
    {"b128", Type::b128},
    {"u8", Type::u8},
    {"u16", Type::u16},
    {"u32", Type::u32},
    {"u64", Type::u64},
    {"s8", Type::s8},
    {"s16", Type::s16},
    {"s32", Type::s32},
    {"s64", Type::s64},
    {"f16", Type::f16},
    {"f16x2", Type::f16x2},
    {"bf16", Type::bf16},
    {"bf16x2", Type::bf16x2},
    {"f32", Type::f32},
    {"f64", Type::f64},
    {"tf32", Type::tf32},
    {"e4m3", Type::e4m3},
    {"e5m2", Type::e5m2},
    {"e4m3x2", Type::e4m3x2},
    {"e5m2x2", Type::e5m2x2},
    {"u16x2", Type::u16x2},
    {"s16x2", Type::s16x2},
    {"texref", Type::texref},
    {"samplerref", Type::samplerref},
    {"surfref", Type::surfref},
};

constexpr Named<Space> kSpaces[] = {
    {"global", Space::global},      {"shared", Space::shared},
    {"local", Space::local},        {"param", Space::param},
    {"const", Space::constant},     {"shared::cta", Space::shared},
    {"param::entry", Space::param}, {"param::func", Space::param},
    {"generic", Space::generic},    {"shared::cluster", Space::shared},
};

constexpr Named<Special> kSpecials[] = {
    {"tid.x", Special::tid_x},
    {"tid.y", Special::tid_y},
    {"tid.z", Special::tid_z},
    {"ntid.x", Special::ntid_x},
    {"ntid.y", Special::ntid_y},
    {"ntid.z", Special::ntid_z},
    {"ctaid.x", Special::ctaid_x},
    {"ctaid.y", Special::ctaid_y},
    {"ctaid.z", Special::ctaid_z},
    {"nctaid.x", Special::nctaid_x},
    {"nctaid.y", Special::nctaid_y},
    {"nctaid.z", Special::nctaid_z},
    {"laneid", Special::laneid},
    {"warpid", Special::warpid},
    {"nwarpid", Special::nwarpid},
    {"smid", Special::smid},
    {"nsmid", Special::nsmid},
    {"gridid", Special::gridid},
    {"lanemask_eq", Special::lanemask_eq},
    {"lanemask_le", Special::lanemask_le},
    {"lanemask_lt", Special::lanemask_lt},
    {"lanemask_ge", Special::lanemask_ge},
    {"lanemask_gt", Special::lanemask_gt},
    {"clock", Special::clock},
    {"clock_hi", Special::clock_hi},
    {"clock64", Special::clock64},
    {"globaltimer", Special::globaltimer},
    {"globaltimer_lo", Special::globaltimer_lo},
    {"globaltimer_hi", Special::globaltimer_hi},
    {"dynamic_smem_size", Special::dynamic_smem_size},
    {"total_smem_size", Special::total_smem_size},
    {"aggr_smem_size", Special::aggr_smem_size},
    {"reserved_smem_offset_begin", Special::reserved_smem},
    {"reserved_smem_offset_1", Special::reserved_smem_1},
    {"clusterid.x", Special::clusterid_x},
    {"clusterid.y", Special::clusterid_y},
    {"clusterid.z", Special::clusterid_z},
    {"nclusterid.x", Special::nclusterid_x},
    {"nclusterid.y", Special::nclusterid_y},
    {"nclusterid.z", Special::nclusterid_z},
    {"cluster_ctaid.x", Special::cluster_ctaid_x},
    {"cluster_ctaid.y", Special::cluster_ctaid_y},
    {"cluster_ctaid.z", Special::cluster_ctaid_z},
    {"cluster_nctaid.x", Special::cluster_nctaid_x},
    {"cluster_nctaid.y", Special::cluster_nctaid_y},
    {"cluster_nctaid.z", Special::cluster_nctaid_z},
    {"cluster_ctarank", Special::cluster_ctarank},
    {"cluster_nctarank", Special::cluster_nctarank},
    {"is_explicit_cluster", Special::is_explicit_cluster},
};

template <typename T, std::size_t N> bool find(const Named<T> (&table)[N], std::string_view name, T& value) {
  const auto at = std::find_if(std::begin(table), std::end(table), [&](const Named<T>& e) { return e.first == name; });
  if (at == std::end(table)) return false;
  value = at->second;
  return true;
}

template <typename T, std::size_t N> std::string_view name_in(const Named<T> (&table)[N], T value) {
  const auto at = std::find_if(std::begin(table), std::end(table), [&](const Named<T>& e) { return e.second == value; });
  return at == std::end(table) ? "?" : at->first;
}

}  // namespace

Op op_of(std::string_view name) {
  const auto at = std::lower_bound(std::begin(kOps), std::end(kOps), name,
                                   [](const Named<Op>& e, std::string_view n) { return e.first < n; });
  return at != std::end(kOps) && at->first == name ? at->second : Op::unsupported;
}

bool type_of(std::string_view name, Type& type) { return find(kTypes, name, type); }
bool space_of(std::string_view name, Space& space) { return find(kSpaces, name, space); }

bool special_of(std::string_view name, Special& special, std::int64_t& number) {
  number = 0;
  if (name.empty() || name.front() != '%') return name == "WARP_SZ" && (special = Special::warp_size, true);
  name.remove_prefix(1);
  if (name.starts_with("envreg") && name.size() <= 8) {
    special = Special::envreg;
    for (const char c : name.substr(6)) {
      if (c < '0' || c > '9') return false;
      number = number * 10 + (c - '0');
    }
    return name.size() > 6 && number < 32;
  }
  if (name.starts_with("pm") && name.size() > 2 && name[2] >= '0' && name[2] <= '7') {
    special = Special::pm;
    return name.size() == 3 || name.substr(3) == "_64";
  }
  return find(kSpecials, name, special);
}

std::string_view name_of(Op op) { return name_in(kOps, op); }
std::string_view name_of(Type type) { return name_in(kTypes, type); }
std::string_view name_of(Space space) { return name_in(kSpaces, space); }

}  // namespace atl::ptx
