#include "cli/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/text.h"

namespace trainyard::cli {
namespace {

constexpr double kRepaintSeconds = 0.1;
constexpr double kMinute = 60;
constexpr int kUsualColumns = 80;

/// Mean over an epoch's steps.
class RunningMean {
 public:
  /// A skipped step may have no value.
  void add(const std::optional<double>& value) {
    if (!value || !std::isfinite(*value)) return;
    sum_ += *value;
    ++count_;
  }
  [[nodiscard]] std::optional<double> value() const {
    return count_ > 0 ? std::optional(sum_ / count_) : std::nullopt;
  }

 private:
  double sum_ = 0, count_ = 0;
};

class Console final : public MetricsSink {
 public:
  Console(ConsoleOptions options, const Clock& clock, Messages& messages, const Banner& banner,
          std::int64_t epochs)
      : options_(std::move(options)),
        clock_(clock),
        messages_(messages),
        epochs_(epochs),
        steps_(banner.steps),
        samples_a_step_(global_batch(banner)),
        judged_(banner.judged),
        unit_(banner.unit) {
    last_line_ = clock.seconds();
    if (options_.quiet) return;
    print(stdout, banner_line(options_.style, banner));
    if (banner.resumed) print(stdout, resumed_line(options_.style, *banner.resumed));
  }
  ~Console() override { messages_.clear_bar(); }

  void on_step(const StepRow& row) override {
    if (row.epoch != epoch_) begin_epoch(row.epoch);
    step_ = (row.step - 1) % steps_ + 1;
    loss_.add(row.loss);
    accuracy_.add(row.accuracy);
    images_per_s_ = row.images_per_s;
    if (due()) show(progress());
  }

  void on_validation(const ValidationProgress& validation) override {
    if (validation.epoch != epoch_) begin_epoch(validation.epoch);  // resumed before it
    step_ = steps_;
    if (!due()) return;
    Progress shown = progress();
    shown.validating = true;
    shown.step = validation.batch;
    shown.steps = validation.batches;
    show(shown);
  }

  void on_epoch(const EpochRow& row) override {
    messages_.clear_bar();
    if (options_.quiet) return;
    EpochContext context = epoch_context(row, epochs_, samples_a_step_);
    context.unit = unit_;
    print(stdout, epoch_line(options_.style, row, context));
    if (options_.style == LogStyle::keras && row.is_best && !std::exchange(explained_, true)) {
      print(stdout, best_legend(judged_));
    }
    last_line_ = clock_.seconds();
  }

 private:
  void begin_epoch(std::int64_t epoch) {
    epoch_ = epoch;
    loss_ = {};
    accuracy_ = {};
  }

  /// Whether it is time for a line; if so, the interval restarts.
  bool due() {
    const double now = clock_.seconds();
    const double between = options_.terminal ? kRepaintSeconds : kMinute;
    if (options_.quiet || now - last_line_ < between) return false;
    last_line_ = now;
    return true;
  }

  [[nodiscard]] Progress progress() const {
    const std::int64_t left = (epochs_ - epoch_ + 1) * steps_ - step_;
    return {.epoch = epoch_,
            .epochs = epochs_,
            .step = step_,
            .steps = steps_,
            .loss = loss_.value().value_or(0),
            .accuracy = accuracy_.value(),
            .images_per_s = images_per_s_,
            .eta_seconds = eta_at(images_per_s_, left * samples_a_step_),
            .unit = unit_};
  }

  void show(const Progress& progress) {
    if (options_.terminal) {
      messages_.show_bar(
          bar_line(progress, {.utf8 = options_.utf8, .columns = options_.bar_columns()}));
    } else {
      print(stderr, minute_line(options_.style, progress, clock_.utc_seconds()));
    }
  }

  void print(std::FILE* stream, const std::string& line) const {
    const bool events = options_.style == LogStyle::json;
    std::fputs(((events ? line : printable(line)) + "\n").c_str(), stream);
    std::fflush(stream);
  }

  ConsoleOptions options_;
  const Clock& clock_;
  Messages& messages_;
  std::int64_t epochs_, steps_, samples_a_step_;
  std::string judged_, unit_;
  std::int64_t epoch_ = 0, step_ = 0;
  RunningMean loss_, accuracy_;
  double images_per_s_ = 0, last_line_ = 0;
  bool explained_ = false;  // the meaning of the star
};

}  // namespace

int terminal_columns(int descriptor, const char* stated) {
  if (::isatty(descriptor) != 1) return 0;
  constexpr std::int64_t kMost = 1 << 15;
  const auto columns = parse_integer(stated == nullptr ? "" : stated);
  if (columns && *columns > 0 && *columns <= kMost) return static_cast<int>(*columns);
  winsize size{};
  const bool told = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return told ? size.ws_col : kUsualColumns;
}

int output_columns() { return terminal_columns(STDOUT_FILENO, std::getenv("COLUMNS")); }

std::unique_ptr<MetricsSink> make_console(const ConsoleOptions& options, const Clock& clock,
                                          Messages& messages, const Banner& banner,
                                          std::int64_t epochs) {
  return std::make_unique<Console>(options, clock, messages, banner, epochs);
}

}  // namespace trainyard::cli
