#include "cli/spawn.h"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/host.h"
#include "base/read_file.h"
#include "cli/checks.h"
#include "cli/environment.h"
#include "cli/output.h"
#include "ranks/spawn/hosts.h"
#include "ranks/spawn/spawn.h"
#include "ranks/stop_vote.h"
#include "run/session/session_device.h"

namespace trainyard::cli {
namespace {

constexpr int kMostReplicas = 256;
constexpr std::size_t kHostFileBytes = 1 << 20;
// After a second Ctrl-C mpirun ends its ranks itself, which takes up to 10 seconds.
constexpr SpawnLimits kMpirunLimits{.kill_seconds = 30};
// TRAINYARD_LAUNCHER in ranks that --hosts started, so that they do not start others.
constexpr const char* kByHosts = "hosts";

/// Refuses flags that start ranks in a rank that another launcher started.
void check_started(const RankIdentity& identity, const RunFlags& run, const SpawnFlags& flags) {
  const auto stated = stated_ranks(gpus_of(run), flags.replicas);
  const bool counts = flags.replicas || (!run.gpus.empty() && run.gpus != "0");
  if (stated && counts) require_local_ranks(identity, stated->asked, stated->count);
  if (train_started(identity)) return;
  if (!flags.hosts.empty()) {
    refuse_command("--hosts starts the ranks, but " + other_launcher(identity) +
                   "; leave out one of the two");
  }
  if (flags.max_restarts > 0) {
    refuse_command("--max-restarts is for ranks that train starts, but " +
                   other_launcher(identity) + "; have that launcher restart it with --resume");
  }
  // Throws before the ranks wait for one another.
  static_cast<void>(request_of_rank({.gpus = run.gpus, .replicas = flags.replicas}, identity));
}

/// Starts all ranks of the pool, with at most --max-restarts restarts.
SpawnResult attempts(const RankPool& pool, const SpawnFlags& flags, const Context& context,
                     const SpawnSteps& plan) {
  const auto start = [&](int number) {
    return pool.start(
        {.ranks = pool.most,
         .arguments = number == 0 ? context.arguments : plan.resume_arguments(context.arguments)});
  };
  if (flags.max_restarts == 0) return start(0);
  FailedGpus failed(flags.hosts.empty() ? fs::temp_directory_path() : fs::current_path());
  setenv(kFailedGpusVariable, failed.path().c_str(), 1);  // for the ranks
  return with_restarts(start,
                       {.most = flags.max_restarts,
                        .tell = [&](const std::string& text) { context.messages.warn(text); },
                        .failed_gpu = [&] { return failed.take(); }});
}

int work_as_rank(const Context& own, const std::function<int(const Context&)>& work) {
  try {
    return work(own);
  } catch (const Error& error) {
    add_failed_gpu(error.what());
    throw;
  }
}

/// Runs a command on this console and waits for it. Throws Error{device} if it fails.
void run_command(const SpawnCommand& command, const std::string& doing) {
  const SystemClock clock;
  const SpawnResult result = spawn({{.name = doing, .command = command}}, {}, clock);
  if (result.signal != 0) end_by_signal(result.signal);
  if (result.exit_code == 0) return;
  throw device_error(doing + " failed with exit code " + std::to_string(result.exit_code) +
                     "; see its output above");
}

/// A program in PATH that `flag` needs. Throws Error{command_line} saying how to install it.
fs::path needed_program(const std::string& flag, const std::string& name,
                        const std::string& packages) {
  const auto path = program_in_path(name);
  if (path) return *path;
  refuse_command(flag + ": " + name + " was not found in PATH; install " + packages);
}

void copy_to_hosts(const HostsSpawn& hosts, const fs::path& folder) {
  const auto commands = sync_commands(hosts.hosts, hosts.own_names, folder);
  const fs::path rsync =
      needed_program("--sync-dir", "rsync", "rsync here and on the hosts (apt install rsync)");
  for (const SyncCommand& command : commands) {
    if (command.host.empty() && fs::current_path() == folder.lexically_normal()) continue;
    run_command(
        {.program = rsync, .arguments = command.arguments, .environment = own_environment()},
        "copying to " + (command.host.empty() ? "this machine" : command.host) + " with rsync");
  }
}

/// The variables set here that affect how ranks run.
std::vector<std::string> variables_to_pass() {
  constexpr std::array<std::string_view, 14> kNames = {
      "TRAINYARD_DATA",     "TRAINYARD_TOKEN",  "TRAINYARD_LAUNCHER", "TRAINYARD_CUDA_PATH",
      "TRAINYARD_GPU_PART", "MASTER_PORT",      "CUDA_HOME",          "VIRTUAL_ENV",
      "LD_LIBRARY_PATH",    "OMP_WAIT_POLICY",  "GOMP_SPINCOUNT",     "NO_COLOR",
      "CONDA_PREFIX",       kFailedGpusVariable};
  std::vector<std::string> names;
  for (const std::string& whole : own_environment()) {
    const std::string name = whole.substr(0, whole.find('='));
    const bool known = std::find(kNames.begin(), kNames.end(), name) != kNames.end();
    if (known || name.starts_with("NCCL_")) names.push_back(name);
  }
  return names;
}

/// The launch on the hosts of a host file, in the current folder, without the program's arguments.
/// Throws as parse_hosts() and mpirun_arguments().
HostsSpawn hosts_of_file(const std::string& file, int ranks_per_host) {
  require_file("--hosts", file, ErrorKind::config);
  HostsSpawn hosts{.file = file,
                   .hosts = parse_hosts(read_text(file, ErrorKind::config, kHostFileBytes), file),
                   .ranks_per_host = ranks_per_host,
                   .own_names = own_names(),
                   .program = own_program(),
                   .folder = fs::current_path()};
  // Its errors must be reported before anything is copied or started.
  static_cast<void>(mpirun_arguments(hosts));
  return hosts;
}

/// The launch of --hosts without what differs per start. Throws as mpirun_arguments().
HostsSpawn hosts_spawn(const RunFlags& run, const SpawnFlags& flags) {
  HostsSpawn hosts = hosts_of_file(flags.hosts, ranks_per_host(run, flags));
  if (!flags.sync_dir.empty()) hosts.folder = flags.sync_dir;
  return hosts;
}

SpawnResult start_on_hosts(const fs::path& mpirun, HostsSpawn hosts, const RankStart& start) {
  if (variable("TRAINYARD_TOKEN").empty()) setenv("TRAINYARD_TOKEN", random_token().c_str(), 1);
  setenv("TRAINYARD_LAUNCHER", kByHosts, 1);
  hosts = with_ranks(std::move(hosts), start.ranks);
  hosts.variables = variables_to_pass();
  hosts.arguments = start.arguments;
  const SpawnCommand command{
      .program = mpirun, .arguments = mpirun_arguments(hosts), .environment = own_environment()};
  // On SIGTERM mpirun would kill the ranks seconds later; it passes on SIGUSR1, and they save.
  const SpawnedProcess process{
      .name = "mpirun", .command = command, .results = start.results, .stop_signal = SIGUSR1};
  return result_of_mpirun(spawn({process}, kMpirunLimits, SystemClock()));
}

SpawnResult start_here(const RankCount& ranks, const fs::path& log_folder, const RankStart& start) {
  LocalSpawn local{.command = {.program = own_program(),
                               .arguments = start.arguments,
                               .environment = own_environment()},
                   .ranks = start.ranks,
                   .log_folder = log_folder,
                   .results = start.results,
                   .errors = start.errors};
  if (!ranks.gpus.empty()) {
    local.command.environment.push_back(std::string(kGpusVariable) + "=" +
                                        gpus_text(gpus_of_start(ranks.gpus, start.ranks)));
  }
  return spawn_local(local, SystemClock());
}

}  // namespace

void add_host_flags(CLI::App& app, SpawnFlags& flags) {
  add_count(app, "--replicas", flags.replicas, "ranks here: on the GPUs, or the CPU with --gpus 0",
            1, kMostReplicas);
  app.add_option("--hosts", flags.hosts, "start these ranks on each host of a file (mpirun)")
      ->type_name("FILE");
  app.add_option("--sync-dir", flags.sync_dir, "rsync the current folder to --hosts, and run there")
      ->type_name("FOLDER");
}

void add_spawn_flags(CLI::App& app, SpawnFlags& flags) {
  add_host_flags(app, flags);
  add_count(app, "--max-restarts", flags.max_restarts, "restart up to N times after a rank died", 0,
            1000);
}

void check_host_flags(const SpawnFlags& flags) {
  if (flags.hosts.empty() && !flags.sync_dir.empty()) {
    refuse_command("--sync-dir copies to the hosts of --hosts; give a host file, or leave it out");
  }
}

std::string gpus_of(const RunFlags& run) { return run.device.empty() ? run.gpus : "0"; }

std::optional<RankIdentity> own_identity() {
  return find_rank_identity([](const char* name) { return std::getenv(name); });
}

bool train_started(const RankIdentity& identity) {
  return identity.source == "local" || variable("TRAINYARD_LAUNCHER") == kByHosts;
}

std::string other_launcher(const RankIdentity& identity) {
  return identity.source == "environment" ? "RANK and WORLD_SIZE say that this is already one"
                                          : identity.source + " has already started this one";
}

int ranks_per_host(const RunFlags& run, const SpawnFlags& flags) {
  const GpuRequest request = parse_gpus(gpus_of(run));
  const auto stated = stated_ranks(gpus_of(run), flags.replicas);
  const bool idlest = request.kind == GpuRequest::Kind::idlest;
  if (stated && !idlest) return stated->count;
  refuse_command("--hosts needs the same number of ranks on every host" +
                 (run.gpus.empty() ? "" : ", but --gpus " + run.gpus + " does not give it") +
                 "; give --gpus N, or --replicas N with --gpus 0 for the CPUs");
}

RankPool local_pool(const RankCount& ranks, const fs::path& log_folder) {
  return {.most = ranks.count,
          .start = [=](const RankStart& start) { return start_here(ranks, log_folder, start); }};
}

RankPool host_pool(const RunFlags& run, const SpawnFlags& flags, std::span<const int> counts) {
  const HostsSpawn hosts = hosts_spawn(run, flags);
  for (const int count : counts) static_cast<void>(with_ranks(hosts, count));
  const fs::path mpirun =
      needed_program("--hosts", "mpirun",
                     "Open MPI (Debian, Ubuntu: apt install openmpi-bin; Fedora: dnf install "
                     "openmpi), here and on the hosts");
  if (!flags.sync_dir.empty()) copy_to_hosts(hosts, flags.sync_dir);
  return {.most = static_cast<int>(hosts.hosts.size()) * hosts.ranks_per_host,
          .start = [=](const RankStart& start) { return start_on_hosts(mpirun, hosts, start); }};
}

int end_as(const SpawnResult& result, Messages& messages) {
  std::fflush(stdout);
  if (!result.warning.empty()) messages.warn(result.warning);
  if (!result.message.empty()) messages.fail(result.message, result.exit_code);
  if (result.signal != 0) end_by_signal(result.signal);
  return result.exit_code;
}

RankGroupOptions rank_group_options(const RankIdentity& identity, const RankLimits& limits,
                                    Messages& messages) {
  return {.identity = identity,
          .limits = limits,
          .host = host_name(),
          .on_failure = [&messages](const Failure& failure) {
            messages.fail(message_of(failure), failure.exit_code);
            add_failed_gpu(failure.text);
            _exit(failure.exit_code);
          }};
}

DeviceChoice device_in_group(const RunFlags& run, const SpawnFlags& flags, RankGroup& ranks) {
  try {
    return device_choice_of_rank(run, ranks.identity(), flags.replicas);
  } catch (const Error& error) {
    throw first_of_ranks(ranks, error);
  }
}

int in_ranks(const RunFlags& run, const SpawnFlags& flags, const Context& context,
             const SpawnSteps& plan, const std::function<int(const Context&)>& work) {
  const auto identity = own_identity();
  check_host_flags(flags);
  Context own = context;
  if (identity) {
    check_started(*identity, run, flags);
    own.identity = *identity;
    if (identity->rank != 0) own.messages.leave_events_to_first_rank();
    return work_as_rank(own, work);
  }
  if (!flags.hosts.empty()) {
    plan.check();
    return end_as(attempts(host_pool(run, flags, {}), flags, context, plan), context.messages);
  }
  const RankCount ranks = ranks_to_start(gpus_of(run), flags.replicas, gpu_search_paths());
  if (ranks.count == 1 && flags.max_restarts == 0) return work(own);
  plan.check();
  return end_as(attempts(local_pool(ranks, plan.log_folder), flags, context, plan),
                context.messages);
}

FailedGpus::FailedGpus(const fs::path& folder) {
  std::string name = (fs::absolute(folder) / ".train_failed_gpus_XXXXXX").string();
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) {
    throw disk_error(folder.string() +
                     ": cannot create a file there: " + std::generic_category().message(errno));
  }
  const Descriptor closed_later({file});
  path_ = name;
}

FailedGpus::~FailedGpus() {
  std::error_code gone;
  fs::remove(path_, gone);
}

std::string FailedGpus::take() {
  std::string first;
  std::ifstream file(path_);
  std::getline(file, first);
  std::error_code gone;
  fs::resize_file(path_, 0, gone);
  return first;
}

void add_failed_gpu(std::string_view text) {
  const char* const path = std::getenv(kFailedGpusVariable);
  const std::string gpu = gpu_in(text);
  if (path == nullptr || gpu.empty()) return;
  const int file = ::open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) return;
  const Descriptor closed_later({file});
  const std::string line = gpu + "\n";
  // In one call, so that the lines of several ranks do not mix. A failure here hides no error.
  static_cast<void>(!::write(file, line.data(), line.size()));
}

}  // namespace trainyard::cli
