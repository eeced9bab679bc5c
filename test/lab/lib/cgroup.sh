# shellcheck shell=bash
# The cgroup `traffic-lab`, and below it one for each node, in which its kubelet creates the pods' cgroups.

CGROUPS=/sys/fs/cgroup

# The directories of all hierarchies: one with cgroup v2, one for each controller with v1.
cgroup_hierarchies() {
  if [[ $(stat -fc %T $CGROUPS) == cgroup2fs ]]; then
    echo $CGROUPS
  else
    # Skip links: a hierarchy with several controllers has one for each (cpu, cpuacct -> cpu,cpuacct).
    find $CGROUPS -mindepth 1 -maxdepth 1 -type d
  fi
}

cgroup_add_node() { # number
  local hierarchy
  for hierarchy in $(cgroup_hierarchies); do
    # The hierarchy of systemd beside those of v1 has no controllers. runc creates its directories there itself.
    [[ $hierarchy != */unified ]] || continue
    cgroup_make "$hierarchy/traffic-lab"
    cgroup_make "$hierarchy/traffic-lab/node$1"
  done
}

# A new cgroup has no processors (v1) and delegates no controllers (v2) until both are set.
cgroup_make() { # directory
  local parent file
  parent=$(dirname "$1")
  if [[ -f $parent/cgroup.subtree_control ]]; then # v2; tried by reading only, not on such a machine
    for file in cpu cpuset memory pids io; do
      echo "+$file" >"$parent/cgroup.subtree_control" 2>/dev/null || true
    done
    grep -qw memory "$parent/cgroup.subtree_control" ||
      fail "cgroup v2: the memory controller cannot be enabled in $parent; inside a container, move its processes to a child cgroup first"
  fi
  mkdir -p "$1"
  for file in cpuset.cpus cpuset.mems; do
    [[ ! -f $parent/cpuset.cpus || -f $1/cgroup.controllers ]] || cat "$parent/$file" >"$1/$file"
  done
}

# rmdir, from the leaves up: rm fails on the files of a cgroup, which rmdir does not need to remove.
cgroup_remove() { # path below the hierarchies
  local hierarchy
  for hierarchy in $(cgroup_hierarchies); do
    [[ -d $hierarchy/$1 ]] || continue
    wait_for 10 find "$hierarchy/$1" -depth -type d -exec rmdir {} + || fail "cgroup $hierarchy/$1 is still in use"
  done
}
