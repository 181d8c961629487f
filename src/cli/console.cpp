#include "cli/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <optional>

namespace trainyard::cli {
namespace {

constexpr double kRepaintSeconds = 0.1;
constexpr double kMinute = 60;

int terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

class Console final : public MetricsSink {
 public:
  Console(const ConsoleOptions& options, const Clock& clock, const Banner& banner,
          std::int64_t epochs)
      : options_(options),
        clock_(clock),
        epochs_(epochs),
        steps_(banner.steps),
        samples_a_step_(global_batch(banner)) {
    last_line_ = clock.seconds();
    if (!options.quiet) print(stdout, banner_line(options.style, banner));
  }
  ~Console() override { clear_bar(); }

  void on_step(const StepRow& row) override {
    const std::int64_t in_epoch = (row.step - 1) % steps_ + 1;
    if (row.epoch != epoch_) begin_epoch(row.epoch);
    loss_sum_ += row.loss;
    ++epoch_steps_;
    const double now = clock_.seconds();
    const double due = options_.terminal ? kRepaintSeconds : kMinute;
    if (options_.quiet || now - last_line_ < due) return;
    last_line_ = now;
    show(progress(row, in_epoch));
  }

  void on_epoch(const EpochRow& row) override {
    clear_bar();
    if (options_.quiet) return;
    const EpochContext context = epoch_context(row, epochs_, samples_a_step_);
    print(stdout, epoch_line(options_.style, row, context));
    last_line_ = clock_.seconds();
  }

 private:
  void begin_epoch(std::int64_t epoch) {
    epoch_ = epoch;
    loss_sum_ = 0;
    epoch_steps_ = 0;
  }

  Progress progress(const StepRow& row, std::int64_t in_epoch) {
    const std::int64_t left = (epochs_ - row.epoch + 1) * steps_ - in_epoch;
    return {.epoch = row.epoch,
            .epochs = epochs_,
            .step = in_epoch,
            .steps = steps_,
            .loss = loss_sum_ / static_cast<double>(epoch_steps_),
            .images_per_s = row.images_per_s,
            .eta_seconds = eta_at(row.images_per_s, left * samples_a_step_)};
  }

  void show(const Progress& progress) {
    if (options_.terminal) {
      const BarStyle style{.utf8 = options_.utf8, .columns = terminal_columns()};
      std::fputs(repainted(bar_line(progress, style)).c_str(), stderr);
      std::fflush(stderr);
      bar_ = true;
    } else {
      print(stderr, minute_line(options_.style, progress, clock_.utc_seconds()));
    }
  }

  void clear_bar() {
    if (!bar_) return;
    std::fputs(repainted("").c_str(), stderr);
    std::fflush(stderr);
    bar_ = false;
  }

  static void print(std::FILE* stream, const std::string& line) {
    std::fputs((line + "\n").c_str(), stream);
    std::fflush(stream);
  }

  ConsoleOptions options_;
  const Clock& clock_;
  std::int64_t epochs_, steps_, samples_a_step_;
  std::int64_t epoch_ = 0, epoch_steps_ = 0;
  double loss_sum_ = 0, last_line_ = 0;
  bool bar_ = false;
};

}  // namespace

std::unique_ptr<MetricsSink> make_console(const ConsoleOptions& options, const Clock& clock,
                                          const Banner& banner, std::int64_t epochs) {
  return std::make_unique<Console>(options, clock, banner, epochs);
}

}  // namespace trainyard::cli
