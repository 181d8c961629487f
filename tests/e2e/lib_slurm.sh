# shellcheck shell=bash
# For scripts about Slurm, sourced after lib.sh: a Slurm of one node, which is this machine, with its files below
# the current folder.

has_slurm() { command -v munged >/dev/null && command -v slurmctld >/dev/null && command -v slurmd >/dev/null; }

# A port at which nothing listens, below those that the system and train pick.
unused_port() {
  local port=$((10000 + RANDOM % 6000))
  while (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((10000 + RANDOM % 6000)); done
  echo "$port"
}

write_slurm_conf() {
  cat <<CONF
ClusterName=one
SlurmctldHost=$(uname -n)(127.0.0.1)
SlurmctldPort=$(unused_port)
SlurmdPort=$(unused_port)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$slurm/munge.socket
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd.pid
SlurmctldLogFile=$slurm/slurmctld.log
SlurmdLogFile=$slurm/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SchedulerParameters=sched_min_interval=0
MpiDefault=none
SlurmdParameters=config_overrides
NodeName=$(uname -n) NodeAddr=127.0.0.1 CPUs=2
PartitionName=all Nodes=ALL Default=YES
CONF
}

# Starts the daemons; returns once the node takes jobs.
start_slurm() {
  slurm=$PWD/slurm
  mkdir -p "$slurm/state" "$slurm/spool"
  export SLURM_CONF=$slurm/slurm.conf
  write_slurm_conf >"$SLURM_CONF"
  (umask 077 && head -c 1024 /dev/urandom >"$slurm/munge.key")
  munged --force --key-file="$slurm/munge.key" --socket="$slurm/munge.socket" --pid-file="$slurm/munged.pid" \
    --log-file="$slurm/munged.log" --seed-file="$slurm/munge.seed" 2>"$slurm/munged.err"
  slurmctld
  slurmd
  local tries
  for ((tries = 0; tries < 100; ++tries)); do
    [[ $(sinfo --noheader --format=%T 2>/dev/null) != idle ]] || return 0
    sleep 0.1
  done
  fail "the node takes no jobs"
}

# Returns when the daemons, which write files to the end, are gone.
stop_slurm() {
  local daemon process
  for daemon in slurmd slurmctld munged; do
    process=$(cat "$slurm/$daemon.pid" 2>/dev/null) || continue
    kill "$process"
    while [[ -e /proc/$process/exe ]]; do sleep 0.05; done
  done
  unset SLURM_CONF
}
