#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "inputs/cuda/runtime/runtime.hpp"

/// The driver API (libcuda.so.1) over the same state as the runtime: streams, events, memory and kernels of one are good
/// for the other, as with NVIDIA's. A CUmodule or CUlibrary is a Binary, a CUfunction or CUkernel a Kernel.
namespace atl::cudart {

enum DriverStatus : int {
  kDriverInvalidValue = 1,
  kDriverInvalidContext = 201,
  kDriverNoBinaryForGpu = 209,
  kDriverInvalidPtx = 218,
  kDriverFileNotFound = 301,
  kDriverInvalidHandle = 400,
  kDriverNotFound = 500,
};

/// What the driver API calls a failure of the runtime; most numbers are the same.
int driver_status(int status);

/// The frame of a driver call: as call(), but cudaGetLastError() does not hear of it.
template <typename Body> int driver_call(Body&& body) noexcept {
  if (const int refused = refused_here(); refused != kSuccess) return refused;
  const BesideRuntime here;
  const int before = exchange_last_error(kSuccess);
  const int status = call([&](Runtime& r) { return body(r); });
  exchange_last_error(before);
  return driver_status(status);
}

/// Loads a module from PTX, a fat binary or its wrapper. Says on standard error why it cannot, and in `why`. Returns a
/// driver status.
int load_image(Runtime& r, const void* image, Binary** out, std::string& why);
int load_file(Runtime& r, const char* path, Binary** out, std::string& why);

/// Says on standard error, and in `why`, what is wrong with an image; returns the status.
int refuse_image(const std::string& what, std::string& why, int status);

/// The program's buffer for what is wrong with its PTX, if its JIT options name one; and what was, into that buffer.
void find_error_log(unsigned count, const int* options, void** values, char*& buffer, std::size_t& bytes);
void write_error_log(char* buffer, std::size_t bytes, const std::string& why);

/// What cuLinkComplete put into an image, object by object; of any other PTX, itself.
std::vector<std::string> linked_texts(std::string_view image);

/// Null: there is no kernel, or no variable, of that name.
Kernel* kernel_named(Runtime& r, Binary& binary, const std::string& name);
bool variable_named(Runtime& r, Binary& binary, const std::string& name, std::uint64_t& address, std::uint64_t& size);

/// The function behind a name of the driver API, for a program made for this version of CUDA (12040: 12.4); or null.
/// `flags`: of cuGetProcAddress.
void* driver_function(const std::string& name, int version, std::uint64_t flags);

}  // namespace atl::cudart
