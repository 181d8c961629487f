#include "report/sinks.h"

#include <utility>

namespace trainyard {

LogSink::LogSink(const Disk& disk, const Clock& clock, const std::filesystem::path& path,
                 const Banner& banner, std::int64_t epochs)
    : file_(disk, clock, path),
      epochs_(epochs),
      samples_a_step_(global_batch(banner)),
      judged_(banner.judged),
      unit_(banner.unit) {
  file_.write(banner_line(LogStyle::keras, banner));
  if (banner.resumed) file_.write(resumed_line(LogStyle::keras, *banner.resumed));
}

void LogSink::on_epoch(const EpochRow& row) {
  EpochContext context = epoch_context(row, epochs_, samples_a_step_);
  context.unit = unit_;
  file_.write(epoch_line(LogStyle::keras, row, context));
  if (row.is_best && !std::exchange(explained_, true)) file_.write(best_legend(judged_));
}

}  // namespace trainyard
