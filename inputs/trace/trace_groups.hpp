#pragma once
#include <H5Cpp.h>

#include <string>

/// Groups and attributes of a trace that is written.
namespace atl::trace_groups {

/// Without time stamps, so that recording twice gives the same bytes; and without a name, for link() or drop(). `links`: how
/// many it will have, if that is known.
H5::Group create(H5::H5File& file, unsigned links = 0);
void link(H5::H5File& file, const H5::Group& group, const std::string& path);
/// Its space in the file is used again.
void drop(H5::Group& group);
void put(H5::H5Object& object, const char* name, const std::string& text);

}  // namespace atl::trace_groups
