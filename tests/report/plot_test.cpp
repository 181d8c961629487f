#include <doctest/doctest.h>
#include <sys/stat.h>

#include <string>
#include <thread>
#include <vector>

#include "../base/temporary_folder.h"
#include "base/error.h"
#include "report/plot_script.h"
#include "report/plotter.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

constexpr const char* kPlottedHeader =
    "epoch,step,samples,loss,accuracy,val_loss,val_accuracy,lr,grad_norm,skipped_steps,is_best,"
    "elapsed_s,epoch_s,images_per_s,gpu_mem_mib,gpu_util_percent,data_wait_percent\n";
constexpr const char* kSearchPath = "/usr/local/bin:/usr/bin:/bin";

/// A run folder with a metrics.csv, and a plotter on it that collects warnings.
struct PlotRun {
  TemporaryFolder folder;
  Disk disk;
  std::vector<std::string> warnings;

  explicit PlotRun(const std::string& rows) {
    put_text(folder / "metrics.csv", kPlottedHeader + rows);
  }
  [[nodiscard]] std::filesystem::path plot(const std::string& name) const {
    return folder / "plots" / name;
  }
  [[nodiscard]] Plotter plotter(const std::filesystem::path& gnuplot,
                                const PlotContent& content = {.title = "Title"},
                                const std::filesystem::path& output = {}) {
    return {disk,
            {.gnuplot = gnuplot, .folder = folder / "plots", .content = content, .output = output},
            [this](const std::string& text) { warnings.push_back(text); }};
  }
  /// curves.svg, drawn by the real gnuplot without errors.
  [[nodiscard]] std::string drawn(const PlotContent& content);
  /// What is left of the folders in which gnuplot draws.
  [[nodiscard]] std::string scratch() const {
    std::string names;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "plots")) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(".")) names += name + " ";
    }
    return names;
  }
  /// A shell script in place of gnuplot; only shell built-ins are available. $prefix precedes the
  /// names of its images.
  std::filesystem::path fake_gnuplot(const std::string& script) {
    put_text(folder / "gnuplot", "#!/bin/sh\nprefix=${3#*\\'}; prefix=${prefix%\\'}\n" + script);
    ::chmod((folder / "gnuplot").c_str(), 0755);
    return folder / "gnuplot";
  }
};

const char* const kTwoRows =
    "1,10,100,1.5,0.4,1.25,0.5,0.01,1,0,1,1,1,100,,\n"
    "2,20,200,1.0,0.5,0.75,0.625,0.005,1,0,1,2,1,100,,\n";

std::filesystem::path real_gnuplot() {
  const auto path = find_program("gnuplot", kSearchPath);
  REQUIRE_MESSAGE(path.has_value(), "gnuplot is one of the packages that the suite needs");
  return *path;
}

std::string PlotRun::drawn(const PlotContent& content) {
  Plotter drawing = plotter(real_gnuplot(), content);
  drawing.refresh();
  drawing.finish();
  CHECK(warnings == std::vector<std::string>{});
  return text_of(plot("curves.svg"));
}

bool is_png(const std::string& bytes) {
  return bytes.starts_with("\x89PNG\r\n\x1a\n") && bytes.find("IEND") == bytes.size() - 8;
}

bool is_svg(const std::string& text) {
  return text.starts_with("<?xml") && text.find("</svg>") != std::string::npos;
}

}  // namespace

TEST_CASE("the guide's style is one panel with four curves, as PNG and SVG") {
  PlotRun run(kTwoRows);
  const std::string curves = run.drawn({.title = "MiniGoogLeNet on CIFAR-10", .guide = true});
  CHECK(is_png(text_of(run.plot("curves.png"))));
  CHECK(is_png(text_of(run.plot("lr.png"))));
  CHECK(is_svg(curves));
  for (const std::string text :
       {"MiniGoogLeNet on CIFAR-10", "Epoch #", "Loss/Accuracy", "train_loss", "test_loss",
        "train_acc", "test_acc", "rgb(226,  74,  51)", "rgb( 52, 138, 189)"}) {
    CAPTURE(text);
    CHECK(curves.find(text) != std::string::npos);
  }
  CHECK(curves.find("best:") == std::string::npos);
  CHECK(text_of(run.plot("lr.svg")).find("Learning rate") != std::string::npos);
  int files = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator(run.folder / "plots")) {
    ++files;
  }
  CHECK(files == 6);  // four plots, two scripts
}

TEST_CASE("panels have the names of the columns, and mark the best epoch") {
  PlotRun run(kTwoRows);
  const std::string curves = run.drawn({.title = "Title"});
  for (const std::string text :
       {">loss<", ">val_loss<", ">accuracy<", ">val_accuracy<", ">epoch<", "best: epoch 2"}) {
    CAPTURE(text);
    CHECK(curves.find(text) != std::string::npos);
  }
  CHECK(curves.find("cut: values") == std::string::npos);
  CHECK(curves.find("steps") == std::string::npos);
  CHECK(text_of(run.plot("lr.svg")).find(">step<") != std::string::npos);
}

TEST_CASE("the values of clean passes are points, in every style") {
  PlotRun run("");
  put_text(run.folder / "metrics.csv",
           "epoch,step,samples,loss,accuracy,val_loss,val_accuracy,clean_loss,clean_accuracy,lr,"
           "is_best\n1,10,100,1.5,0.4,1.25,0.5,,,0.01,1\n2,20,200,1.0,0.5,0.75,0.625,0.75,0.5,"
           "0.01,1\n3,30,300,0.9,0.5,0.7,0.625,,,0.01,0\n4,40,400,0.8,0.5,0.7,0.625,0.5,0.75,"
           "0.01,0\n");
  const std::string panels = run.drawn({.title = "Title", .clean = true});
  CHECK(panels.find(">clean_loss<") != std::string::npos);
  CHECK(panels.find(">clean_accuracy<") != std::string::npos);
  const std::string guide = run.drawn({.title = "Title", .clean = true, .guide = true});
  CHECK(guide.find(">clean_loss<") != std::string::npos);
  CHECK(guide.find(">clean_acc<") != std::string::npos);
  CHECK(run.drawn({.title = "Title"}).find("clean") == std::string::npos);
}

TEST_CASE("an exploding loss leaves the others readable, and the plot says what is cut") {
  PlotRun run(kTwoRows + std::string("3,30,300,8e17,0.1,9e17,0.1,0.005,1,0,0,3,1,100,,\n"));
  const std::string curves = run.drawn({.title = "Title"});
  CHECK(curves.find("cut: values") != std::string::npos);
  CHECK(curves.find("up to 9e+17") != std::string::npos);
  CHECK(curves.find(" 4.5<") != std::string::npos);  // three times the first loss
}

TEST_CASE("steps.csv adds the loss of the steps, and the learning rate is drawn from it") {
  PlotRun run(kTwoRows);
  put_text(run.folder / "steps.csv",
           "step,epoch,loss,lr,grad_norm,loss_scale,elapsed_s,images_per_s\n"
           "1,1,2.5,0.5,1,,0.1,100\n2,1,2,0.25,1,,0.2,100\n20,2,1,0.125,1,,2,100\n");
  const std::string curves = run.drawn({.title = "Title", .steps = true});
  CHECK(curves.find(">loss (steps)<") != std::string::npos);
  const std::string rate = text_of(run.plot("lr.svg"));
  CHECK(rate.find("0.5<") != std::string::npos);  // the largest in metrics.csv is 0.01
}

TEST_CASE("a run without metrics has one panel, and all of several metrics are drawn") {
  PlotRun run(kTwoRows);
  CHECK(run.drawn({.title = "Title", .metrics = {}}).find("accuracy") == std::string::npos);
  put_text(run.folder / "metrics.csv",
           "epoch,step,samples,loss,accuracy,top5_accuracy,val_loss,val_accuracy,"
           "val_top5_accuracy,lr,is_best\n1,10,100,1.5,0.4,0.8,1.25,0.5,0.9,0.01,1\n");
  const std::string both = run.drawn({.title = "Title", .metrics = {"accuracy", "top5_accuracy"}});
  CHECK(both.find(">accuracy, top5_accuracy<") != std::string::npos);
}

TEST_CASE("panels leave room for the longest name of the legend") {
  const auto has = [](const PlotContent& content, const std::string& text) {
    return curves_script(content).find(text) != std::string::npos;
  };
  CHECK(has({.metrics = {"accuracy"}}, "margins 0.115, 0.800, "));
  CHECK(has({.metrics = {"accuracy", "bits_per_character"}}, "margins 0.115, 0.735, "));
  CHECK(has({.metrics = {"bits_per_character"}, .clean = true}, "margins 0.115, 0.717, "));
}

TEST_CASE("one epoch, missing accuracy and NaN or infinite values can be drawn") {
  for (const std::string rows :
       {"1,10,100,1.5,0.4,1.25,0.5,0.01,1,0,1,1,1,100,,\n", "1,10,100,1.5,,,,0.01,,0,1,1,1,100,,\n",
        "1,10,100,nan,,,,0.01,,0,1,1,1,100,,\n",
        "1,10,100,1.5,,nan,,0.01,,0,1,1,1,100,,\n"
        "2,20,200,nan,,inf,,0.01,,0,1,1,1,100,,\n"}) {
    CAPTURE(rows);
    PlotRun run(rows);
    Plotter plotter = run.plotter(real_gnuplot());
    plotter.refresh();
    plotter.finish();
    CHECK(run.warnings == std::vector<std::string>{});
    CHECK(is_png(text_of(run.plot("curves.png"))));
  }
}

TEST_CASE("a title is only text, whatever it contains") {
  PlotRun run(kTwoRows);
  const std::string title = "it's `touch broken`; \"x\"\nset output '/' \\ $HOME _{a} ^2 %d";
  Plotter plotter = run.plotter(real_gnuplot(), {.title = title});
  plotter.refresh();
  plotter.finish();
  CHECK(run.warnings.empty());
  CHECK(text_of(run.plot("curves.svg")).find("it's `touch broken`; ") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(run.plot("broken")));
  CHECK(curves_script({.title = title})
            .find("title 'it''s `touch broken`; \"x\" set output ''/'' ") != std::string::npos);
}

TEST_CASE("--plot gets the curves in the format of its extension") {
  PlotRun run(kTwoRows);
  for (const char* name : {"curves.png", "c.svg", "c.SVG"}) {
    Plotter plotter = run.plotter(real_gnuplot(), {.title = "Title"}, run.folder / name);
    plotter.refresh();
    plotter.finish();
  }
  CHECK(is_png(text_of(run.folder / "curves.png")));
  CHECK(is_svg(text_of(run.folder / "c.svg")));
  CHECK(is_svg(text_of(run.folder / "c.SVG")));
}

TEST_CASE("--plot into a pipe is written once, at the end, as PNG") {
  PlotRun run(kTwoRows);
  REQUIRE(::mkfifo((run.folder / "pipe").c_str(), 0600) == 0);
  std::string read;
  std::thread reader([&] { read = text_of(run.folder / "pipe"); });
  Plotter plotter = run.plotter(real_gnuplot(), {.title = "Title"}, run.folder / "pipe");
  plotter.refresh();
  plotter.refresh();
  plotter.finish();
  plotter.finish();
  reader.join();
  CHECK(is_png(read));
  CHECK(std::filesystem::is_fifo(run.folder / "pipe"));
}

TEST_CASE(
    "--plot is refused for folders, other extensions, missing folders and a missing gnuplot") {
  const TemporaryFolder folder;
  const auto message = [](const std::filesystem::path& output, bool has_gnuplot) -> std::string {
    try {
      check_plot_output(output, has_gnuplot);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::command_line);
      return error.what();
    }
    return "";
  };
  CHECK(message("curves.png", true).empty());
  CHECK(message(folder / "curves.svg", true).empty());
  CHECK(message(folder.path(), true) ==
        "--plot: '" + folder.path().string() +
            "' is a folder; name a .png or .svg file, or give the run's folder with --out");
  CHECK(message("runs/", true).starts_with("--plot: 'runs/' is a folder; "));
  CHECK(message("curves.pdf", true) == "--plot: 'curves.pdf' ends neither in .png nor in .svg");
  CHECK(message("curves.png", false) ==
        "--plot: gnuplot was not found, which is needed for the plot; install it (apt-get install "
        "gnuplot-nox) or leave out --plot");
  CHECK(message(folder / "none" / "c.png", true) ==
        "--plot: the folder '" + (folder / "none").string() + "' does not exist; create it first");
}

TEST_CASE("a gnuplot that fails is one warning, and the old plot stays intact") {
  PlotRun run(kTwoRows);
  std::filesystem::create_directory(run.folder / "plots");
  put_text(run.plot("curves.png"), "old");
  Plotter plotter = run.plotter(run.fake_gnuplot(
      "echo half > ${prefix}curves.png\necho '\"curves.gp\" line 3: out of ink' >&2\nexit 2\n"));
  plotter.refresh();
  plotter.finish();
  plotter.refresh();
  plotter.finish();
  CHECK(run.warnings ==
        std::vector<std::string>{"no plots are drawn: gnuplot ended with code 2: \"curves.gp\" "
                                 "line 3: out of ink"});
  CHECK(text_of(run.plot("curves.png")) == "old");
  CHECK(run.scratch().empty());
}

TEST_CASE("gnuplot's output counts as a plot only if it is a non-empty file") {
  for (const char* leave :
       {"", ": > ${prefix}curves.png", "/bin/mkdir -p ${prefix}curves.png/within",
        "/bin/ln -s /dev/zero ${prefix}curves.png", "/usr/bin/mkfifo ${prefix}curves.png"}) {
    CAPTURE(leave);
    PlotRun run(kTwoRows);
    Plotter plotter = run.plotter(run.fake_gnuplot(leave + std::string("\n")));
    plotter.refresh();
    plotter.finish();
    CHECK(run.warnings ==
          std::vector<std::string>{
              "no plots are drawn: gnuplot ended without an error, but wrote no plot"});
    CHECK_FALSE(std::filesystem::exists(run.plot("curves.png")));
    CHECK(run.scratch().empty());
  }
}

TEST_CASE("a gnuplot that cannot be started is one warning") {
  PlotRun run(kTwoRows);
  Plotter plotter = run.plotter("/nowhere/gnuplot");
  plotter.refresh();
  plotter.refresh();
  plotter.finish();
  CHECK(run.warnings ==
        std::vector<std::string>{"no plots are drawn: cannot start '/nowhere/gnuplot': No such "
                                 "file or directory"});
}

TEST_CASE("training continues while gnuplot runs, and the last row is drawn at the end") {
  PlotRun run(kTwoRows);
  const std::filesystem::path gate = run.folder / "gate";
  REQUIRE(::mkfifo(gate.c_str(), 0600) == 0);
  // Each start appends a line; the first one waits for a line from the gate.
  Plotter plotter = run.plotter(run.fake_gnuplot(
      "if ! [ -e ../started ]; then echo start >> ../started; read line < ../gate;\n"
      "else echo start >> ../started; fi\n"
      "for name in curves lr; do for type in png svg; do echo image > $prefix$name.$type; done; "
      "done\n"));
  plotter.refresh();
  plotter.refresh();
  plotter.refresh();
  CHECK_FALSE(std::filesystem::exists(run.plot("curves.png")));
  put_text(gate, "go\n");  // waits until the script has opened its end
  plotter.finish();
  CHECK(text_of(run.folder / "started") == "start\nstart\n");
  CHECK(text_of(run.plot("curves.png")) == "image\n");
  CHECK(run.warnings.empty());
}

TEST_CASE("rows from before a resume are drawn at the end if no others follow, and then alone") {
  PlotRun run(kTwoRows);
  const std::filesystem::path gnuplot = run.fake_gnuplot(
      "echo x >>starts\nfor f in curves.png curves.svg lr.png lr.svg; do echo $f "
      ">$prefix$f; done\n");
  const auto resumed = [&](bool has_rows, int epochs, bool ends) {
    std::filesystem::remove_all(run.folder / "plots");
    Plotter plotter(run.disk,
                    {.gnuplot = gnuplot, .folder = run.folder / "plots", .has_rows = has_rows},
                    [](const std::string&) {});
    for (int i = 0; i < epochs; ++i) plotter.refresh();
    if (ends) plotter.finish();
  };
  const auto starts = [&] {
    return std::filesystem::exists(run.plot("starts")) ? text_of(run.plot("starts")) : "";
  };
  resumed(true, 0, true);
  CHECK(starts() == "x\n");
  CHECK(text_of(run.plot("curves.svg")) == "curves.svg\n");
  resumed(true, 1, true);
  CHECK(starts() == "x\n");
  resumed(false, 0, true);
  CHECK(starts() == "");
  resumed(true, 0, false);  // an attempt that failed
  CHECK(starts() == "");
}

TEST_CASE("a gnuplot that hangs is one warning, delays nothing, and is not started again") {
  PlotRun run(kTwoRows);
  REQUIRE(::mkfifo((run.folder / "gate").c_str(), 0600) == 0);
  const auto hanging = run.fake_gnuplot("echo start >> ../started; read line < ../gate\n");
  Plotter plotter(run.disk,
                  {.gnuplot = hanging, .folder = run.folder / "plots", .limit_seconds = 0.25},
                  [&](const std::string& text) { run.warnings.push_back(text); });
  plotter.refresh();
  plotter.refresh();
  plotter.finish();
  plotter.refresh();
  plotter.finish();
  CHECK(text_of(run.folder / "started") == "start\n");
  CHECK(run.warnings ==
        std::vector<std::string>{
            "no plots are drawn: gnuplot had not ended after 0.25 s and was killed"});
}

TEST_CASE("a stopped run does not wait for gnuplot, and reports what is missing") {
  PlotRun run(kTwoRows);
  REQUIRE(::mkfifo((run.folder / "gate").c_str(), 0600) == 0);
  Plotter plotter(run.disk,
                  {.gnuplot = run.fake_gnuplot("read line < ../gate\n"),
                   .folder = run.folder / "plots",
                   .stopped = [] { return true; }},
                  [&](const std::string& text) { run.warnings.push_back(text); });
  plotter.refresh();
  plotter.refresh();
  plotter.finish();
  CHECK(run.warnings ==
        std::vector<std::string>{
            "the plots lack the last epochs: the run was stopped while gnuplot drew them"});
}

TEST_CASE("a program is found only in the folders named, and only if it runs") {
  const TemporaryFolder folder;
  put_text(folder / "tool", "");
  CHECK_FALSE(find_program("tool", folder.path().string()).has_value());
  ::chmod((folder / "tool").c_str(), 0755);
  CHECK(find_program("tool", "/nowhere::" + folder.path().string()) == folder / "tool");
  CHECK_FALSE(find_program("tool", "").has_value());
}
