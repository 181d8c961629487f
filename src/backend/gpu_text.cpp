#include "backend/gpu_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace trainyard {
namespace {

constexpr double kGibibyte = 1024.0 * 1024 * 1024;

std::string short_name(const GpuFinding& gpu) { return "cuda:" + std::to_string(gpu.ordinal); }

std::string gib(std::size_t bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / kGibibyte);
}

std::string memory_text(const GpuFinding& gpu) {
  const std::string total = gib(gpu.total_bytes);
  return gpu.free_bytes ? gib(*gpu.free_bytes) + " of " + total + " free" : total;
}

bool holds(const std::vector<int>& list, int ordinal) {
  return std::find(list.begin(), list.end(), ordinal) != list.end();
}

std::string link_text(const GpuFinding& from, const GpuFinding& to) {
  if (from.ordinal == to.ordinal) return "-";
  if (holds(from.nvlinks, to.ordinal)) return "NVLink";
  return holds(from.peers, to.ordinal) ? "PCIe" : "host";
}

std::string clock_text(const GpuCondition& condition) {
  std::string text = fmt::format("SM clock {} ", *condition.sm_mhz);
  if (condition.most_sm_mhz) text += fmt::format("of {} ", *condition.most_sm_mhz);
  return text + "MHz";
}

std::string mode_text(ComputeMode mode) {
  if (mode == ComputeMode::any) return "default";
  return mode == ComputeMode::exclusive ? "exclusive" : "prohibited";
}

std::string on_off(bool on) { return on ? "on" : "off"; }

void add_notes(const GpuFinding& gpu, std::vector<std::string>& list) {
  const GpuCondition& found = gpu.condition;
  const auto note = [&](bool holds, const std::string& text) {
    if (holds) list.push_back(short_name(gpu) + " " + text);
  };
  const bool hot = std::any_of(found.slowed_by.begin(), found.slowed_by.end(), [](const auto& why) {
    return why.starts_with("heat") || why == "hardware slowdown" || why == "power brake";
  });
  note(gpu.compute_mode == ComputeMode::prohibited,
       "accepts no programs (compute mode prohibited); nvidia-smi -c DEFAULT allows them");
  note(gpu.compute_mode == ComputeMode::exclusive,
       "accepts one program at a time (compute mode exclusive): ranks can share it only through "
       "MPS; nvidia-smi -c DEFAULT allows more");
  note(found.mig.value_or(false),
       "is partitioned (MIG): a run uses one partition, and NCCL cannot join them; nvidia-smi -mig "
       "0 undoes it");
  note(found.rows_pending.value_or(false),
       "has memory rows that wait to be remapped; reset it (nvidia-smi -r) or restart the "
       "machine");
  note(found.rows_failed.value_or(false),
       "has memory rows that could not be remapped; have the GPU replaced");
  note(!found.fabric.empty() && found.fabric != "started",
       "is connected to other GPUs by NVSwitch, which is " + found.fabric +
           "; check that nvidia-fabricmanager runs, and its log");
  note(hot, "is slowed down by " + joined(found.slowed_by) + "; check its cooling and power");
}

}  // namespace

std::string gpu_text(const GpuFinding& gpu) {
  std::string text = fmt::format("{}, compute capability {}.{}, {}", gpu.name, gpu.major, gpu.minor,
                                 memory_text(gpu));
  if (gpu.busy_percent) text += fmt::format(", {} % busy", *gpu.busy_percent);
  text += ", bus " + gpu.bus;
  if (gpu.numa_node) text += fmt::format(", NUMA node {}", *gpu.numa_node);
  return text;
}

std::string condition_text(const GpuFinding& gpu) {
  const GpuCondition& condition = gpu.condition;
  std::vector<std::string> parts{"compute mode " + mode_text(gpu.compute_mode)};
  if (condition.mig) parts.push_back("MIG " + on_off(*condition.mig));
  if (condition.ecc) parts.push_back("ECC " + on_off(*condition.ecc));
  if (!condition.fabric.empty()) parts.push_back("NVSwitch " + condition.fabric);
  if (condition.sm_mhz) parts.push_back(clock_text(condition));
  if (condition.memory_mhz) parts.push_back(fmt::format("memory {} MHz", *condition.memory_mhz));
  if (condition.power_limit_watts) {
    parts.push_back(fmt::format("power cap {:.0f} W", *condition.power_limit_watts));
  }
  if (!condition.slowed_by.empty()) {
    parts.push_back("slowed by " + joined(condition.slowed_by, " and "));
  }
  return joined(parts);
}

std::vector<std::pair<std::string, std::string>> link_rows(std::span<const GpuFinding> gpus) {
  std::vector<std::pair<std::string, std::string>> rows;
  if (gpus.size() < 2) return rows;
  std::string ordinals;
  for (const GpuFinding& gpu : gpus) ordinals += fmt::format("{:<8}", gpu.ordinal);
  rows.emplace_back("links", std::string(trimmed(ordinals)));
  for (const GpuFinding& from : gpus) {
    std::string links;
    for (const GpuFinding& to : gpus) links += fmt::format("{:<8}", link_text(from, to));
    rows.emplace_back("  cuda:" + std::to_string(from.ordinal), std::string(trimmed(links)));
  }
  return rows;
}

std::vector<std::string> gpu_notes(std::span<const GpuFinding> gpus) {
  std::vector<std::string> list;
  for (const GpuFinding& gpu : gpus) add_notes(gpu, list);
  return list;
}

Json gpu_json(const GpuFinding& gpu) {
  const GpuCondition& found = gpu.condition;
  Json json{{"ordinal", gpu.ordinal},
            {"name", gpu.name},
            {"compute_capability", fmt::format("{}.{}", gpu.major, gpu.minor)},
            {"total_bytes", gpu.total_bytes},
            {"bus", gpu.bus},
            {"compute_mode", mode_text(gpu.compute_mode)},
            {"peers", gpu.peers},
            {"nvlinks", gpu.nvlinks},
            {"slowed_by", found.slowed_by}};
  const auto add = [&](const char* key, const auto& value) {
    if (value) json[key] = *value;
  };
  add("free_bytes", gpu.free_bytes);
  add("busy_percent", gpu.busy_percent);
  add("numa_node", gpu.numa_node);
  add("mig", found.mig);
  add("ecc", found.ecc);
  add("rows_pending", found.rows_pending);
  add("rows_failed", found.rows_failed);
  add("sm_mhz", found.sm_mhz);
  add("most_sm_mhz", found.most_sm_mhz);
  add("memory_mhz", found.memory_mhz);
  add("power_limit_watts", found.power_limit_watts);
  if (!found.fabric.empty()) json["fabric"] = found.fabric;
  return json;
}

}  // namespace trainyard
