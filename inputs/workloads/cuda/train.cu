// One training step of a network with the layers of VGG16 or ResNet18: forward, loss, backward, and gradient descent.
// Without batch normalisation and dropout; 200 classes; one hidden layer of 2048 units in VGG16. Sizes can be scaled down.
//
//   parameters   of a layer: read-only but for `update`; shared by the CTAs of all images, and by those of some channels
//   activations  written by one layer; read-only in the next, by the CTAs of their image, of which each that computes a
//                convolution reads all channels. Again in the backward pass. `relu` changes them in place.
//   gradients    of activations: likewise, in the other order. Of parameters: one set per image, written by the CTAs of
//                the image; `update` reads all sets.
// A CTA computes 16 rows x 16 columns of a product (train_kernels.cuh), an element per thread.
#include "train_layers.cuh"

using namespace workload;

constexpr int kClasses = 200;

Tensor& vgg16(Network& net, Tensor& image, int blocks) {
  Tensor* t = &image;
  for (const auto& [channels, layers] : {std::pair(64, 2), {128, 2}, {256, 3}, {512, 3}, {512, 3}}) {
    for (int i = 0; i < std::min(layers, blocks); ++i) t = &net.relu(net.convolve(*t, net.narrow(channels), 3, 1, 1));
    t = &net.max_pool(*t, 2, 2, 0);
  }
  return net.connect(net.relu(net.connect(*t, net.narrow(2048))), kClasses);
}

Tensor& residual(Network& net, Tensor& in, int channels, int stride) {
  Tensor& a = net.convolve(net.relu(net.convolve(in, channels, 3, stride, 1)), channels, 3, 1, 1);
  Tensor& b = stride == 1 && in.channels == channels ? in : net.convolve(in, channels, 1, stride, 0);
  return net.relu(net.add(a, b));
}

Tensor& resnet18(Network& net, Tensor& image, int blocks) {
  Tensor* t = &net.max_pool(net.relu(net.convolve(image, net.narrow(64), 7, 2, 3)), 3, 2, 1);
  for (const int channels : {64, 128, 256, 512}) {
    for (int i = 0; i < std::min(2, blocks); ++i)
      t = &residual(net, *t, net.narrow(channels), i == 0 && channels > 64 ? 2 : 1);
  }
  return net.connect(net.mean_pool(*t), kClasses);
}

int main(int argc, char** argv) {
  Args args(argc, argv, "train: one training step of a convolutional network");
  const std::string network = args.choice("network", {"vgg16", "resnet18"}, "layers of the network");
  const int images = args.number("images", 4, 1, 32, "images of the batch");
  const int size = args.number("image", 32, 32, 224, "rows and columns of an image");
  const int divide = args.number("divide", 16, 1, 64, "divides the numbers of channels and of hidden units");
  const int blocks = args.number("blocks", 3, 1, 3, "most convolutions (vgg16) or residual blocks (resnet18) of one size");
  args.done();

  Network net(images, divide);
  Tensor& image = net.image(size);
  Tensor& scores = network == "vgg16" ? vgg16(net, image, blocks) : resnet18(net, image, blocks);
  net.learn(scores, 0.01f);
  return net.report();
}
