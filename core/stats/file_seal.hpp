#pragma once
#include <string>
#include <vector>

/// A seal: 16 bytes behind the end of an HDF5 file, where the library ignores them; a mark and a hash of all bytes before.
/// HDF5 1.10 follows damaged references to texts out of its memory, so damage has to be found before it reads.
namespace atl {

void seal(std::vector<char>& hdf5_image);

/// InputError if the bytes do not fit the seal. A file that another tool has changed has lost it, and passes; so does what
/// is no HDF5 file, or shorter than its own header says: HDF5 finds that out.
void check_seal(const std::string& path);

}  // namespace atl
