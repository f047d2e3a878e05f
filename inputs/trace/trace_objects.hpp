#pragma once
#include <H5Cpp.h>

#include <string>

/// Groups and datasets of a trace that is read, and only those that lie in its own file: the digest of a workload covers
/// no other one, and HDF5 opens whatever a link names, be it a pipe that nobody writes to.
namespace atl::trace_objects {

/// `where` names what is opened, for messages. Throws InputError for what lies elsewhere, and H5::Exception for what
/// cannot be opened.
H5::Group open_group(const H5::H5Location& from, const std::string& name, const std::string& where);
H5::DataSet open_dataset(const H5::H5Location& from, const std::string& name, const std::string& where);

/// How the dataset is stored. Throws InputError if its data are elsewhere; to be called before its extent is asked for,
/// for which HDF5 may open the sources of a virtual one.
H5::DSetCreatPropList storage_of(const H5::DataSet& data, const std::string& where);

/// False if HDF5 would make up some of its elements, as it does where nothing was ever stored.
bool is_written(const H5::DataSet& data, const H5::DSetCreatPropList& storage, hsize_t elements);

/// A filter of the dataset that HDF5 does not have here; empty: it has them all.
std::string absent_filter(const H5::DataSet& data);

}  // namespace atl::trace_objects
