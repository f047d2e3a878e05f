#include <fstream>
#include <iterator>

#include "inputs/cuda/runtime/driver.hpp"
#include "inputs/ptx/parser.hpp"

// cuLink*: PTX that a program links before it loads it. What it gets for machine code is the PTX itself, which it may keep
// and load like any other image.
namespace atl::cudart {
namespace {

enum InputType : int { kPtx = 1 };

constexpr std::string_view kLinked = "// linked by the recorder\n", kNext = "// next object\n";

Link* known(Runtime& r, void* handle) {
  const auto found = r.links.find(handle);
  return found == r.links.end() ? nullptr : found->second.get();
}

int check(int type, std::string_view text, const std::string& name, std::string& why) {
  if (type != kPtx)
    return refuse_image("the program links " + name + ", which is no PTX; the recorder cannot execute machine code", why,
                        kDriverNoBinaryForGpu);
  try {
    ptx::parse(text, name, ptx::Unsupported::keep);
    return kSuccess;
  } catch (const InputError& e) {
    return refuse_image(e.what(), why, kDriverInvalidPtx);
  }
}

int add(Runtime& r, void* handle, int type, std::string_view text, const std::string& name) {
  Link* link = known(r, handle);
  if (!link) return kDriverInvalidHandle;
  text = text.substr(0, text.find('\0'));
  std::string why;
  const int status = check(type, text, name, why);
  write_error_log(link->log, link->log_bytes, why);
  if (status != kSuccess) return status;
  link->image.append(link->image.empty() ? kLinked : kNext).append(text);
  if (!text.ends_with('\n')) link->image += '\n';
  return kSuccess;
}

}  // namespace

std::vector<std::string> linked_texts(std::string_view image) {
  if (!image.starts_with(kLinked)) return {std::string(image)};
  std::vector<std::string> texts;
  for (std::string_view rest = image.substr(kLinked.size());;) {
    const std::size_t end = rest.find(kNext);
    texts.emplace_back(rest.substr(0, end));
    if (end == std::string_view::npos) return texts;
    rest.remove_prefix(end + kNext.size());
  }
}

extern "C" {

int cuLinkCreate_v2(unsigned count, const int* options, void** values, void** out) {
  return driver_call([&](Runtime& r) -> int {
    if (!out) return kInvalidValue;
    auto link = std::make_unique<Link>();
    find_error_log(count, options, values, link->log, link->log_bytes);
    *out = link.get();
    r.links[link.get()] = std::move(link);
    return kSuccess;
  });
}

int cuLinkAddData_v2(void* link, int type, const void* data, std::size_t size, const char* name, unsigned, const int*,
                     void**) {
  return driver_call([&](Runtime& r) -> int {
    if (!data) return kInvalidValue;
    return add(r, link, type, {static_cast<const char*>(data), size}, name ? name : "PTX");
  });
}

int cuLinkAddFile_v2(void* link, int type, const char* path, unsigned, const int*, void**) {
  return driver_call([&](Runtime& r) -> int {
    if (!path) return kInvalidValue;
    std::ifstream in(path, std::ios::binary);
    if (!in) return kDriverFileNotFound;
    return add(r, link, type, std::string{std::istreambuf_iterator<char>(in), {}}, path);
  });
}

/// The image is there until the link is destroyed.
int cuLinkComplete(void* handle, void** image, std::size_t* size) {
  return driver_call([&](Runtime& r) -> int {
    Link* link = known(r, handle);
    if (!link) return kDriverInvalidHandle;
    if (!image || link->image.empty()) return kInvalidValue;
    *image = link->image.data();
    if (size) *size = link->image.size() + 1;
    return kSuccess;
  });
}

int cuLinkDestroy(void* handle) {
  return driver_call(
      [&](Runtime& r) -> int { return r.links.erase(handle) != 0 ? int{kSuccess} : int{kDriverInvalidHandle}; });
}

}  // extern "C"
}  // namespace atl::cudart
