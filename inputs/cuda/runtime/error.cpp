#include <utility>

#include "inputs/cuda/runtime/error_texts.hpp"
#include "inputs/cuda/runtime/runtime.hpp"

namespace atl::cudart {
namespace {

thread_local int last_error = kSuccess;

}  // namespace

int remember(int status) {
  if (status != kSuccess) last_error = status;
  return status;
}

int exchange_last_error(int status) { return std::exchange(last_error, status); }

extern "C" {

int cudaGetLastError() {
  const int status = last_error;
  last_error = runtime().sticky;
  return status;
}

int cudaPeekAtLastError() { return last_error; }

const char* cudaGetErrorName(int status) {
  const ErrorText* e = error_text(status);
  return e ? e->name : "unrecognized error code";
}

const char* cudaGetErrorString(int status) {
  const ErrorText* e = error_text(status);
  return e ? e->text : "unrecognized error code";
}

}  // extern "C"
}  // namespace atl::cudart
