#include "tests/fuzz/hdf5_edits.hpp"

#include <hdf5.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "tests/fuzz/script.hpp"

namespace atl::fuzz {
namespace {

constexpr std::size_t kSignature = 8;

struct Edit {
  unsigned operation = 0, object = 0, type = 0, part = 0, extent = 0;
  std::uint64_t at = 0, value = 0;
};

std::vector<Edit> parse(Script script) {
  std::vector<Edit> edits;
  while (!script.ended() && edits.size() < 32) {
    Edit e;
    e.operation = script.take<std::uint8_t>() % 8;
    e.object = script.take<std::uint8_t>();
    if (e.operation <= 3) e.at = script.take<std::uint32_t>();
    if (e.operation == 0) e.value = script.take<std::uint8_t>();
    if (e.operation == 6 || e.operation == 7) e.type = script.take<std::uint8_t>(), e.part = script.take<std::uint8_t>();
    if (e.operation == 6) e.extent = script.take<std::uint8_t>();
    if (e.operation == 7) e.at = script.take<std::uint64_t>();
    if (e.operation == 1 || e.operation == 3 || e.operation == 4 || e.operation >= 6) e.value = script.take<std::uint64_t>();
    edits.push_back(e);
  }
  return edits;
}

std::vector<std::string> objects_of(hid_t file) {
  std::vector<std::string> names;
  const auto note = [](hid_t, const char* name, const H5O_info_t*, void* to) -> herr_t {
    static_cast<std::vector<std::string>*>(to)->emplace_back(name);
    return 0;
  };
  H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, note, &names, H5O_INFO_BASIC);
  return names;
}

hid_t type_of(unsigned choice) {
  const hid_t types[] = {H5T_STD_U64LE, H5T_STD_U8LE, H5T_IEEE_F64LE, H5T_STD_I32BE, H5T_STD_U16LE};
  if (choice % 7 < 5) return H5Tcopy(types[choice % 7]);
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, choice % 7 == 5 ? 3 : H5T_VARIABLE);
  return text;
}

/// The library looks at each chunk of a huge dataset that is made smaller, and crashes when it writes into one.
bool is_small(hid_t space) {
  hsize_t dims[H5S_MAX_RANK] = {};
  const int rank = H5Sget_simple_extent_dims(space, dims, nullptr);
  double points = 1;  // the library's own count wraps around
  for (int d = 0; d < rank; ++d) points *= static_cast<double>(dims[d]);
  return points < 1 << 20;
}

void set_element(hid_t data, hsize_t index, std::uint64_t value) {
  const hid_t space = H5Dget_space(data), memory = H5Screate(H5S_SCALAR);
  hsize_t dims[H5S_MAX_RANK] = {}, coordinates[H5S_MAX_RANK] = {};
  const int rank = H5Sget_simple_extent_dims(space, dims, nullptr);
  for (int d = rank; d-- > 0;) {
    if (dims[d] == 0) break;
    coordinates[d] = index % dims[d], index /= dims[d];
  }
  const hid_t type = H5Dget_type(data);
  if (H5Tget_class(type) == H5T_INTEGER && is_small(space) &&
      (rank == 0 || H5Sselect_elements(space, H5S_SELECT_SET, 1, coordinates) >= 0))
    H5Dwrite(data, H5T_NATIVE_UINT64, memory, space, H5P_DEFAULT, &value);
  H5Tclose(type), H5Sclose(space), H5Sclose(memory);
}

void set_extent(hid_t data, hsize_t extent) {
  const hid_t space = H5Dget_space(data);
  if (is_small(space)) H5Dset_extent(data, &extent);
  H5Sclose(space);
}

void replace_attribute(hid_t object, const Edit& e) {
  const int count = H5Aget_num_attrs(object);
  if (count <= 0) return;
  char name[64] = {};
  const hid_t old = H5Aopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, e.part % static_cast<unsigned>(count),
                                   H5P_DEFAULT, H5P_DEFAULT);
  H5Aget_name(old, sizeof name, name);
  H5Aclose(old);
  H5Adelete(object, name);
  const hsize_t extent = e.extent % 5;
  const hid_t space = e.extent % 8 == 7   ? H5Screate(H5S_NULL)
                      : e.extent % 8 == 1 ? H5Screate(H5S_SCALAR)
                                          : H5Screate_simple(1, &extent, nullptr);
  const hid_t type = type_of(e.type), made = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  if (H5Tget_class(type) != H5T_STRING && e.extent % 8 == 1) H5Awrite(made, H5T_NATIVE_UINT64, &e.value);
  H5Aclose(made), H5Tclose(type), H5Sclose(space);
}

void replace_dataset(hid_t file, const std::string& name, const Edit& e) {
  H5Ldelete(file, name.c_str(), H5P_DEFAULT);
  const int rank = static_cast<int>(e.part % 4);
  const hsize_t dims[] = {e.at, e.value, e.value}, chunk[] = {64, 64, 64};
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  if (rank > 0) H5Pset_chunk(properties, rank, chunk);  // so that no extent takes space
  const hsize_t most[] = {H5S_UNLIMITED, H5S_UNLIMITED, H5S_UNLIMITED};
  const hid_t space = rank == 0 ? H5Screate(e.part % 8 < 4 ? H5S_NULL : H5S_SCALAR) : H5Screate_simple(rank, dims, most);
  const hid_t type = type_of(e.type),
              made = H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  H5Dclose(made), H5Tclose(type), H5Sclose(space), H5Pclose(properties);
}

void change_contents(hid_t file, const std::vector<Edit>& edits) {
  const std::vector<std::string> names = objects_of(file);
  if (names.empty()) return;
  for (const Edit& e : edits) {
    if (e.operation < 3) continue;
    const std::string& name = names[e.object % names.size()];
    if (e.operation == 5) {
      H5Ldelete(file, name.c_str(), H5P_DEFAULT);
      continue;
    }
    const hid_t object = H5Oopen(file, name.c_str(), H5P_DEFAULT);
    if (object < 0) continue;
    const bool dataset = H5Iget_type(object) == H5I_DATASET;
    if (e.operation == 3 && dataset) set_element(object, e.at, e.value);
    if (e.operation == 4 && dataset) set_extent(object, e.value);
    if (e.operation == 6) replace_attribute(object, e);
    H5Oclose(object);
    if (e.operation == 7 && dataset) replace_dataset(file, name, e);
  }
}

void edit_hdf5(const std::string& path, const unsigned char* script, std::size_t size) {
  const std::vector<Edit> edits = parse({script, size});
  const auto is_raw = [](const Edit& e) { return e.operation < 3; };
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  if (!std::all_of(edits.begin(), edits.end(), is_raw)) {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    change_contents(file, edits);
    H5Fclose(file);
    return;
  }
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  in.close();
  for (const Edit& e : edits) {
    if (bytes.size() <= kSignature + 8) break;
    const std::size_t room = bytes.size() - kSignature;
    if (e.operation == 0) bytes[kSignature + e.at % room] = static_cast<char>(e.value);
    if (e.operation == 1) std::memcpy(&bytes[kSignature + e.at % (room - 7)], &e.value, sizeof e.value);
    if (e.operation == 2) bytes.resize(kSignature + e.at % room);
  }
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

std::string damaged_copy(const std::string& sound, const unsigned char* script, std::size_t size) {
  std::string copy = sound + ".damaged";
  std::filesystem::copy_file(sound, copy, std::filesystem::copy_options::overwrite_existing);
  edit_hdf5(copy, script, size);
  return copy;
}

bool all_closed() {  // of types, the library's own are always open
  return H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_FILE | H5F_OBJ_DATASET | H5F_OBJ_GROUP | H5F_OBJ_ATTR) == 0;
}

}  // namespace atl::fuzz
