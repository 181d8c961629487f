#include "rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>

#include "base/error.h"
#include "base/median.h"
#include "base/text.h"

namespace trainyard::probe {
namespace {

/// "M1" of "M1.empty".
std::string part_of(const std::string& name) { return name.substr(0, name.find('.')); }

bool is_requested(const Measurement& one, const Request& request) {
  return request.only.empty() || std::ranges::any_of(request.only, [&](const std::string& word) {
           return word == one.name || word == part_of(one.name);
         });
}

void check_names(const std::vector<Measurement>& all, const Request& request) {
  std::set<std::string> parts;
  for (const Measurement& one : all) parts.insert(part_of(one.name));
  for (const std::string& word : request.only) {
    const bool known = parts.contains(word) ||
                       std::ranges::any_of(all, [&](const auto& one) { return one.name == word; });
    if (known) continue;
    refuse_command("--only: there is no measurement '" + word + "'; there are " +
                   joined(std::vector<std::string>(parts.begin(), parts.end())) +
                   " and their rows, such as " + all.front().name);
  }
}

Json row_of(const Measurement& one, const Reading& reading) {
  Json row{{"name", one.name}, {"what", one.what}};
  if (reading.spread) {
    row["unit"] = reading.unit;
    row["median"] = reading.spread->median;
    row["min"] = reading.spread->least;
    row["max"] = reading.spread->most;
  }
  row.update(reading.more);
  row["predicted"] = one.predicted;
  row["decides"] = one.decides;
  return row;
}

/// A row without a result: `key` says why.
Json row_without(const Measurement& one, const char* key, const std::string& why) {
  return {{"name", one.name},
          {"what", one.what},
          {key, why},
          {"predicted", one.predicted},
          {"decides", one.decides}};
}

std::string line_of(const Measurement& one, const Reading& reading) {
  std::string line = fmt::format("{:<28}", one.name);
  if (reading.spread) {
    line += fmt::format(" {:9.3f} {} ({:.3f} to {:.3f})", reading.spread->median, reading.unit,
                        reading.spread->least, reading.spread->most);
  }
  for (const auto& [key, value] : reading.more.items()) {
    line += fmt::format(" {}={}", key, value.dump());
  }
  return line + ", predicted " + one.predicted + ": " + one.what;
}

/// Standard output, and the file if there is one.
class Output {
 public:
  explicit Output(const std::string& path) : path_(path) {
    if (path.empty()) return;
    file_.open(path, std::ios::trunc);
    check();
  }
  void write(const std::string& line, const Json& row) {
    std::puts(line.c_str());
    std::fflush(stdout);
    if (path_.empty()) return;
    file_ << json_line(row) << std::flush;
    check();
  }

 private:
  void check() const {
    if (!file_) throw Error(ErrorKind::disk, path_ + " cannot be written; give another --output");
  }
  std::string path_;
  std::ofstream file_;
};

double seconds_of(const std::string& text) {
  const std::optional<std::int64_t> number = parse_integer(text);
  if (!number || *number < 1) {
    refuse_command("--seconds " + text + ": give a whole number of seconds from 1 on");
  }
  return static_cast<double>(*number);
}

}  // namespace

Spread spread_of(const std::vector<double>& values) {
  return {median(values), std::ranges::min(values), std::ranges::max(values)};
}

Spread share_above(const Spread& spread, double base, double parts) {
  const auto share = [&](double value) { return (value - base) / parts; };
  return {share(spread.median), share(spread.least), share(spread.most)};
}

Request take_request(std::vector<std::string>& arguments) {
  Request request;
  std::vector<std::string> others;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    const bool ours = word == "--only" || word == "--seconds" || word == "--output";
    if (!ours) {
      others.push_back(word);
      continue;
    }
    if (i + 1 == arguments.size()) refuse_command(word + " needs a value");
    const std::string& value = arguments[++i];
    if (word == "--only") request.only = split(value, ',');
    if (word == "--seconds") request.seconds = seconds_of(value);
    if (word == "--output") request.output = value;
  }
  arguments = others;
  return request;
}

Outcome make_rows(const std::vector<Measurement>& all, const Request& request,
                  const std::function<double()>& now) {
  check_names(all, request);
  Output output(request.output);
  Outcome outcome;
  const double begin = now();
  for (const Measurement& one : all) {
    if (!is_requested(one, request)) continue;
    if (request.seconds > 0 && now() - begin >= request.seconds) {
      const std::string why = fmt::format("{:.0f} s were over", request.seconds);
      output.write(one.name + ": left out, " + why, row_without(one, "left_out", why));
      ++outcome.left_out;
      continue;
    }
    try {
      const Reading reading = one.measure();
      output.write(line_of(one, reading), row_of(one, reading));
      ++outcome.measured;
    } catch (const std::exception& error) {
      output.write(one.name + ": failed, " + error.what(), row_without(one, "error", error.what()));
      ++outcome.failed;
    }
  }
  return outcome;
}

}  // namespace trainyard::probe
