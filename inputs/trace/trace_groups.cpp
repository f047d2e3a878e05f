#include "inputs/trace/trace_groups.hpp"

namespace atl::trace_groups {
namespace {

constexpr unsigned kLinkName = 12;  // bytes of a name

}  // namespace

/// It is counted as referenced although it has no name: HDF5 forgets a group without references once its metadata cache is
/// full, as in a large kernel.
H5::Group create(H5::H5File& file, unsigned links) {
  const hid_t properties = H5Pcreate(H5P_GROUP_CREATE);
  H5Pset_obj_track_times(properties, false);
  if (links != 0) {  // known to be so few: they stay in the object header, which is smaller than an index of them
    H5Pset_link_phase_change(properties, links, 0);
    H5Pset_est_link_info(properties, links, kLinkName);
  }
  const hid_t id = H5Gcreate_anon(file.getId(), properties, H5P_DEFAULT);
  H5Pclose(properties);
  if (id < 0 || H5Oincr_refcount(id) < 0) throw H5::FileIException("H5Gcreate_anon", "cannot create a group");
  H5::Group group(id);
  H5Idec_ref(id);  // `group` holds its own reference
  return group;
}

void link(H5::H5File& file, const H5::Group& group, const std::string& path) {
  if (H5Olink(group.getId(), file.getId(), path.c_str(), H5P_DEFAULT, H5P_DEFAULT) < 0 ||
      H5Odecr_refcount(group.getId()) < 0)
    throw H5::FileIException("H5Olink", "cannot create " + path);
}

void drop(H5::Group& group) {
  if (H5Odecr_refcount(group.getId()) < 0) throw H5::FileIException("H5Odecr_refcount", "cannot drop a group");
  group.close();
}

void put(H5::H5Object& object, const char* name, const std::string& text) {
  const H5::StrType type(H5::PredType::C_S1, text.empty() ? 1 : text.size());
  object.createAttribute(name, type, H5::DataSpace(H5S_SCALAR)).write(type, text);
}

}  // namespace atl::trace_groups
