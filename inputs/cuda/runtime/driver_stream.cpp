#include "inputs/cuda/runtime/driver.hpp"

// Streams and events in the driver API: the same objects as the runtime's.
namespace atl::cudart {

extern "C" {
int cudaStreamCreateWithFlags(void** out, unsigned flags);
int cudaStreamDestroy(void* stream);
int cudaStreamSynchronize(void* stream);
int cudaStreamQuery(void* stream);
int cudaStreamWaitEvent(void* stream, void* event, unsigned flags);
int cudaStreamGetFlags(void* stream, unsigned* flags);
int cudaStreamGetId(void* stream, unsigned long long* id);
int cudaStreamIsCapturing(void* stream, int* status);
int cudaStreamBeginCapture(void* stream, int mode);
int cudaStreamBeginCapture_ptsz(void* stream, int mode);
int cudaStreamEndCapture(void* stream, Graph** out);
int cudaStreamAddCallback(void* stream, void (*function)(void*, int, void*), void* data, unsigned flags);
int cudaThreadExchangeStreamCaptureMode(int* mode);
int cudaEventCreateWithFlags(void** out, unsigned flags);
int cudaEventDestroy(void* event);
int cudaEventRecord(void* event, void* stream);
int cudaEventRecordWithFlags(void* event, void* stream, unsigned flags);
int cudaEventSynchronize(void* event);
int cudaEventQuery(void* event);
int cudaEventElapsedTime(float* milliseconds, void* start, void* end);

int cuStreamCreate(void** out, unsigned flags) {
  return driver_call([&](Runtime&) { return cudaStreamCreateWithFlags(out, flags); });
}

int cuStreamDestroy_v2(void* stream) {
  return driver_call([&](Runtime&) { return cudaStreamDestroy(stream); });
}

int cuStreamSynchronize(void* stream) {
  return driver_call([&](Runtime&) { return cudaStreamSynchronize(stream); });
}

int cuStreamQuery(void* stream) {
  return driver_call([&](Runtime&) { return cudaStreamQuery(stream); });
}

int cuStreamWaitEvent(void* stream, void* event, unsigned flags) {
  return driver_call([&](Runtime&) { return cudaStreamWaitEvent(stream, event, flags); });
}

int cuStreamGetFlags(void* stream, unsigned* flags) {
  return driver_call([&](Runtime&) { return cudaStreamGetFlags(stream, flags); });
}

int cuStreamGetId(void* stream, unsigned long long* id) {
  return driver_call([&](Runtime&) { return cudaStreamGetId(stream, id); });
}

int cuStreamIsCapturing(void* stream, int* status) {
  return driver_call([&](Runtime&) { return cudaStreamIsCapturing(stream, status); });
}

int cuStreamBeginCapture_v2(void* stream, int mode) {
  return driver_call([&](Runtime&) { return cudaStreamBeginCapture(stream, mode); });
}

int cuStreamBeginCapture_v2_ptsz(void* stream, int mode) {
  return driver_call([&](Runtime&) { return cudaStreamBeginCapture_ptsz(stream, mode); });
}

int cuStreamEndCapture(void* stream, Graph** out) {
  return driver_call([&](Runtime&) { return cudaStreamEndCapture(stream, out); });
}

int cuThreadExchangeStreamCaptureMode(int* mode) {
  return driver_call([&](Runtime&) { return cudaThreadExchangeStreamCaptureMode(mode); });
}

int cuEventCreate(void** out, unsigned flags) {
  return driver_call([&](Runtime&) { return cudaEventCreateWithFlags(out, flags); });
}

int cuEventDestroy_v2(void* event) {
  return driver_call([&](Runtime&) { return cudaEventDestroy(event); });
}

int cuEventRecord(void* event, void* stream) {
  return driver_call([&](Runtime&) { return cudaEventRecord(event, stream); });
}

int cuEventRecordWithFlags(void* event, void* stream, unsigned flags) {
  return driver_call([&](Runtime&) { return cudaEventRecordWithFlags(event, stream, flags); });
}

int cuEventSynchronize(void* event) {
  return driver_call([&](Runtime&) { return cudaEventSynchronize(event); });
}

int cuEventQuery(void* event) {
  return driver_call([&](Runtime&) { return cudaEventQuery(event); });
}

int cuEventElapsedTime_v2(float* milliseconds, void* start, void* end) {
  return driver_call([&](Runtime&) { return cudaEventElapsedTime(milliseconds, start, end); });
}

int cuEventElapsedTime(float* milliseconds, void* start, void* end) {
  return cuEventElapsedTime_v2(milliseconds, start, end);
}

// The program's function runs without the lock.
int cuStreamAddCallback(void* stream, void (*function)(void*, int, void*), void* data, unsigned flags) {
  return driver_status(cudaStreamAddCallback(stream, function, data, flags));
}

}  // extern "C"
}  // namespace atl::cudart
