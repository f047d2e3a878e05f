#!/usr/bin/env bash
# A private Slurm on this machine, to try a job script before it meets a cluster (docs/cluster.md).
#
# The cluster is one process tree in namespaces of its own: a switch with the controller and, on it, each node with its own
# host name, network interface and /dev/shm. So it meets neither a Slurm nor a munge that the system runs, MPI between two of
# its nodes is TCP, and the end of its first process is the end of all of it, jobs included.
set -euo pipefail

self=$(readlink -f "${BASH_SOURCE[0]}")
readonly self
readonly packages="slurmctld slurmd slurm-client munge libpmix-dev iproute2"  # pmix: mpi_pmix.so wants its unversioned name
readonly programs="slurmctld slurmd sbatch srun scontrol sinfo munged mungekey munge ip unshare nsenter"
dir=${ATOLL_SLURM_DIR:-/run/atoll-slurm}  # only root can make something there
nodes=1
cpus=
export PATH=$PATH:/usr/sbin:/sbin

usage() {
  cat <<'END'
usage: slurm/local-cluster.sh COMMAND [--nodes 1|2] [--cpus N] [--dir DIR]

  up      start it and wait until jobs can run; as root (sudo), with Debian 12's packages
  env     print the settings that make sbatch, srun and squeue talk to it: eval "$(slurm/local-cluster.sh env)"
  status  its nodes and jobs; exit code 1 if it is not up
  down    end it with all its jobs, and remove its folder
  --help  show this

  --nodes K  nodes, n1 and n2 (default 1); with two, MPI between them is TCP
  --cpus N   processors that a node claims to have (default: what there is, and at least 8)
  --dir DIR  where it lives (default: $ATOLL_SLURM_DIR, or /run/atoll-slurm); several can be up in several folders

Exit code 77: it cannot run here, and the message says what is missing.
END
}

fail() {
  printf 'local-cluster.sh: %s\n' "$*" >&2
  exit 1
}

cannot() {
  printf 'local-cluster.sh: %s\n' "$*" >&2
  exit 77
}

# ---- inside: the cluster's own namespaces ----

# First process of the cluster. Its network is the switch; the cable to the machine outside is plugged in by `up`.
machine() {
  local net=$1 k pid
  mount -t proc proc /proc
  mount --bind "$dir/hosts" /etc/hosts
  hostname ctl
  ip link set lo up
  ip link add switch type bridge forward_delay 0
  ip address add "$net.254/24" dev switch
  ip link set switch up
  munged --foreground --force --key-file="$dir/munge/key" --socket="$dir/munge.sock" --pid-file="$dir/munge/pid" \
    --log-file="$dir/log/munged" --seed-file="$dir/munge/seed" &
  slurmctld -D -f "$dir/slurm.conf" >"$dir/log/slurmctld.out" 2>&1 &
  for k in $(seq "$nodes"); do
    unshare --net --uts --ipc --mount "$self" _node "n$k" --dir "$dir" >"$dir/log/n$k.out" 2>&1 &
    pid=$!
    until [[ -e $dir/n$k.waits ]]; do sleep 0.02; done
    ip link add "n$k" type veth peer name eth0 netns "$pid"
    ip link set "n$k" master switch up
    nsenter -t "$pid" -n ip address add "$net.$k/24" dev eth0
    nsenter -t "$pid" -n ip link set eth0 up
    : >"$dir/n$k.wired"
  done
  while :; do  # also buries what outlives its parent
    wait -n || true
    sleep 1
  done
}

node() {
  local name=$1
  hostname "$name"
  mount -t tmpfs -o mode=1777 tmpfs /dev/shm
  ip link set lo up
  : >"$dir/$name.waits"
  until [[ -e $dir/$name.wired ]]; do sleep 0.02; done
  exec slurmd -D -N "$name" -f "$dir/slurm.conf"
}

# ---- outside ----

# Pid of the cluster's first process as it is seen from here, if that is alive. The start time tells it from a later process.
first_process() {
  local pid start
  [[ -s $dir/first ]] && read -r pid start <"$dir/first" && [[ $(started "$pid") == "$start" ]] && printf '%s\n' "$pid"
}

# What is in the folder is run and killed as root: nobody else may have made it, or be able to change or replace it.
check_trusted() {
  local part owner mode
  [[ ! -L $dir ]] || fail "$dir is a link; give the folder itself"
  for part in "$dir" "$(dirname "$(readlink -f "$dir")")"; do
    read -r owner mode < <(stat -c '%u %a' "$part")
    if [[ $part != "$dir" && $((8#$mode & 8#1000)) -ne 0 ]]; then continue; fi  # sticky: only owners rename what is in it
    [[ $owner -eq 0 && $((8#$mode & 8#022)) -eq 0 ]] ||
      fail "$part belongs to user $owner with mode $mode and not to root alone: \`up\` has not made it, and nothing in it is used"
  done
}

started() { awk '$3 != "Z" { print $22 }' "/proc/$1/stat" 2>/dev/null; }

check_requirements() {
  local program missing=
  [[ $(id -u) -eq 0 ]] || cannot "only root can start it: sudo slurm/local-cluster.sh up"
  for program in $programs; do
    command -v "$program" >/dev/null || missing+=" $program"
  done
  [[ -z $missing ]] || cannot "not installed:$missing; on Debian 12: apt-get install --no-install-recommends $packages"
  unshare --pid --net --uts --ipc --mount --fork true 2>/dev/null ||
    cannot "no right to make namespaces; a container needs CAP_SYS_ADMIN and CAP_NET_ADMIN (docker run --privileged)"
  unshare --net ip link add switch type bridge 2>/dev/null || cannot "the kernel has no bridge device"
}

# A /24 that this machine has no way to yet.
free_network() {
  local net
  for _ in $(seq 50); do
    net=10.$((RANDOM % 128 + 128)).$((RANDOM % 256))
    ip -o route | grep -qF "$net." || { printf '%s\n' "$net" && return; }
  done
  cannot "no unused 10.x.y.0/24 network found"
}

write_configuration() {
  local net=$1 memory k
  memory=$(awk '/MemTotal/ { print int($2 / 1024 * 0.9) }' /proc/meminfo)
  cat >"$dir/slurm.conf" <<END
ClusterName=atoll
SlurmctldHost=ctl($net.254)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
# A job that is queued again starts only after its old credential has expired: 2 minutes by default.
AuthInfo=socket=$dir/munge.sock,cred_expire=5
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool/%n
TmpFS=$dir/tmp/%n
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.%n.pid
SlurmctldLogFile=$dir/log/slurmctld
SlurmdLogFile=$dir/log/slurmd.%n
# No cgroups, so that it also runs where these belong to somebody else.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=pmix
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2
PropagateResourceLimits=NONE
ReturnToService=2
KillWait=5
MailProg=/bin/true
END
  for k in $(seq "$nodes"); do
    printf 'NodeName=n%d NodeAddr=%s.%d CPUs=%d RealMemory=%d\n' "$k" "$net" "$k" "$cpus" $((memory / nodes))
  done >>"$dir/slurm.conf"
  printf 'PartitionName=local Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=60\n' >>"$dir/slurm.conf"
  printf 'CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n' >"$dir/cgroup.conf"  # read, though nothing uses cgroups
  {
    printf '127.0.0.1 localhost\n%s.254 ctl\n%s.253 %s\n' "$net" "$net" "$(hostname -s)"
    for k in $(seq "$nodes"); do printf '%s.%d n%d\n' "$net" "$k" "$k"; done
  } >"$dir/hosts"
}

up() {
  local net pid outer end k
  check_requirements
  cpus=${cpus:-$(($(nproc) > 8 ? $(nproc) : 8))}
  [[ ! -e $dir ]] || fail "$dir exists already: \`status\` shows what it is, \`down\` removes it"
  net=$(free_network)
  mkdir -m 755 "$dir" || fail "$dir cannot be created"
  (check_trusted) || { rmdir "$dir" && exit 1; }
  dir=$(readlink -f "$dir")
  [[ ${#dir} -le 80 ]] || { rmdir "$dir" && fail "--dir: too long a path for a socket in it"; }
  mkdir "$dir"/{log,state,spool,tmp}
  mkdir -m 700 "$dir/munge"
  for k in $(seq "$nodes"); do mkdir "$dir/spool/n$k" "$dir/tmp/n$k"; done
  chmod 1777 "$dir"/tmp{,/*}
  mungekey --create --keyfile="$dir/munge/key"
  write_configuration "$net"
  setsid unshare --pid --fork --kill-child --net --uts --ipc --mount --propagation slave \
    "$self" _machine "$net" --nodes "$nodes" --dir "$dir" </dev/null >"$dir/log/machine" 2>&1 &
  outer=$!
  end=$((SECONDS + 30))
  until pid=$(<"/proc/$outer/task/$outer/children") && [[ -n $pid ]]; do
    [[ $SECONDS -lt $end ]] || give_up "its namespaces cannot be made"
    sleep 0.02
  done
  pid=${pid%% *}
  printf '%s %s\n' "$pid" "$(started "$pid")" >"$dir/first"
  # The interface ends with the cluster's network, of which it is one end.
  ip link add "atoll$pid" type veth peer name outside netns "$pid"
  ip address add "$net.253/24" dev "atoll$pid"
  ip link set "atoll$pid" up
  until nsenter -t "$pid" -n ip link set outside master switch up 2>/dev/null; do
    [[ $SECONDS -lt $end ]] || give_up "its switch does not come up"
    sleep 0.05
  done
  export SLURM_CONF=$dir/slurm.conf
  until [[ $(sinfo --noheader --Node --states=idle --format=%N 2>/dev/null | sort -u | wc -l) -eq $nodes ]]; do
    first_process >/dev/null || give_up "its first process has ended"
    [[ $SECONDS -lt $end ]] || give_up "its nodes are not ready after 30 s"
    sleep 0.1
  done
  printf 'up: %d node(s) of %d processors in %s; next: eval "$%s"\n' "$nodes" "$cpus" "$dir" "($0 env --dir $dir)"
}

# Says what the daemons said, and leaves nothing.
give_up() {
  printf 'local-cluster.sh: %s\n' "$*" >&2
  tail -n 5 "$dir"/log/* >&2
  down
  exit 77
}

print_env() {
  [[ -e $dir/slurm.conf ]] || fail "there is no cluster in $dir"
  check_trusted
  printf 'export SLURM_CONF=%q\n' "$dir/slurm.conf"
  # Messages over shared memory and TCP; what MPI leaves behind when it is killed goes with the cluster's folder.
  printf 'export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader,tcp OMPI_MCA_orte_tmpdir_base=%q\n' "$dir/tmp"
  [[ $(id -u) -ne 0 ]] || printf 'export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1\n'
}

status() {
  [[ -e $dir ]] || { printf 'there is no cluster in %s\n' "$dir" && exit 1; }
  check_trusted
  first_process >/dev/null || { printf 'the cluster in %s has ended; "down" removes the folder\n' "$dir" && exit 1; }
  export SLURM_CONF=$dir/slurm.conf
  sinfo
  squeue
}

down() {
  local pid
  [[ -e $dir ]] || return 0
  [[ $(id -u) -eq 0 ]] || fail "only root can end it: sudo slurm/local-cluster.sh down"
  check_trusted
  [[ -d $dir/munge && -d $dir/spool ]] || fail "$dir is not the folder of a cluster; nothing removed"
  dir=$(readlink -f "$dir")
  if pid=$(first_process); then
    kill -KILL "$pid"  # the kernel ends everything in its namespaces
    while [[ -n $(started "$pid") ]]; do sleep 0.05; done
    ip link delete "atoll$pid" 2>/dev/null || true  # goes by itself, but not at once
  fi
  rm -rf "$dir"
}

command=${1:-}
shift || true
words=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --nodes | --cpus | --dir) [[ $# -ge 2 ]] || fail "$1 needs a value" ;;&
    --nodes) nodes=$2 && shift 2 ;;
    --cpus) cpus=$2 && shift 2 ;;
    --dir) dir=$2 && shift 2 ;;
    -*) fail "unknown option $1; see --help" ;;
    *) words+=("$1") && shift ;;
  esac
done
[[ $nodes == [12] ]] || fail "--nodes: 1 or 2"
[[ $cpus =~ ^[0-9]{0,4}$ && $cpus != 0 ]] || fail "--cpus: a number"
case $command in
  up) up ;;
  env) print_env ;;
  status) status ;;
  down) down ;;
  _machine) machine "${words[0]}" ;;
  _node) node "${words[0]}" ;;
  -h | --help | help) usage ;;
  *)
    usage >&2
    exit 2
    ;;
esac
