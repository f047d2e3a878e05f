#include <doctest/doctest.h>

#include "core/engine/error.hpp"
#include "inputs/cuda/device_model.hpp"

using namespace atl;
using namespace atl::cuda;

TEST_CASE("a compute capability sets the limits of an SM, and single ones may differ") {
  const DeviceModel a100 = parse_device("sm_80,sms=108,mem=40g,l2=40m,clock=1410");
  CHECK(a100.arch == 80);
  CHECK(a100.sms == 108);
  CHECK(a100.memory_bytes == 40ull << 30);
  CHECK(a100.l2_bytes == 40 << 20);
  CHECK(a100.clock_khz == 1410000);
  CHECK(a100.shared_per_sm == 164 * 1024);
  CHECK(a100.shared_per_block() == 48 * 1024);
  CHECK(a100.shared_per_block_optin() == 163 * 1024);
  const DeviceModel turing = parse_device("sm_75");
  CHECK(turing.threads_per_sm == 1024);
  CHECK(turing.blocks_per_sm == 16);
  CHECK(turing.shared_per_block_optin() == 64 * 1024);
  CHECK(parse_device("shared=32k,reserved=0").shared_per_block() == 32 * 1024);
  const DeviceModel standard = parse_device("sm_90");
  CHECK(to_text(standard) == to_text(DeviceModel{}));
}

TEST_CASE("a device comes back from its text") {
  const std::string text =
      to_text(parse_device("sm_86,sms=46,threads=512,blocks=8,registers=32768,shared=64k,mem=8g,name=a b"));
  CHECK(to_text(parse_device(text)) == text);
}

TEST_CASE("what is no device is refused with an example") {
  for (const char* bad :
       {"", "sm_100", "sm_8", "sms=0", "sms=x", "mem=40t", "mem=1k", "sms=4,sm_80", "chips=4", "sms=12k"}) {
    CAPTURE(bad);
    CHECK_THROWS_WITH_AS(parse_device(bad), doctest::Contains("--device"), InputError);
  }
}

TEST_CASE("as many blocks are resident as threads, blocks, registers and shared memory allow") {
  const DeviceModel d = parse_device("sm_80");
  CHECK(resident_blocks(d, 0, 16, 32) == 32);
  CHECK(resident_blocks(d, 0, 16, 1024) == 2);
  CHECK(resident_blocks(d, 0, 128, 256) == 2);
  CHECK(resident_blocks(d, 40 * 1024, 16, 64) == 4);
  CHECK(resident_blocks(d, 170 * 1024, 16, 64) == 0);
  CHECK(resident_blocks(parse_device("sm_75"), 0, 16, 1024) == 1);
}
