#include "inputs/trace/trace_objects.hpp"

#include "core/engine/error.hpp"

namespace atl::trace_objects {
namespace {

constexpr const char* kElsewhere =
    "lies outside this file (an external link, external storage or a virtual dataset), where changes go unnoticed; "
    "`h5repack --merge -f GZIP=6 OLD NEW` takes it in";

herr_t refuse_link(const char*, const char*, const char*, const char*, unsigned*, hid_t, void* met) {
  *static_cast<bool*>(met) = true;
  return -1;
}

/// The caller's to close.
hid_t open_object(const H5::H5Location& from, const std::string& name, const std::string& where, H5I_type_t type) {
  const H5::LinkAccPropList links;
  bool met = false;
  H5Pset_elink_cb(links.getId(), refuse_link, &met);
  const hid_t id = H5Oopen(from.getId(), name.c_str(), links.getId());
  if (met) throw InputError(where, kElsewhere);
  if (id < 0) throw H5::GroupIException("H5Oopen", "cannot open " + name);
  if (H5Iget_type(id) == type) return id;
  H5Oclose(id);
  throw H5::GroupIException("H5Oopen", name + " is an object of another kind");
}

}  // namespace

H5::Group open_group(const H5::H5Location& from, const std::string& name, const std::string& where) {
  const hid_t id = open_object(from, name, where, H5I_GROUP);
  H5::Group group(id);
  H5Idec_ref(id);  // `group` holds its own reference
  return group;
}

H5::DataSet open_dataset(const H5::H5Location& from, const std::string& name, const std::string& where) {
  const hid_t id = open_object(from, name, where, H5I_DATASET);
  H5::DataSet data(id);
  H5Idec_ref(id);
  return data;
}

H5::DSetCreatPropList storage_of(const H5::DataSet& data, const std::string& where) {
  H5::DSetCreatPropList storage = data.getCreatePlist();
  const bool outside = storage.getLayout() == H5D_VIRTUAL || H5Pget_external_count(storage.getId()) != 0;
  if (outside) throw InputError(where, kElsewhere);
  return storage;
}

bool is_written(const H5::DataSet& data, const H5::DSetCreatPropList& storage, hsize_t elements) {
  if (elements == 0) return true;
  if (storage.getLayout() != H5D_CHUNKED) {
    H5D_space_status_t status = H5D_SPACE_STATUS_ERROR;
    data.getSpaceStatus(status);
    return status == H5D_SPACE_STATUS_ALLOCATED;
  }
  hsize_t chunk = 1, chunks = 0;  // the status would be "in part" for chunks that are compressed, too
  storage.getChunk(1, &chunk);
  if (H5Dget_num_chunks(data.getId(), data.getSpace().getId(), &chunks) < 0)
    throw H5::DataSetIException("H5Dget_num_chunks", "cannot count the chunks");
  return chunks > (elements - 1) / chunk;
}

std::string absent_filter(const H5::DataSet& data) {
  const H5::DSetCreatPropList storage = data.getCreatePlist();
  for (int i = 0; i < storage.getNfilters(); ++i) {
    char name[64] = {};
    unsigned flags = 0;
    std::size_t values = 0;
    const H5Z_filter_t filter =
        H5Pget_filter2(storage.getId(), static_cast<unsigned>(i), &flags, &values, nullptr, sizeof name, name, nullptr);
    if (H5Zfilter_avail(filter) <= 0) return *name != '\0' ? name : "number " + std::to_string(filter);
  }
  return {};
}

}  // namespace atl::trace_objects
