#include <H5Cpp.h>

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

}  // namespace

TEST_CASE("HDF5 reads what the chunk filter makes at every level, and stores the same bytes itself at levels 0 and 2 to 9") {
  const Scratch scratch;
  std::mt19937_64 random(1);
  H5::H5File file(scratch.path("c.h5"), H5F_ACC_TRUNC);
  ChunkFilter filter;
  for (const unsigned element : {1U, 2U, 4U, 8U})
    for (unsigned level = 0; level <= 9; ++level)
      for (const hsize_t count : {hsize_t{1}, hsize_t{513}, hsize_t{20001}}) {
        CAPTURE(element);
        CAPTURE(level);
        CAPTURE(count);
        const Bytes bytes = column(random, element, count);
        Bytes packed;
        filter.apply(bytes, element, level, packed);
        const std::string name = std::to_string(element) + "-" + std::to_string(level) + "-" + std::to_string(count);
        const hsize_t start = 0;
        {
          const H5::DataSet ours = create(file, name, element, level, count);
          REQUIRE(H5Dwrite_chunk(ours.getId(), H5P_DEFAULT, 0, &start, packed.size(), packed.data()) >= 0);
        }
        Bytes back(bytes.size());
        file.openDataSet(name).read(back.data(), type_of(element));
        CHECK(back == bytes);
        if (level == 1) continue;
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

TEST_CASE("a bit that flips in a chunk is an error when it is read") {
  const Scratch scratch;
  std::mt19937_64 random(2);
  H5::Exception::dontPrint();
  H5::H5File file(scratch.path("c.h5"), H5F_ACC_TRUNC);
  ChunkFilter filter;
  const Bytes bytes = column(random, 1, 5000);
  Bytes packed, back(bytes.size());
  filter.apply(bytes, 1, 1, packed);
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
    ChunkFilter filter;
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
        filter.apply(chunk->bytes, chunk->element, 1, expected.emplace_back());
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
