#pragma once
#include <string>
#include <vector>

/// A seal: 16 bytes behind the end of an HDF5 file, where the library ignores them; a mark and a hash of all bytes before.
/// HDF5 1.10 follows damaged references to texts out of its memory, so damage has to be found before it reads.
namespace atl {

void seal(std::vector<char>& hdf5_image);

/// InputError if `path` is no HDF5 file as results are, has no seal, or its bytes do not fit it. Holds a part of the file at
/// a time, however long that is.
void check_seal(const std::string& path);
/// The mark of a seal ends the file, whatever the bytes before it are.
bool has_seal(const std::string& path);

}  // namespace atl
