/// A simulated machine's state is tens of megabytes and touched at random: with small pages, every other access misses the
/// host's TLB. jemalloc, which CMake links, reads this at its start and asks for huge pages; the system allocator does so
/// only where the environment says it (docs/performance.md). Above 8 MiB jemalloc would give all memory that is freed back
/// at once, and the system clear it again when the next vector of many chips' messages grows.
extern "C" const char* malloc_conf;
const char* malloc_conf = "thp:always,oversize_threshold:0";
