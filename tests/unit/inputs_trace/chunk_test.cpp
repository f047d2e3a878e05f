#include <H5Cpp.h>
#include <libdeflate.h>

#include <random>
#include <thread>

#include "inputs/trace/chunk_filter.hpp"
#include "inputs/trace/chunk_queue.hpp"
#include "support.hpp"

namespace atl::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

const H5::PredType& type_of(unsigned element) {
  return element == 1   ? H5::PredType::STD_U8LE
         : element == 2 ? H5::PredType::STD_U16LE
         : element == 4 ? H5::PredType::STD_U32LE
                        : H5::PredType::STD_U64LE;
}

H5::DataSet create(H5::H5File& file, const std::string& name, unsigned element, unsigned level, hsize_t count) {
  H5::DSetCreatPropList properties;
  properties.setChunk(1, &count);
  if (level != 0) properties.setShuffle(), properties.setDeflate(static_cast<int>(level));
  properties.setFletcher32();
  return file.createDataSet(name, type_of(element), H5::DataSpace(1, &count), properties);
}

/// Small numbers that repeat, of any width.
Bytes column(std::mt19937_64& random, unsigned element, std::size_t count) {
  Bytes bytes(element * count);
  for (std::size_t i = 0; i < count; ++i) bytes[i * element] = static_cast<std::uint8_t>(i % 21 + (random() % 16 == 0));
  return bytes;
}

/// Bytes of `values` values, with repeats of what stands before.
Bytes random_bytes(std::mt19937_64& random, std::size_t size, unsigned values, bool repeats) {
  Bytes bytes;
  while (bytes.size() < size) {
    if (repeats && bytes.size() > 4 && random() % 4 == 0) {
      const std::size_t distance = 1 + random() % bytes.size(), length = 1 + random() % (random() % 8 == 0 ? 2000 : 20);
      for (std::size_t i = 0; i < length; ++i) bytes.push_back(bytes[bytes.size() - distance]);
    } else {
      bytes.push_back(static_cast<std::uint8_t>(random() % values));
    }
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace

TEST_CASE("HDF5 reads what the chunk filter makes at every level, and stores the same bytes itself at level 0") {
  const Scratch scratch;
  std::mt19937_64 random(1);
  H5::H5File file(scratch.path("c.h5"), H5F_ACC_TRUNC);
  for (const unsigned element : {1U, 2U, 4U, 8U})
    for (unsigned level = 0; level <= 9; ++level)
      for (const hsize_t count : {hsize_t{1}, hsize_t{513}, hsize_t{20001}}) {
        CAPTURE(element);
        CAPTURE(level);
        CAPTURE(count);
        const Bytes bytes = column(random, element, count);
        Bytes packed;
        ChunkFilter(level).apply(bytes, element, packed);
        const std::string name = std::to_string(element) + "-" + std::to_string(level) + "-" + std::to_string(count);
        const hsize_t start = 0;
        {
          const H5::DataSet ours = create(file, name, element, level, count);
          REQUIRE(H5Dwrite_chunk(ours.getId(), H5P_DEFAULT, 0, &start, packed.size(), packed.data()) >= 0);
        }
        Bytes back(bytes.size());
        file.openDataSet(name).read(back.data(), type_of(element));
        CHECK(back == bytes);
        if (level != 0) continue;
        {
          const H5::DataSet theirs = create(file, name + "-", element, level, count);
          theirs.write(bytes.data(), type_of(element));
        }
        const H5::DataSet theirs = file.openDataSet(name + "-");
        hsize_t size = 0;
        REQUIRE(H5Dget_chunk_storage_size(theirs.getId(), &start, &size) >= 0);
        Bytes stored(size);
        std::uint32_t skipped = 0;
        REQUIRE(H5Dread_chunk(theirs.getId(), H5P_DEFAULT, &start, &skipped, stored.data()) >= 0);
        CHECK(stored == packed);
      }
}

TEST_CASE("HDF5 reads chunks of any length, of few and of many values, with and without repeats") {
  const Scratch scratch;
  std::mt19937_64 random(5);
  H5::H5File file(scratch.path("c.h5"), H5F_ACC_TRUNC);
  const hsize_t start = 0;
  unsigned made = 0;
  for (const unsigned level : {1U, 6U}) {
    CAPTURE(level);
    ChunkFilter filter(level);
    const auto check = [&](const Bytes& bytes) {
      CAPTURE(bytes.size());
      Bytes packed, again;
      filter.apply(bytes, 1, packed);
      ChunkFilter(level).apply(bytes, 1, again);
      CHECK(again == packed);  // whatever came before
      const std::string name = std::to_string(made++);
      {
        const H5::DataSet data = create(file, name, 1, level, bytes.size());
        REQUIRE(H5Dwrite_chunk(data.getId(), H5P_DEFAULT, 0, &start, packed.size(), packed.data()) >= 0);
      }
      Bytes back(bytes.size());
      file.openDataSet(name).read(back.data(), H5::PredType::STD_U8LE);
      REQUIRE(back == bytes);
      return packed.size();
    };
    std::vector<std::size_t> sizes = {1, 2, 3, 4, 7, 8, 257, 258, 259, 32767, 32768, 65535, 65536, 262144, 3000001};
    for (unsigned i = 0; i < 30; ++i) sizes.push_back(1 + random() % 3000);
    for (const std::size_t size : sizes)
      for (const unsigned values : {1U, 2U, 5U, 256U})
        for (const bool repeats : {false, true}) {
          CAPTURE(values);
          const std::size_t packed = check(random_bytes(random, size, values, repeats));
          CHECK(packed <= size + size / 1000 + 20);
          if (values == 1) CHECK(packed <= size / 100 + 100);
        }
    for (std::size_t distance = 32760; distance <= 32776; ++distance) {  // the window ends there
      Bytes bytes = random_bytes(random, 200, 256, false);
      bytes.resize(distance);
      bytes.insert(bytes.end(), bytes.begin(), bytes.begin() + 200);
      check(bytes);
    }
  }
}

TEST_CASE("an empty chunk, for which HDF5 has no place, becomes nothing, a checksum of it and one of all") {
  Bytes packed;
  ChunkFilter(1).apply({}, 1, packed);
  REQUIRE(packed.size() > 4);
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> decompressor(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  std::uint8_t byte = 0;
  std::size_t size = 1;
  CHECK(libdeflate_zlib_decompress(decompressor.get(), packed.data(), packed.size() - 4, &byte, 1, &size) ==
        LIBDEFLATE_SUCCESS);
  CHECK(size == 0);
}

TEST_CASE("a bit that flips in a chunk is an error when it is read") {
  const Scratch scratch;
  std::mt19937_64 random(2);
  H5::Exception::dontPrint();
  H5::H5File file(scratch.path("c.h5"), H5F_ACC_TRUNC);
  ChunkFilter filter(1);
  const Bytes bytes = column(random, 1, 5000);
  Bytes packed, back(bytes.size());
  filter.apply(bytes, 1, packed);
  packed[packed.size() / 2] ^= 4;
  const hsize_t start = 0;
  {
    const H5::DataSet data = create(file, "d", 1, 1, 5000);
    REQUIRE(H5Dwrite_chunk(data.getId(), H5P_DEFAULT, 0, &start, packed.size(), packed.data()) >= 0);
  }
  CHECK_THROWS_AS(file.openDataSet("d").read(back.data(), H5::PredType::STD_U8LE), H5::Exception);
}

TEST_CASE("chunks come out of the queue in the order in which they went in, all of them, with any number of helpers") {
  for (const unsigned helpers : {0U, 1U, 3U}) {
    CAPTURE(helpers);
    std::mt19937_64 random(3);
    ChunkQueue queue(1, helpers);
    ChunkFilter filter(1);
    for (unsigned kernel = 0; kernel < 3; ++kernel) {
      std::vector<Bytes> expected, got;
      const auto take = [&] {
        while (std::unique_ptr<Chunk> chunk = queue.take_done())
          got.push_back(chunk->packed), queue.give_back(std::move(chunk));
      };
      for (unsigned n = 0; n < 200; ++n) {
        std::unique_ptr<Chunk> chunk = queue.spare();
        CHECK(chunk->bytes.empty());
        chunk->element = 1U << n % 3;
        chunk->bytes = column(random, chunk->element, 100 + random() % 9000);
        filter.apply(chunk->bytes, chunk->element, expected.emplace_back());
        queue.push(std::move(chunk));
        if (n % 7 == 0) take();
        if (n % 50 == 0) queue.help();
      }
      queue.finish();
      take();
      CHECK(got == expected);
      queue.clear();
    }
  }
}

TEST_CASE("other threads help with chunks, and a queue that is cleared has none left") {
  ChunkQueue queue(1, 0);
  std::mt19937_64 random(4);
  const auto push = [&](unsigned count) {
    for (unsigned n = 0; n < count; ++n) {
      std::unique_ptr<Chunk> chunk = queue.spare();
      chunk->bytes = column(random, 1, 5000);
      queue.push(std::move(chunk));
    }
  };
  push(40);
  CHECK(queue.take_done() == nullptr);
  std::thread other([&] { queue.help(); });
  other.join();
  unsigned taken = 0;
  while (queue.take_done() != nullptr) ++taken;
  CHECK(taken == 40);
  push(10);
  queue.clear();
  queue.finish();
  CHECK(queue.take_done() == nullptr);
}

}  // namespace atl::test
