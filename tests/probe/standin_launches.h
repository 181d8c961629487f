// The probe's launches on a stand-in of a GPU.
#pragma once

namespace trainyard::probe {

/// Whether they leave the results as they were, as kernels that are wrong might.
extern bool launches_do_nothing;

}  // namespace trainyard::probe
