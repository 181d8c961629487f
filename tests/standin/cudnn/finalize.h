// Checks of descriptors when they are finalized.
#pragma once

#include "descriptor.h"

namespace standin::cudnn {

/// Checks the whole as cuDNN 9.19 does, and fills in what is read from the descriptor afterwards.
[[nodiscard]] cudnnStatus_t finalize(Descriptor& descriptor);

/// Of tensors, convolutions, operations and graphs.
[[nodiscard]] cudnnStatus_t finalize_tensor(const Descriptor& tensor);
[[nodiscard]] cudnnStatus_t finalize_convolution(const Descriptor& convolution);
[[nodiscard]] cudnnStatus_t finalize_convolution_operation(const Descriptor& operation);
[[nodiscard]] cudnnStatus_t finalize_pointwise_operation(const Descriptor& operation);
[[nodiscard]] cudnnStatus_t finalize_graph(Descriptor& graph);

/// Of heuristics, engines, their configurations and plans.
[[nodiscard]] cudnnStatus_t finalize_device(const Descriptor& device);
[[nodiscard]] cudnnStatus_t finalize_heuristic(Descriptor& heuristic);
[[nodiscard]] cudnnStatus_t finalize_engine(Descriptor& engine);
[[nodiscard]] cudnnStatus_t finalize_configuration(const Descriptor& configuration);
[[nodiscard]] cudnnStatus_t finalize_plan(Descriptor& plan);
[[nodiscard]] cudnnStatus_t finalize_pack(const Descriptor& pack);

/// The settings of a configuration, one for each knob of its engine.
[[nodiscard]] std::vector<std::int64_t> knobs_of(const Descriptor& configuration);

}  // namespace standin::cudnn
