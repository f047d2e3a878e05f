#pragma once
#include <cstddef>
#include <cstdint>

/// The types that programs of CUDA 13 pass to their runtime, as far as Atoll looks into them. The layouts are those of the
/// binary interface; names are our own, so that the build needs no CUDA headers.
namespace atl::cudart {

enum Status : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kMemoryAllocation = 2,
  kInitializationError = 3,
  kInvalidConfiguration = 9,
  kInvalidPitchValue = 12,
  kInvalidSymbol = 13,
  kInvalidDevicePointer = 17,
  kInvalidTexture = 18,
  kInvalidChannelDescriptor = 20,
  kInvalidMemcpyDirection = 21,
  kInvalidFilterSetting = 26,
  kInvalidNormSetting = 27,
  kMissingConfiguration = 52,
  kInvalidDeviceFunction = 98,
  kInvalidDevice = 101,
  kUnsupportedLimit = 215,
  kPeerAccessUnsupported = 217,
  kInvalidResourceHandle = 400,
  kNotReady = 600,
  kPeerAccessAlreadyEnabled = 704,
  kPeerAccessNotEnabled = 705,
  kHostMemoryAlreadyRegistered = 712,
  kHostMemoryNotRegistered = 713,
  kAssert = 710,
  kCooperativeLaunchTooLarge = 720,
  kNotPermitted = 800,
  kNotSupported = 801,
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
  kCaptureMerge = 902,
  kCaptureUnmatched = 903,
  kCaptureUnjoined = 904,
  kCaptureIsolation = 905,
  kCapturedEvent = 907,
  kGraphUpdateFailure = 910,
  kInvalidClusterSize = 912,
};

/// cudaFuncCache: a preference for L1 or shared memory, of which nothing is kept.
inline bool is_cache_config(int preference) { return preference >= 0 && preference <= 3; }
/// cudaSharedMemConfig: a width of banks, which since sm_50 is four bytes whatever is set.
inline bool is_bank_size(int config) { return config >= 0 && config <= 2; }
constexpr int kFourByteBanks = 1;

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
};

enum CopyKind : int { kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice, kDefaultCopy };

struct ChannelFormat {
  int x = 0, y = 0, z = 0, w = 0;  ///< bits of each component
  int kind = 0;                    ///< 0 signed, 1 unsigned, 2 float
  unsigned bytes() const { return static_cast<unsigned>(x + y + z + w) / 8; }
};
static_assert(sizeof(ChannelFormat) == 20);

/// cudaArraySurfaceLoadStore and cudaArrayCubemap; the driver calls them CUDA_ARRAY3D_SURFACE_LDST and ...CUBEMAP.
enum ArrayFlag : unsigned { kSurfaceArray = 2, kCubeArray = 4 };

struct Extent {
  std::size_t width = 0, height = 0, depth = 0;
};

struct Position {
  std::size_t x = 0, y = 0, z = 0;
};

struct PitchedPointer {
  void* pointer = nullptr;
  std::size_t pitch = 0, width = 0, height = 0;
};
static_assert(sizeof(PitchedPointer) == 32);

struct Array;  // what a cudaArray_t points to: ours

struct Copy3D {
  Array* from_array;
  Position from_position;
  PitchedPointer from;
  Array* to_array;
  Position to_position;
  PitchedPointer to;
  Extent extent;
  int kind;
};
static_assert(sizeof(Copy3D) == 160);

struct Resource {
  int type;  ///< 0 array, 1 mipmapped array, 2 linear, 3 pitched 2D
  union {
    Array* array;
    struct {
      void* pointer;
      ChannelFormat format;
      std::size_t bytes;
    } linear;
    struct {
      void* pointer;
      ChannelFormat format;
      std::size_t width, height, pitch;
    } pitched;
    int reserved[32];
  };
  unsigned flags;
};
static_assert(sizeof(Resource) == 144);

struct TextureDescription {
  int address_mode[3];  ///< 0 wrap, 1 clamp, 2 mirror, 3 border
  int filter;           ///< 0 point, 1 linear
  int read_mode;        ///< 0 as it is, 1 as a normalised float
  int srgb;
  float border[4];
  int normalised_coordinates;
  unsigned anisotropy;
  int mipmap_filter;
  float mipmap_bias, mipmap_min, mipmap_max;
  int no_trilinear_optimisation, seamless_cubemap;
};
static_assert(sizeof(TextureDescription) == 72);

struct ResourceView {
  int format;  ///< 0 that of the array; else three for each type: of one, two and four channels
  std::size_t width, height, depth;
  unsigned first_level, last_level, first_layer, last_layer;
  unsigned reserved[16];
};
static_assert(sizeof(ResourceView) == 112);

/// cudaMemLocationTypeDevice, and what cudaMemAccessDesc may say first.
enum MemoryAccess : int { kOnDevice = 1, kNoAccess = 0 };

/// cudaMemLocation.
struct MemoryLocation {
  int type;  ///< kOnDevice, or one of the host's
  int id;    ///< of the device or NUMA node
};
static_assert(sizeof(MemoryLocation) == 8);
/// cudaMemLocationTypeHost and ...HostNumaCurrent; what is between them is of the host as well.
enum HostLocation : int { kOnHost = 2, kOnNearestHostNode = 4 };

struct LaunchAttribute {
  int id;
  std::uint8_t pad[4];
  union {
    int number;
    Dim3 dimensions;
    void* event;
    std::uint8_t bytes[64];
  };
};
static_assert(sizeof(LaunchAttribute) == 72);
enum LaunchAttributeId : int {
  kAttributeCooperative = 2,
  kAttributeClusterDimension = 4,
  kAttributeProgrammaticEvent = 7,
  kAttributeLaunchCompletionEvent = 12,
  kAttributeDeviceUpdatableNode = 13,
};

struct LaunchConfig {
  Dim3 grid, block;
  std::size_t shared_bytes;
  void* stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};
static_assert(sizeof(LaunchConfig) == 56);

struct FunctionAttributes {
  std::size_t shared_bytes, constant_bytes, local_bytes;
  int max_threads, registers, ptx_version, binary_version, cache_mode, max_dynamic_shared, carveout;
  int cluster_must_be_set, required_cluster[3], cluster_scheduling, wide_clusters;
  int more[17];
};
static_assert(sizeof(FunctionAttributes) == 144);

struct PointerAttributes {
  int type;  ///< 0 unregistered, 1 host, 2 device, 3 managed
  int device;
  void *device_pointer, *host_pointer;
  long reserved[8];
};
static_assert(sizeof(PointerAttributes) == 88);

struct DeviceProperties {
  char name[256];
  std::uint8_t uuid[16];
  char luid[8];
  unsigned luid_node_mask;
  std::size_t global_bytes, shared_bytes_per_block;
  int registers_per_block, warp_size;
  std::size_t max_pitch;
  int max_threads_per_block, max_block[3], max_grid[3];
  std::size_t constant_bytes;
  int major, minor;
  std::size_t texture_alignment, texture_pitch_alignment;
  int multiprocessors, integrated, can_map_host;
  int texture_1d, texture_1d_mipmap, texture_2d[2], texture_2d_mipmap[2], texture_2d_linear[3], texture_2d_gather[2];
  int texture_3d[3], texture_3d_alternative[3], texture_cube, texture_1d_layered[2], texture_2d_layered[3];
  int texture_cube_layered[2], surface_1d, surface_2d[2], surface_3d[3], surface_1d_layered[2], surface_2d_layered[3];
  int surface_cube, surface_cube_layered[2];
  std::size_t surface_alignment;
  int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, async_engines, unified_addressing, bus_width_bits;
  int l2_bytes, l2_persisting_bytes, max_threads_per_multiprocessor, stream_priorities, global_l1, local_l1;
  std::size_t shared_bytes_per_multiprocessor;
  int registers_per_multiprocessor, managed, multi_gpu_board, multi_gpu_group, host_native_atomics, pageable_access;
  int concurrent_managed, preemption, registered_host_pointer, cooperative_launch;
  std::size_t shared_bytes_per_block_optin;
  int pageable_host_tables, direct_managed_host, max_blocks_per_multiprocessor, policy_window_bytes;
  std::size_t reserved_shared_bytes;
  int host_register, sparse_arrays, host_register_read_only, semaphores, memory_pools, gpu_direct[3], pool_handles;
  int deferred_arrays, event_handles, cluster_launch, others[8];
  int reserved[56];
};
static_assert(offsetof(DeviceProperties, global_bytes) == 288);
static_assert(offsetof(DeviceProperties, major) == 360);
static_assert(offsetof(DeviceProperties, multiprocessors) == 384);
static_assert(offsetof(DeviceProperties, concurrent_kernels) == 560);
static_assert(offsetof(DeviceProperties, l2_bytes) == 596);
static_assert(offsetof(DeviceProperties, shared_bytes_per_multiprocessor) == 624);
static_assert(offsetof(DeviceProperties, cooperative_launch) == 668);
static_assert(offsetof(DeviceProperties, shared_bytes_per_block_optin) == 672);
static_assert(offsetof(DeviceProperties, cluster_launch) == 748);
static_assert(sizeof(DeviceProperties) == 1008);

}  // namespace atl::cudart
