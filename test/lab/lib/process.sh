# shellcheck shell=bash
# Processes of the lab. Each start writes a log and a record; a process is ended by its record, never by its name.

# The system may reuse a pid, but not a pid with the same start time.
process_start_time() { # pid; fails when there is no such process or only its zombie
  local stat
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
  stat=${stat##*) } # the name before it may hold anything
  [[ ${stat%% *} != [ZX] ]] || return 1
  cut -d' ' -f20 <<<"$stat"
}

start_process() { # name command...
  local name=$1
  shift
  setsid "$@" >>"$LAB/log/$name.log" 2>&1 </dev/null 3>&- &
  echo "$! $(process_start_time $!)" >"$LAB/pid/$name"
  disown # or bash would report on its end
}

process_pid() { # name; fails when it does not run
  local pid started
  read -r pid started 2>/dev/null <"$LAB/pid/$1" || return 1
  [[ $(process_start_time "$pid") == "$started" ]] || return 1
  echo "$pid"
}

# Kills at once, because no state of the lab is kept. Waits until the process has ended.
stop_process() { # name
  local pid
  if pid=$(process_pid "$1"); then
    kill -KILL "$pid" 2>/dev/null || true
    wait_for 10 process_is_gone "$pid" || fail "$1 (pid $pid) does not end"
  fi
  rm -f "$LAB/pid/$1"
}

process_is_gone() { ! process_start_time "$1" >/dev/null; }

# Waits until a command succeeds while a process runs. If the process ends, fails with the end of its log.
wait_for_process() { # name seconds command...
  local name=$1 end=$(($(uptime_seconds) + $2))
  shift 2
  until "$@" >/dev/null 2>&1; do
    process_pid "$name" >/dev/null || return 1
    if (($(uptime_seconds) > end)); then
      show_log "$name"
      return 1
    fi
    sleep 0.1
  done
}

# After a failed start: the cause is often in the log of another process.
show_logs_of_ended() {
  local record name
  for record in "$LAB"/pid/*; do
    name=${record##*/}
    [[ ! -f $record ]] || process_pid "$name" >/dev/null || {
      echo "$name has ended by itself." >&2
      show_log "$name"
    }
  done
}

show_log() { # name
  printf 'The end of %s:\n' "$LAB/log/$1.log" >&2
  tail -n 20 "$LAB/log/$1.log" >&2 || true
}
