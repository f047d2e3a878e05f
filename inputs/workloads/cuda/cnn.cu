// Inference of one image by a network with the layers of AlexNet, ResNet-18, ResNet-50 or SqueezeNet 1.0. Batch
// normalisation counts as folded into weights and biases; AlexNet's response normalisation is left out. Sizes can be scaled
// down.
//
//   weights, biases  of each layer: read-only. Convolution: those of an output channel are shared by the CTAs of its pixels;
//                    fully connected: a row belongs to one CTA, private.
//   activations      written by one layer, private; read-only in the next, where every CTA reads all channels: shared by all
//                    CTAs. The output of a SqueezeNet module is written by two kernels, channel after channel.
// A CTA of a convolution computes 256 pixels of one output channel, or all (`ctas channels`); with `split`, 32 pixels, for
// each of which several threads share the work, with the loads of four input channels under way at a time.
#include "cnn_layers.cuh"

using namespace workload;

void alexnet(Network& net, const Tensor& image) {
  const Tensor& a = net.pool(net.convolve(image, 96, 11, 4, 0), 3, 2);
  const Tensor& b = net.pool(net.convolve(a, 256, 5, 1, 2), 3, 2);
  const Tensor& c = net.convolve(net.convolve(b, 384, 3, 1, 1), 384, 3, 1, 1);
  const Tensor& d = net.pool(net.convolve(c, 256, 3, 1, 1), 3, 2);
  net.connect(net.connect(net.connect(d, net.narrow(4096), true), net.narrow(4096), true), 1000, false);
}

// `block` is Network::residual (ResNet-18 and the like) or Network::bottleneck (ResNet-50).
void resnet(Network& net, const Tensor& image, int blocks, const Tensor& (Network::*block)(const Tensor&, int, int)) {
  const Tensor* t = &net.pool(net.convolve(image, 64, 7, 2, 3), 3, 2, 1);
  for (const int channels : {64, 128, 256, 512}) {
    t = &(net.*block)(*t, channels, channels == 64 ? 1 : 2);
    for (int i = 1; i < blocks; ++i) t = &(net.*block)(*t, channels, 1);
  }
  net.connect(net.mean(*t), 1000, false);
}

void squeezenet(Network& net, const Tensor& image) {
  const Tensor& a = net.pool(net.convolve(image, 96, 7, 2, 0), 3, 2);
  const Tensor& b = net.pool(net.fire(net.fire(net.fire(a, 16, 64), 16, 64), 32, 128), 3, 2);
  const Tensor& c = net.fire(net.fire(net.fire(net.fire(b, 32, 128), 48, 192), 48, 192), 64, 256);
  net.mean(net.convolve(net.fire(net.pool(c, 3, 2), 64, 256), 1000, 1, 1, 0));
}

int main(int argc, char** argv) {
  Args args(argc, argv, "cnn: inference of one image");
  const std::string network = args.choice("network", {"alexnet", "resnet", "resnet50", "squeezenet"}, "layers of the network");
  const int size = args.number("image", 67, 32, 512, "rows and columns of the image; the networks were made for 227 or 224");
  const int divide = args.number("divide", 4, 1, 64, "divides the numbers of channels and of hidden units");
  const int split = args.number("split", 0, 0, 32, "most threads that share a pixel of a convolution; 0: the plain kernel");
  const int blocks = args.number("blocks", 2, 1, 8, "residual blocks of each of the four sizes of resnet and resnet50");
  const bool by_channel = args.choice("ctas", {"pixels", "channels"}, "what a CTA of a plain convolution computes") == "channels";
  args.done();
  if (by_channel && split > 0) fail("--ctas channels is a plain convolution: it has no --split");

  Network net(divide, split, by_channel);
  const Tensor& image = net.image(size);
  if (network == "alexnet") alexnet(net, image);
  if (network == "resnet") resnet(net, image, blocks, &Network::residual);
  if (network == "resnet50") resnet(net, image, blocks, &Network::bottleneck);
  if (network == "squeezenet") squeezenet(net, image);
  return net.report();
}
