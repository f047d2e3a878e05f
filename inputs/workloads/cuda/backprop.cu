// One training step of a network with one hidden layer of 16 units and one output; the layer below is the large one. The
// device computes the hidden layer's sums (`layer_forward`) and adjusts its weights (`adjust_weights`), the host the rest.
// CTAs have 16 x 16 threads: 16 inputs x 16 hidden units. Input 0 is the constant 1, row 0 of the weights the bias.
//
//   input     read-only; a CTA reads 16 elements; CTAs next to each other share its lines
//   weights   (inputs + 1) x 17, column 0 unused, so that rows are not aligned to lines: read-only in `layer_forward`, read
//             and written in `adjust_weights`, private except for lines at the seams of CTAs
//   previous  last change of each weight, read and written in `adjust_weights`, as the weights
//   partial   sums of 16 inputs: written by `layer_forward`, private; read by the host
//   delta     errors of the hidden units, read-only in `adjust_weights`, shared by all CTAs
#include "common.cuh"

using namespace workload;

constexpr int kHidden = 16, kPitch = kHidden + 1;
constexpr float kRate = 0.3f, kMomentum = 0.3f;

__global__ void layer_forward(float* partial, const float* input, const float* weights) {
  __shared__ float products[kHidden][kHidden];
  const int unit = threadIdx.x, row = threadIdx.y;
  const int i = blockIdx.x * kHidden + row + 1;
  products[row][unit] = input[i] * weights[i * kPitch + unit + 1];
  __syncthreads();
  for (int half = kHidden / 2; half > 0; half /= 2) {
    if (row < half) products[row][unit] += products[row + half][unit];
    __syncthreads();
  }
  if (row == 0) partial[blockIdx.x * kHidden + unit] = products[0][unit];
}

__global__ void adjust_weights(float* weights, float* previous, const float* input, const float* delta) {
  const int unit = threadIdx.x;
  int i = blockIdx.x * kHidden + threadIdx.y + 1;
  for (int rows = i == 1 ? 2 : 1; rows > 0; --rows, i = 0) {  // the first row of threads also adjusts the bias
    const int at = i * kPitch + unit + 1;
    const float change = kRate * delta[unit] * input[i] + kMomentum * previous[at];
    weights[at] += change;
    previous[at] = change;
  }
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Errors of the hidden units, from their activations, for a target of 1.
std::vector<float> hidden_delta(const std::vector<double>& hidden, const std::vector<float>& output_weights) {
  double sum = 0;
  for (int j = 0; j < kHidden; ++j) sum += hidden[j] * output_weights[j];
  const double out = sigmoid(sum), error = out * (1 - out) * (1 - out);
  std::vector<float> delta(kHidden);
  for (int j = 0; j < kHidden; ++j) delta[j] = float(hidden[j] * (1 - hidden[j]) * output_weights[j] * error);
  return delta;
}

int main(int argc, char** argv) {
  Args args(argc, argv, "backprop: one training step of a network with 16 hidden units");
  const int ctas = args.number("ctas", 1024, 1, 1 << 20, "groups of 16 inputs, one CTA each");
  args.done();
  const int inputs = ctas * kHidden;

  auto input = random_floats(std::size_t(inputs) + 1, 1, -1);
  input[0] = 1;
  const float bound = 4 / std::sqrt(float(inputs));
  const auto weights = random_floats(input.size() * kPitch, 2, -bound, bound);
  const auto output_weights = random_floats(kHidden, 3, -1);
  const DeviceArray<float> device_input(input), device_weights(weights), partial(std::size_t(ctas) * kHidden);
  DeviceArray<float> previous(weights.size());
  previous.clear();

  layer_forward<<<ctas, dim3(kHidden, kHidden)>>>(partial, device_input, device_weights);
  finish_kernel();
  const auto sums = partial.download();
  std::vector<double> hidden(weights.begin() + 1, weights.begin() + 1 + kHidden);  // the bias
  for (std::size_t i = 0; i < sums.size(); ++i) hidden[i % kHidden] += sums[i];
  for (double& h : hidden) h = sigmoid(h);
  const DeviceArray<float> delta(hidden_delta(hidden, output_weights));
  adjust_weights<<<ctas, dim3(kHidden, kHidden)>>>(device_weights, previous, device_input, delta);
  finish_kernel();

  std::vector<double> want_hidden(kHidden), want_weights(weights.begin(), weights.end()), change(weights.size());
  for (int j = 0; j < kHidden; ++j) {
    double sum = 0;
    for (int i = 0; i <= inputs; ++i) sum += double(input[i]) * weights[std::size_t(i) * kPitch + j + 1];
    want_hidden[j] = sigmoid(sum);
  }
  const auto want_delta = hidden_delta(want_hidden, output_weights);
  for (int i = 0; i <= inputs; ++i) {
    for (int j = 0; j < kHidden; ++j) {
      const std::size_t at = std::size_t(i) * kPitch + j + 1;
      change[at] = double(kRate) * want_delta[j] * input[i];
      want_weights[at] += change[at];
    }
  }
  Check check;
  check.close("hidden", std::vector<float>(hidden.begin(), hidden.end()), want_hidden, 1e-5);
  check.close("weights", device_weights.download(), want_weights, 1e-6);
  check.close("previous", previous.download(), change, 1e-6);
  return check.report();
}
