#include "inputs/cuda/record_options.hpp"

#include <cstdlib>

#include "core/engine/error.hpp"
#include "core/engine/whole_number.hpp"

namespace atl::cuda {
namespace {

constexpr char kOutput[] = "ATOLL_RECORD_OUTPUT", kKernels[] = "ATOLL_RECORD_KERNELS";
constexpr char kStopAfter[] = "ATOLL_RECORD_STOP_AFTER", kFirstCta[] = "ATOLL_RECORD_FIRST_CTA";
constexpr char kMaxCtas[] = "ATOLL_RECORD_MAX_CTAS";
constexpr char kMaxOps[] = "ATOLL_RECORD_MAX_OPS", kCompression[] = "ATOLL_RECORD_COMPRESSION";
constexpr char kThreads[] = "ATOLL_RECORD_THREADS", kCheck[] = "ATOLL_RECORD_CHECK";
constexpr char kSeed[] = "ATOLL_RECORD_SCHEDULE_SEED", kGivenSeed[] = "ATOLL_SCHEDULE_SEED";
constexpr char kLongTurns[] = "ATOLL_RECORD_LONG_TURNS", kTolerate[] = "ATOLL_RECORD_TOLERATE_OOB";
constexpr char kQuiet[] = "ATOLL_RECORD_QUIET", kSource[] = "ATOLL_RECORD_SOURCE", kImporter[] = "ATOLL_RECORD_IMPORTER";
constexpr char kPtxFolder[] = "ATOLL_RECORD_PTX_FOLDER";
constexpr char kDevice[] = "ATOLL_RECORD_DEVICE", kDevices[] = "ATOLL_RECORD_DEVICES";

std::string text_of(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

void number_of(const char* name, std::uint64_t& out) {
  const std::string text = text_of(name);
  if (text.empty()) return;
  const auto number = whole_number<std::uint64_t>(text);
  if (!number) throw InputError(name, "'" + text + "' is not a number");
  out = *number;
}

}  // namespace

std::vector<std::string> to_environment(const RecordOptions& o) {
  const auto line = [](const char* name, const std::string& value) { return std::string(name) + "=" + value; };
  return {line(kOutput, o.output),
          line(kKernels, o.kernels),
          line(kStopAfter, std::to_string(o.stop_after)),
          line(kFirstCta, std::to_string(o.first_cta)),
          line(kMaxCtas, std::to_string(o.max_ctas)),
          line(kMaxOps, std::to_string(o.max_ops)),
          line(kThreads, std::to_string(o.threads)),
          line(kCompression, std::to_string(o.compression)),
          line(kSeed, o.schedule_seed ? std::to_string(*o.schedule_seed) : text_of(kGivenSeed)),
          line(kDevice, to_text(o.device)),
          line(kDevices, std::to_string(o.devices)),
          line(kLongTurns, o.long_turns ? "1" : "0"),
          line(kTolerate, o.tolerate_oob ? "1" : "0"),
          line(kCheck, o.check ? "1" : "0"),
          line(kQuiet, o.quiet ? "1" : "0"),
          line(kPtxFolder, o.ptx_folder),
          line(kSource, o.source),
          line(kImporter, o.importer)};
}

std::optional<RecordOptions> options_from_environment() {
  RecordOptions o;
  o.output = text_of(kOutput);
  if (o.output.empty()) return std::nullopt;
  o.kernels = text_of(kKernels);
  number_of(kStopAfter, o.stop_after), number_of(kFirstCta, o.first_cta), number_of(kMaxCtas, o.max_ctas);
  number_of(kMaxOps, o.max_ops);
  number_of(kThreads, o.threads), number_of(kCompression, o.compression);
  if (o.compression > 9) throw InputError(kCompression, "'" + text_of(kCompression) + "' is not in 0 to 9");
  if (!text_of(kSeed).empty()) number_of(kSeed, o.schedule_seed.emplace());
  if (const std::string device = text_of(kDevice); !device.empty()) o.device = parse_device(device);
  number_of(kDevices, o.devices);
  if (o.devices == 0 || o.devices > kMostDevices)
    throw InputError(kDevices, "'" + text_of(kDevices) + "' is not in 1 to " + std::to_string(kMostDevices));
  o.long_turns = text_of(kLongTurns) == "1";
  o.tolerate_oob = text_of(kTolerate) == "1";
  o.check = text_of(kCheck) == "1";
  o.quiet = text_of(kQuiet) == "1";
  o.ptx_folder = text_of(kPtxFolder), o.source = text_of(kSource), o.importer = text_of(kImporter);
  return o;
}

}  // namespace atl::cuda
