#pragma once
#include <string>

#include "core/engine/archive.hpp"
#include "core/engine/types.hpp"

namespace atl {

/// A range of memory that a workload uses as one thing: an allocation of a recorded program, a region of a parametric one.
struct DataStructure {
  std::string name;
  ByteAddr address = 0;
  std::uint64_t bytes = 0;
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, name, address, bytes); }
  bool operator==(const DataStructure&) const = default;
};

}  // namespace atl
