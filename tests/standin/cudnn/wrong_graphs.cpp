#include "wrong_parts.h"

namespace standin_tests {
namespace {

/// Valid parts with one thing changed.
template <class Parts>
struct Change {
  const char* what;
  cudnnStatus_t status;
  void (*spoil)(Parts&);
};

template <class Parts>
void append(std::vector<WrongParts>& to, const std::string& name, const Parts& sound,
            Raw (*make)(Maker&, const Parts&), const std::vector<Change<Parts>>& changes) {
  for (const Change<Parts>& change : changes) {
    to.push_back({name + ": " + change.what, change.status, [=](Maker& maker) {
                    Parts parts = sound;
                    change.spoil(parts);
                    make(maker, parts);
                  }});
  }
}

std::vector<Change<TensorParts>> tensors() {
  return {
      {"right", kSuccess, [](TensorParts&) {}},
      {"no id", kSuccess, [](TensorParts& t) { t.id = {}; }},
      {"no type", kSuccess, [](TensorParts& t) { t.type = {}; }},
      {"no alignment", kBad, [](TensorParts& t) { t.alignment = {}; }},
      {"no extents", kBad, [](TensorParts& t) { t.extents = {}; }},
      {"no strides", kBad, [](TensorParts& t) { t.strides = {}; }},
      {"three strides", kBad, [](TensorParts& t) { t.strides.pop_back(); }},
      {"three extents", kBad, [](TensorParts& t) { t.extents.pop_back(); }},
      {"three both", kSuccess,
       [](TensorParts& t) {
         t.extents = {2, 8, 6};
         t.strides = {48, 6, 1};
       }},
      {"one axis", kSuccess,
       [](TensorParts& t) {
         t.extents = {2};
         t.strides = {1};
       }},
      {"nine axes", kBad,
       [](TensorParts& t) {
         t.extents.assign(9, 1);
         t.strides.assign(9, 1);
       }},
      {"eight axes", kSuccess,
       [](TensorParts& t) {
         t.extents.assign(8, 1);
         t.strides.assign(8, 1);
       }},
      {"extent 0", kSuccess, [](TensorParts& t) { t.extents[2] = 0; }},
      {"extent -1", kBad, [](TensorParts& t) { t.extents[2] = -1; }},
      {"stride 0", kSuccess, [](TensorParts& t) { t.strides[2] = 0; }},
      {"stride -1", kBad, [](TensorParts& t) { t.strides[2] = -1; }},
      {"overlapping strides", kSuccess,
       [](TensorParts& t) {
         t.strides = {1, 1, 1, 1};
       }},
      {"huge", kSuccess,
       [](TensorParts& t) {
         t.extents = {1 << 20, 1 << 20, 1 << 20, 1 << 20};
       }},
      {"alignment 0", kBad, [](TensorParts& t) { t.alignment = 0; }},
      {"alignment 2", kBad, [](TensorParts& t) { t.alignment = 2; }},
      {"alignment 3", kBad, [](TensorParts& t) { t.alignment = 3; }},
      {"alignment 24", kSuccess, [](TensorParts& t) { t.alignment = 24; }},
      {"alignment -16", kBad, [](TensorParts& t) { t.alignment = -16; }},
      {"id -1", kSuccess, [](TensorParts& t) { t.id = -1; }},
      {"id 0", kSuccess, [](TensorParts& t) { t.id = 0; }},
  };
}

std::vector<Change<ConvolutionParts>> convolutions() {
  return {
      {"right", kSuccess, [](ConvolutionParts&) {}},
      {"no axes", kBad, [](ConvolutionParts& c) { c.axes = {}; }},
      {"axes 0", kBad, [](ConvolutionParts& c) { c.axes = 0; }},
      {"axes 3", kBad, [](ConvolutionParts& c) { c.axes = 3; }},
      {"axes 1", kBad, [](ConvolutionParts& c) { c.axes = 1; }},
      {"axes 7", kBad, [](ConvolutionParts& c) { c.axes = 7; }},
      {"axes -1", kBad, [](ConvolutionParts& c) { c.axes = -1; }},
      {"no type", kSuccess, [](ConvolutionParts& c) { c.type = {}; }},
      {"type 31", kSuccess, [](ConvolutionParts& c) { c.type = static_cast<cudnnDataType_t>(31); }},
      {"no mode", kSuccess, [](ConvolutionParts& c) { c.mode = {}; }},
      {"no before", kSuccess, [](ConvolutionParts& c) { c.before = {}; }},
      {"no after", kSuccess, [](ConvolutionParts& c) { c.after = {}; }},
      {"no dilation", kBad, [](ConvolutionParts& c) { c.dilation = {}; }},
      {"no stride", kBad, [](ConvolutionParts& c) { c.stride = {}; }},
      {"three before", kBad,
       [](ConvolutionParts& c) {
         c.before = {1, 1, 1};
       }},
      {"one stride", kBad, [](ConvolutionParts& c) { c.stride = {1}; }},
      {"before -1", kBad,
       [](ConvolutionParts& c) {
         c.before = {-1, 1};
       }},
      {"after -1", kBad,
       [](ConvolutionParts& c) {
         c.after = {-1, 1};
       }},
      {"dilation 0", kBad,
       [](ConvolutionParts& c) {
         c.dilation = {0, 1};
       }},
      {"stride 0", kBad,
       [](ConvolutionParts& c) {
         c.stride = {0, 1};
       }},
      {"stride -1", kBad,
       [](ConvolutionParts& c) {
         c.stride = {-1, 1};
       }},
  };
}

std::vector<Change<OperationParts>> operations() {
  return {
      {"right", kSuccess, [](OperationParts&) {}},
      {"no convolution", kBad, [](OperationParts& o) { o.convolution = {}; }},
      {"no input", kBad, [](OperationParts& o) { o.input = {}; }},
      {"no weight", kBad, [](OperationParts& o) { o.weight = {}; }},
      {"no output", kBad, [](OperationParts& o) { o.output = {}; }},
      {"no alpha", kSuccess, [](OperationParts& o) { o.alpha = {}; }},
      {"no beta", kSuccess, [](OperationParts& o) { o.beta = {}; }},
      {"open convolution", kBad, [](OperationParts& o) { o.convolution->finalized = false; }},
      {"open input", kBad, [](OperationParts& o) { o.input->finalized = false; }},
      {"open weight", kBad, [](OperationParts& o) { o.weight->finalized = false; }},
      {"weight of 12 channels", kBad,
       [](OperationParts& o) {
         o.weight = TensorParts::map(2, {4, 12, 3, 3});
       }},
      {"weight of 3 channels", kBad,
       [](OperationParts& o) {
         o.weight = TensorParts::map(2, {4, 3, 3, 3});
       }},
      {"two groups", kSuccess,
       [](OperationParts& o) {
         o.weight = TensorParts::map(2, {4, 4, 3, 3});
       }},
      {"eight groups of four filters", kBad,
       [](OperationParts& o) {
         o.weight = TensorParts::map(2, {4, 1, 3, 3});
       }},
      {"five filters", kBad,
       [](OperationParts& o) {
         o.weight = TensorParts::map(2, {5, 8, 3, 3});
       }},
      {"output of another batch", kBad,
       [](OperationParts& o) {
         o.output = TensorParts::map(3, {3, 4, 6, 6});
       }},
      {"output too high", kBad,
       [](OperationParts& o) {
         o.output = TensorParts::map(3, {2, 4, 7, 6});
       }},
      {"output too narrow", kBad,
       [](OperationParts& o) {
         o.output = TensorParts::map(3, {2, 4, 6, 5});
       }},
      {"window larger than input", kBad,
       [](OperationParts& o) {
         o.weight = TensorParts::map(2, {4, 8, 9, 9});
       }},
      {"input of three axes", kBad,
       [](OperationParts& o) {
         o.input->extents = {2, 8, 6};
         o.input->strides = {48, 1, 8};
       }},
      {"bf16 input", kSuccess, [](OperationParts& o) { o.input->type = CUDNN_DATA_BFLOAT16; }},
      {"weight int8", kSuccess, [](OperationParts& o) { o.weight->type = CUDNN_DATA_INT8; }},
      {"two tensors of one id", kSuccess, [](OperationParts& o) { o.weight->id = 1; }},
  };
}

std::vector<Change<BiasParts>> biases() {
  return {
      {"right", kSuccess, [](BiasParts&) {}},
      {"no mode", kSuccess, [](BiasParts& b) { b.mode = {}; }},
      {"no precision", kSuccess, [](BiasParts& b) { b.precision = {}; }},
      {"mode 1023", kSuccess,
       [](BiasParts& b) { b.mode = static_cast<cudnnPointwiseMode_t>(1023); }},
      {"not described", kSuccess, [](BiasParts& b) { b.described = false; }},
      {"no product", kBad, [](BiasParts& b) { b.product = {}; }},
      {"no bias", kBad, [](BiasParts& b) { b.bias = {}; }},
      {"no output", kBad, [](BiasParts& b) { b.output = {}; }},
      {"five channels", kSuccess,
       [](BiasParts& b) {
         b.bias = TensorParts::map(4, {1, 5, 1, 1});
       }},
      {"output too high", kSuccess,
       [](BiasParts& b) {
         b.output = TensorParts::map(3, {2, 4, 7, 6});
       }},
      {"three axes", kBad,
       [](BiasParts& b) {
         b.bias->extents = {1, 4, 1};
         b.bias->strides = {4, 1, 1};
       }},
  };
}

std::vector<Change<GraphParts>> graphs() {
  return {
      {"right", kSuccess, [](GraphParts&) {}},
      {"bare convolution", kSuccess,
       [](GraphParts& g) {
         g.bias = {};
         g.operation = {};
       }},
      {"virtual output", kSuccess, [](GraphParts& g) { g.bias = {}; }},
      {"open operation", CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED,
       [](GraphParts& g) { g.operation.finalized = false; }},
      {"no product joins them", kSuccess, [](GraphParts& g) { g.bias->product->id = 9; }},
      {"product differs", kBad, [](GraphParts& g) { g.bias->product->type = CUDNN_DATA_HALF; }},
      {"product differs in strides", kBad,
       [](GraphParts& g) {
         g.bias->product->strides = {144, 36, 6, 1};
       }},
      {"product is not virtual", kSuccess,
       [](GraphParts& g) {
         g.operation.output->is_virtual = {};
         g.bias->product->is_virtual = {};
       }},
      {"bias has the id of the weight", kSuccess, [](GraphParts& g) { g.bias->bias->id = 2; }},
      {"output has the id of the input", kBad, [](GraphParts& g) { g.bias->output->id = 1; }},
      {"bare with equal ids", kSuccess,
       [](GraphParts& g) {
         g.bias = {};
         g.operation = {};
         g.operation.weight->id = 1;
       }},
  };
}

}  // namespace

std::vector<WrongParts> wrong_graphs() {
  using standin::cudnn::Computes;
  std::vector<WrongParts> all;
  append(all, "tensor", TensorParts::map(1, {2, 8, 6, 6}), &make_tensor, tensors());
  append(all, "convolution", ConvolutionParts{}, &make_convolution, convolutions());
  append(all, "output", OperationParts{.computes = Computes::output}, &make_operation,
         operations());
  append(all, "input gradient", OperationParts{.computes = Computes::input_gradient},
         &make_operation, operations());
  append(all, "weight gradient", OperationParts{.computes = Computes::weight_gradient},
         &make_operation, operations());
  append(all, "bias", BiasParts{}, &make_bias, biases());
  append(all, "graph", GraphParts::with_bias(), &make_graph, graphs());
  return all;
}

}  // namespace standin_tests
