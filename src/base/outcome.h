// How training ended.
#pragma once

namespace trainyard {

enum class Outcome { completed, stopped_early, interrupted, out_of_time };

}  // namespace trainyard
