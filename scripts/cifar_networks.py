"""Networks of today's CIFAR recipes as models/ has them, written out by hand: functions of a Network of
make_training_goldens.py and of images [n, 3, 32, 32] that return logits [n, 10]."""
import torch
import torch.nn.functional as F

TORCH_EPSILON = 1e-5  # of PyTorch's batch norm


def airbench94(net, x):
    def active(path, x):
        return F.gelu(net.bn(path, x, 1e-12, scale=False))

    x = F.gelu(net.conv("conv1", x, 24, 2, pad="valid"))
    for group, width in enumerate((64, 256, 256), 1):
        path = f"group{group}."
        x = net.conv(path + "conv1", x, width, 3, pad="symmetric", bias=False)
        x = active(path + "bn1", F.max_pool2d(x, 2))
        x = active(path + "bn2", net.conv(path + "conv2", x, width, 3, pad="symmetric", bias=False))
    return net.dense("dense1", F.max_pool2d(x, 3), 10, bias=False) / 9


def wide_resnet(net, x):
    """WRN-16-1 whose branches are dropped for a quarter of the samples."""
    def conv(path, x, filters, kernel=3, stride=1):
        return net.conv(path + ".conv1", x, filters, kernel, stride, "symmetric", bias=False)

    def active(path, x):
        return F.relu(net.bn(path, x, TORCH_EPSILON))

    def branch(path, x, filters, stride=1):
        x = active(path + ".bn1", conv(path + ".fan_out_conv1", x, filters, stride=stride))
        return net.drop_path(path + ".drop_path1", conv(path + ".fan_out_conv2", x, filters), 0.25)

    x = conv("fan_out_conv1", x, 16)
    for stage, (filters, stride) in enumerate(((16, 1), (32, 2), (64, 2)), 1):
        first, second = f"add{2 * stage - 1}.", f"add{2 * stage}."
        x = active(f"bn{stage}", x)
        x = (branch(first + "0.branch1", x, filters, stride) +
             conv(first + "1.fan_out_conv1", x, filters, 1, stride))
        x = branch(second + "0.branch1", active(second + "0.bn1", x), filters) + x
    return net.dense("dense1", active("bn4", x).mean((2, 3)), 10)


def densenet(net, x):
    """DenseNet-BC with n = 3 and k = 4."""
    n, k = 3, 4

    def conv(path, x, filters, kernel):
        x = F.relu(net.bn(path + ".bn1", x, TORCH_EPSILON))
        return net.conv(path + ".conv1", x, filters, kernel, pad="symmetric", bias=False)

    x = net.conv("conv1", x, 2 * k, 3, pad="symmetric", bias=False)
    for block in range(1, 4):
        for unit in range(1, n + 1):
            path = f"dense_block{block}.concat{unit}.1.bn_relu_conv"
            x = torch.cat([x, conv(path + "2", conv(path + "1", x, 4 * k, 1), k, 3)], 1)
        if block < 3:
            x = F.avg_pool2d(conv(f"transition{block}.bn_relu_conv1", x, x.shape[1] // 2, 1), 2)
    return net.dense("dense1", F.relu(net.bn("bn1", x, TORCH_EPSILON)).mean((2, 3)), 10)


def convmixer(net, x):
    """ConvMixer-24/2."""
    width, depth = 24, 2

    def mixed(path, index, x, kernel, stride=1, pad="symmetric", groups=1):
        x = net.conv(f"{path}conv{index}", x, width, kernel, stride, pad, groups=groups)
        return net.bn(f"{path}bn{index}", F.gelu(x), TORCH_EPSILON)

    x = mixed("", 1, x, 2, 2, "valid")
    for unit in range(1, depth + 1):
        x = mixed("", unit + 1, mixed(f"add{unit}.0.", 1, x, 5, groups=width) + x, 1)
    return net.dense("dense1", x.mean((2, 3)), 10)


def mobilenet_v2(net, x):
    """MobileNetV2 with the first two stages and one unit of the third, each of which halves the maps."""
    def conv_bn(path, x, filters, kernel=1, stride=1, groups=1):
        x = net.conv(path + ".conv1", x, filters, kernel, stride, "symmetric", bias=False, groups=groups)
        return net.bn(path + ".bn1", x, TORCH_EPSILON)

    def inverted(path, x, expand, filters, stride=1):
        inner, index = expand * x.shape[1], 1
        if expand > 1:
            x, index = F.relu6(conv_bn(path + ".conv_bn1", x, inner)), 2
        x = F.relu6(conv_bn(f"{path}.conv_bn{index}", x, inner, 3, stride, inner))
        return conv_bn(f"{path}.conv_bn{index + 1}", x, filters)

    x = inverted("inverted1", F.relu6(conv_bn("conv_bn1", x, 32, 3)), 1, 16, 2)
    x = inverted("inverted2", x, 6, 24, 2)
    x = inverted("add1.0.inverted1", x, 6, 24) + x
    x = inverted("inverted3", x, 6, 32, 2)
    return net.dense("dense1", F.relu6(conv_bn("conv_bn2", x, 1280)).mean((2, 3)), 10)
