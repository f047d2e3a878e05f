#pragma once
#include <map>
#include <utility>

#include "inputs/ptx/access_analysis.hpp"
#include "inputs/ptx/object_set.hpp"

namespace atl::ptx {

/// Numbers of what an address may point to. The structures of the kernel follow behind the functions' local frames.
struct Places {
  static constexpr std::uint32_t kUnknown = 0;  ///< anything: the address was read from memory, or made of pieces
  static constexpr std::uint32_t kShared = 1;
  static constexpr std::uint32_t kHeap = 2;   ///< in-kernel malloc
  static constexpr std::uint32_t kFrame = 3;  ///< a parameter itself
  static constexpr std::uint32_t kLocal = 4;  ///< + function
};

/// Where the addresses in a kernel come from. Each register, parameter and local or shared memory has one set of places for
/// the whole run: PTX registers are nearly in SSA form, so that little is lost, and loops need no care. Device functions are
/// looked at once for all their callers.
class AccessFlow {
 public:
  AccessFlow(const Module& m, std::uint32_t kernel, const std::vector<std::uint32_t>& functions,
             std::vector<DataObject>& objects);
  void run();  ///< to the fixed point

  ObjectSet address(std::uint32_t function, const Operand& o) const { return value(function, o); }
  std::uint32_t first_object() const { return Places::kLocal + static_cast<std::uint32_t>(m_.functions.size()); }

 private:
  /// Memory that holds pointers which the kernel itself put there.
  struct Cell {
    ObjectSet places;
    bool narrow = false;  ///< something smaller than a pointer was stored: pointers may have been put together of pieces
  };
  struct State {
    std::vector<ObjectSet> registers;
    std::map<std::pair<std::uint32_t, std::int64_t>, Cell> params;  ///< by number of the `.param` variable, and offset / 8
    std::map<std::int64_t, Cell> local;                             ///< by offset / 8, where the offset is known
    Cell anywhere;                                                  ///< local memory at offsets that are not known
    std::vector<std::int64_t> offset;  ///< of registers that hold one fixed local address, else kNoOffset
  };

  void find_objects();
  void find_local_offsets(std::uint32_t f);
  ObjectSet value(std::uint32_t f, const Operand& o) const;
  void assign(std::uint32_t f, const Operand& destination, const ObjectSet& places);
  void step(std::uint32_t f, const Instruction& i);
  void compute(std::uint32_t f, const Instruction& i);
  void load(std::uint32_t f, const Instruction& i, bool atomic);
  void store(std::uint32_t f, const Instruction& i, const Operand& what);
  void call(std::uint32_t f, const Call& c);
  void call(std::uint32_t f, const Call& c, std::uint32_t target);
  void result_of_external(std::uint32_t f, const Operand& to, const ObjectSet& places);
  ObjectSet kernel_params(std::int64_t from, std::int64_t bytes) const;
  ObjectSet loaded(const Cell& cell, bool wide) const;
  ObjectSet load_local(std::uint32_t owner, std::int64_t offset, bool wide) const;
  std::int64_t local_offset(std::uint32_t f, const Operand& address) const;
  void put(Cell& cell, const ObjectSet& places, bool narrow);
  void put_param(std::uint32_t f, const Operand& at, std::int64_t bytes, const ObjectSet& places, bool narrow);
  ObjectSet load_param(std::uint32_t f, const Operand& at, std::int64_t bytes, bool wide) const;
  void pass(std::uint32_t from_function, const Operand& from, std::uint32_t to_function, const Operand& to,
            std::int64_t bytes);

  const Module& m_;
  std::uint32_t kernel_;
  const std::vector<std::uint32_t>& functions_;
  std::vector<DataObject>& objects_;
  std::vector<std::uint32_t> object_of_variable_;
  std::vector<State> states_;  ///< by function
  Cell shared_;
  bool changed_ = false;
};

/// What the analysis knows of a function without a body.
enum class External : std::uint8_t { harmless, allocates, unknown };
External external_effect(const std::string& name);

/// Functions that a call may run: of those whose address is taken, the ones that fit. None: a function of another module.
std::vector<std::uint32_t> call_targets(const Module& m, const Call& c);

}  // namespace atl::ptx
