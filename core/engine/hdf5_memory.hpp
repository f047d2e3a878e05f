#pragma once
#include <H5Epublic.h>
#include <H5public.h>

#include <new>

namespace atl {

/// To be called first where an exception of HDF5 is caught: what failed for want of memory is no damage of a file.
inline void throw_if_hdf5_lacks_memory() {
  bool lacks = false;
  const auto look = [](unsigned, const H5E_error2_t* error, void* found) -> herr_t {
    const hid_t why = error->min_num;
    if (why == H5E_NOSPACE || why == H5E_CANTALLOC) *static_cast<bool*>(found) = true;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, look, &lacks);
  if (lacks) throw std::bad_alloc();
}

}  // namespace atl
