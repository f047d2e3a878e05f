// Finite-volume solver of the Euler equations on an unstructured mesh with four faces per element: Rusanov fluxes, three
// Runge-Kutta stages per step. One thread per element; arrays are stored variable by variable.
//
//   variables           density, momentum, energy. `fluxes` reads its own and gathers those of four neighbours: from CTAs
//   near
//                       in number, but in no regular order (false sharing); written by `advance`, private
//   old, factor, area   private: `old` is a copy made between kernels, `factor` is written by `step_factors`
//   neighbours, normals read-only, private
//   residual            written by `fluxes`, read by `advance`, private
#include "common.cuh"

using namespace workload;

constexpr int kVariables = 5, kFaces = 4, kWall = -1, kFarField = -2;

struct State {
  float density, x, y, z, energy;  // x, y, z: momentum
};

__host__ __device__ inline State load(const float* v, int n, int i) {
  return {v[i], v[n + i], v[2 * n + i], v[3 * n + i], v[4 * n + i]};
}

__host__ __device__ inline float pressure(const State& s) {
  return 0.4f * (s.energy - 0.5f * (s.x * s.x + s.y * s.y + s.z * s.z) / s.density);
}

// Fastest signal: flow plus sound
__host__ __device__ inline float signal(const State& s) {
  return sqrtf(s.x * s.x + s.y * s.y + s.z * s.z) / s.density + sqrtf(1.4f * pressure(s) / s.density);
}

// Adds `weight` times the flux of state s through a face.
__host__ __device__ inline void add_flux(State& sum, const State& s, float nx, float ny, float nz, float weight) {
  const float p = pressure(s), speed = (s.x * nx + s.y * ny + s.z * nz) / s.density;
  sum.density += weight * s.density * speed;
  sum.x += weight * (s.x * speed + p * nx);
  sum.y += weight * (s.y * speed + p * ny);
  sum.z += weight * (s.z * speed + p * nz);
  sum.energy += weight * (s.energy + p) * speed;
}

__host__ __device__ inline State residual_of(const float* variables, const int* neighbours, const float* normals,
                                             State far_field, int n, int i) {
  const State own = load(variables, n, i);
  const float own_signal = signal(own);
  State sum = {};
  for (int face = 0; face < kFaces; ++face) {
    const int at = neighbours[face * n + i];
    const float* normal = normals + 3 * face * n + i;
    const float nx = normal[0], ny = normal[n], nz = normal[2 * n];
    if (at == kWall) {
      const float p = pressure(own);
      sum.x -= p * nx, sum.y -= p * ny, sum.z -= p * nz;
      continue;
    }
    const State other = at == kFarField ? far_field : load(variables, n, at);
    add_flux(sum, own, nx, ny, nz, -0.5f);
    add_flux(sum, other, nx, ny, nz, -0.5f);
    const float damping = 0.25f * (own_signal + signal(other)) * sqrtf(nx * nx + ny * ny + nz * nz);
    sum.density += damping * (other.density - own.density);
    sum.x += damping * (other.x - own.x);
    sum.y += damping * (other.y - own.y);
    sum.z += damping * (other.z - own.z);
    sum.energy += damping * (other.energy - own.energy);
  }
  return sum;
}

__host__ __device__ inline void store(float* v, int n, int i, const State& s) {
  v[i] = s.density, v[n + i] = s.x, v[2 * n + i] = s.y, v[3 * n + i] = s.z, v[4 * n + i] = s.energy;
}

__host__ __device__ inline float factor_of(const State& s, float area) { return 0.3f / (sqrtf(area) * signal(s)); }

__global__ void step_factors(float* factor, const float* variables, const float* area, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) factor[i] = factor_of(load(variables, n, i), area[i]);
}

__global__ void fluxes(float* residual, const float* variables, const int* neighbours, const float* normals, State far_field,
                       int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) store(residual, n, i, residual_of(variables, neighbours, normals, far_field, n, i));
}

__global__ void advance(float* variables, const float* old, const float* factor, const float* residual, int stages_left,
                        int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float f = factor[i] / float(stages_left);
  for (int v = 0; v < kVariables; ++v) variables[v * n + i] = old[v * n + i] + f * residual[v * n + i];
}

// A sheet of width x height elements, numbered row by row but shuffled within windows of 512.
struct Mesh {
  std::vector<int> neighbours;
  std::vector<float> normals;

  Mesh(int width, int height) {
    const int n = width * height;
    Random random(1);
    std::vector<int> number(n);
    for (int i = 0; i < n; ++i) number[i] = i;
    for (int i = 0; i < n; ++i) {
      const int window = i / 512 * 512;
      std::swap(number[i], number[window + random.below(i - window + 1)]);
    }
    neighbours.resize(std::size_t(kFaces) * n);
    normals.resize(std::size_t(3 * kFaces) * n);
    const int dx[] = {-1, 1, 0, 0}, dy[] = {0, 0, -1, 1};
    for (int at = 0; at < n; ++at) {
      for (int face = 0; face < kFaces; ++face) {
        const int x = at % width + dx[face], y = at / width + dy[face], i = number[at];
        const bool inside = x >= 0 && x < width && y >= 0 && y < height;
        neighbours[std::size_t(face) * n + i] = inside ? number[y * width + x] : dx[face] != 0 ? kFarField : kWall;
        float* normal = &normals[std::size_t(3 * face) * n + i];
        normal[0] = float(dx[face]), normal[n] = float(dy[face]), normal[2 * n] = random.uniform(-0.1f, 0.1f);
      }
    }
  }
};

int main(int argc, char** argv) {
  Args args(argc, argv, "cfd: Euler equations on an unstructured mesh");
  const int width = args.number("width", 192, 1, 16384, "elements along the flow");
  const int height = args.number("height", 128, 1, 8192, "elements across the flow");
  const int steps = args.number("steps", 2, 1, 10000, "time steps of three stages");
  args.done();
  const int n = width * height, threads = 192, ctas = ceil_div(n, threads);

  const Mesh mesh(width, height);
  const State far_field = {1.4f, 0.7f, 0, 0, 2.7f};
  const auto area = random_floats(n, 2, 0.5f, 1.5f), noise = random_floats(n, 3, 0.9f, 1.1f);
  std::vector<float> start(std::size_t(kVariables) * n);
  for (int i = 0; i < n; ++i) store(start.data(), n, i, {1.4f * noise[i], 0.7f, 0, 0, 2.7f * noise[i]});

  const DeviceArray<float> variables(start), old(start.size()), residual(start.size()), factor(n), device_area(area);
  const DeviceArray<int> neighbours(mesh.neighbours);
  const DeviceArray<float> normals(mesh.normals);
  for (int step = 0; step < steps; ++step) {
    check(cudaMemcpy(old, variables, start.size() * sizeof(float), cudaMemcpyDeviceToDevice));
    step_factors<<<ctas, threads>>>(factor, variables, device_area, n);
    finish_kernel();
    for (int stages_left = 3; stages_left > 0; --stages_left) {
      fluxes<<<ctas, threads>>>(residual, variables, neighbours, normals, far_field, n);
      finish_kernel();
      advance<<<ctas, threads>>>(variables, old, factor, residual, stages_left, n);
      finish_kernel();
    }
  }

  std::vector<float> want = start, begin, change(start.size()), factors(n);
  for (int stage = 0; stage < 3 * steps; ++stage) {
    if (stage % 3 == 0) begin = want;
    for (int i = 0; i < n && stage % 3 == 0; ++i) factors[i] = factor_of(load(want.data(), n, i), area[i]);
    for (int i = 0; i < n; ++i) {
      store(change.data(), n, i, residual_of(want.data(), mesh.neighbours.data(), mesh.normals.data(), far_field, n, i));
    }
    for (std::size_t k = 0; k < want.size(); ++k) want[k] = begin[k] + factors[k % n] / float(3 - stage % 3) * change[k];
  }
  Check check;
  check.close("variables", variables.download(), want, 1e-4);
  return check.report();
}
