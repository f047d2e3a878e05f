#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "inputs/ptx/ir.hpp"

/// What a kernel does to each of its data structures, worked out from its PTX: the compile-time half of SelRep (section
/// III-A). A structure is what a pointer parameter, or a pointer in a parameter of structure type, points to, or a variable
/// of the module. Assumptions stand in docs/ptx.md.
namespace atl::ptx {

enum class AccessKind : std::uint8_t {
  unused,     ///< nothing is accessed through it: a number, or a pointer that the kernel does not follow
  read_only,  ///< read, and by no store or atomic of this kernel changed
  written,
  atomic,   ///< changed by atomics only
  unknown,  ///< a store through a pointer of unknown origin may change it
};
const char* name_of(AccessKind kind);

/// One data structure of a kernel.
struct DataObject {
  bool parameter = true;
  std::uint32_t index = 0;   ///< Function::params or Module::variables
  std::uint32_t offset = 0;  ///< parameter: where in the kernel's parameter block its pointer stands
  std::string name;          ///< of the parameter or variable; `p+8` for a pointer within a structure
  AccessKind kind = AccessKind::unused;
  std::vector<std::uint32_t> reads, writes, atomics;  ///< lines, ascending
};

/// A load from global memory (or through a generic address) that the kernel may run.
struct GlobalLoad {
  std::uint32_t function = 0, instruction = 0;
  std::vector<std::uint32_t> objects;  ///< all that it may read (KernelAccess::objects)
  bool known = false;                  ///< `objects` is complete, and nothing but global memory
  bool read_only = false;              ///< every one of them is read-only
};

struct KernelAccess {
  std::uint32_t kernel = 0;  ///< Module::functions
  std::vector<DataObject> objects;
  std::vector<GlobalLoad> loads;
  std::vector<GlobalLoad> textures;           ///< reads; the objects are what the handles come from
  std::vector<std::uint32_t> unknown_writes;  ///< lines that store where the analysis cannot tell
  bool unknown_surfaces = false;              ///< it stores to surfaces whose handles are not known
};

KernelAccess analyse_kernel(const Module& m, std::uint32_t kernel);

/// Every kernel; sets Instruction::read_only where all kernels that may run the load agree.
std::vector<KernelAccess> analyse(Module& m);

/// Parameters may point to the same memory, which only the launch shows. `allocation[o]` names the allocation that object o
/// lies in (0: it is no pointer at all). Returns, per entry of `loads`, whether it reads only what the launch leaves
/// unchanged.
std::vector<bool> read_only_at_launch(const KernelAccess& access, const std::vector<std::uint64_t>& allocation);

}  // namespace atl::ptx
