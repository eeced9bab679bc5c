# shellcheck shell=bash
# Takes down a lab in any state: running, partly started, or killed from outside.

lab_down() {
  local record
  for record in "$LAB"/pid/*; do
    [[ ! -f $record ]] || stop_process "$(basename "$record")"
  done
  network_down
  cgroup_remove traffic-lab
  rm -rf "$LAB"
}

lab_left_something() {
  [[ -d $LAB || -e /sys/class/net/$HOST_DEVICE || -n $(network_namespaces) ]]
}
