// Survey propagation on a random formula of clauses with three literals each: a bipartite graph without any locality. In
// each step `survey` has every clause warn its literals how much it depends on them, and `settle` has every literal weigh
// the warnings.
//
//   members   literals of each clause with their signs: read-only, private
//   weights   of the literals: read-only in `survey`, where each is gathered by the clauses that it is in, all over the GPU;
//             written privately in `settle`
//   warnings  per literal and sign: updated by atomics in `survey`, at random; read and reset privately in `settle`
//   surveys   of each clause: written, private
// Warnings are added up in fixed point, so that their order does not matter.
#include "common.cuh"

using namespace workload;

constexpr int kPerClause = 3;
constexpr float kOne = 65536;  // of a warning

__host__ __device__ inline float pressure(float2 weight, bool negated) {
  return (negated ? weight.x : weight.y) / (1 + weight.x + weight.y);
}
__host__ __device__ inline float2 settled(int for_it, int against_it) {
  return {1 / (1 + for_it / kOne), 1 / (1 + against_it / kOne)};
}

__global__ void survey(float* surveys, int* warnings, const float2* weights, const int* members, int clauses) {
  const int clause = blockIdx.x * blockDim.x + threadIdx.x;
  if (clause >= clauses) return;
  int member[kPerClause];
  float2 weight[kPerClause];
  for (int i = 0; i < kPerClause; ++i) member[i] = members[i * clauses + clause];
  loads_issued();
  for (int i = 0; i < kPerClause; ++i) weight[i] = weights[member[i] / 2];
  loads_issued();
  for (int i = 0; i < kPerClause; ++i) {
    const int j = (i + 1) % kPerClause, k = (i + 2) % kPerClause;
    const float warning = pressure(weight[j], member[j] & 1) * pressure(weight[k], member[k] & 1);
    surveys[i * clauses + clause] = warning;
    atomicAdd(&warnings[member[i]], int(warning * kOne));
  }
}

__global__ void settle(float2* weights, int2* warnings, int literals) {
  const int literal = blockIdx.x * blockDim.x + threadIdx.x;
  if (literal >= literals) return;
  const int2 w = warnings[literal];
  weights[literal] = settled(w.x, w.y);
  warnings[literal] = {0, 0};
}

int main(int argc, char** argv) {
  Args args(argc, argv, "surveyprop: survey propagation on a random formula");
  const int literals = args.number("literals", 16384, 1, 1 << 24, "literals of the formula");
  const int clauses = args.number("clauses", 65536, 1, 1 << 26, "clauses of three literals");
  const int steps = args.number("steps", 2, 1, 1000, "rounds of warnings");
  const int threads = args.number("threads", 256, 32, 1024, "threads per CTA");
  args.done();

  Random random(1);
  std::vector<int> members(std::size_t(kPerClause) * clauses);
  for (int& m : members) m = random.below(2 * literals);
  const auto drawn = random_floats(2 * std::size_t(literals), 2);
  std::vector<float2> weights(literals);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = {drawn[2 * i], drawn[2 * i + 1]};

  const DeviceArray<int> device_members(members);
  const DeviceArray<float2> device_weights(weights);
  DeviceArray<int> warnings(2 * std::size_t(literals));
  const DeviceArray<float> surveys(members.size());
  warnings.clear();
  for (int step = 0; step < steps; ++step) {
    survey<<<ceil_div(clauses, threads), threads>>>(surveys, warnings, device_weights, device_members, clauses);
    finish_kernel();
    settle<<<ceil_div(literals, threads), threads>>>(device_weights, reinterpret_cast<int2*>(static_cast<int*>(warnings)),
                                                     literals);
    finish_kernel();
  }

  std::vector<float> want(members.size());
  for (int step = 0; step < steps; ++step) {
    std::vector<int> sums(2 * std::size_t(literals));
    for (int c = 0; c < clauses; ++c) {
      for (int i = 0; i < kPerClause; ++i) {
        const int j = members[(i + 1) % kPerClause * std::size_t(clauses) + c],
                  k = members[(i + 2) % kPerClause * std::size_t(clauses) + c];
        const float warning = pressure(weights[j / 2], j & 1) * pressure(weights[k / 2], k & 1);
        want[i * std::size_t(clauses) + c] = warning;
        sums[members[i * std::size_t(clauses) + c]] += int(warning * kOne);
      }
    }
    for (int l = 0; l < literals; ++l) weights[l] = settled(sums[2 * l], sums[2 * l + 1]);
  }
  std::vector<float> flat, got;
  for (const float2 w : weights) flat.push_back(w.x), flat.push_back(w.y);
  std::vector<float2> back = device_weights.download();
  for (const float2 w : back) got.push_back(w.x), got.push_back(w.y);
  Check check;
  check.close("weights", got, flat, 1e-3);
  check.close("surveys", surveys.download(), want, 1e-3);
  return check.report();
}
