import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { until } from '../harness/measured.ts';

/** The parts of this machine that a lab could leave behind; two of them can be compared. */
export interface HostState {
  readonly mounts: readonly string[];
  readonly networkNamespaces: readonly string[];
  readonly devices: readonly string[];
  readonly routes: readonly string[];
  readonly cgroups: readonly string[];
  /** Entries of the directories that kubelets, containerd and runc use by default. */
  readonly files: readonly string[];
  /** Settings of the whole machine that a kubelet changes unless it is kept from it. */
  readonly sysctls: Readonly<Record<string, string>>;
}

const DIRECTORIES = ['/run', '/run/netns', '/var/lib', '/var/log', '/etc', '/opt', '/usr/libexec', '/var/lib/cni'];
/** Directories that buildah and mount(8) keep after their first use. They build the image before a lab starts, and do not belong to it. */
const OF_TOOLS = ['/var/lib/containers', '/run/mount'];
const SYSCTLS = ['vm/overcommit_memory', 'kernel/panic', 'kernel/panic_on_oops', 'kernel/keys/root_maxkeys'];

/** Reads the machine as it is now. */
export function hostState(): HostState {
  return {
    mounts: mounts(),
    networkNamespaces: entries('/run/netns'),
    devices: entries('/sys/class/net'),
    routes: execFileSync('/usr/sbin/ip', ['-4', 'route'], { encoding: 'utf8' }).split('\n').sort(),
    cgroups: labCgroups(),
    files: files(),
    sysctls: Object.fromEntries(SYSCTLS.map((name) => [name, readFileSync(`/proc/sys/${name}`, 'utf8').trim()])),
  };
}

/** Devices and cgroups go a moment after the processes that held them: waits for that, and returns the machine as it is then. */
export async function hostStateAfter(before: HostState): Promise<HostState> {
  const isAsBefore = (): boolean => JSON.stringify(hostState()) === JSON.stringify(before);
  await until('the machine is as before', isAsBefore, { timeout: 120_000, every: 500 }).catch(() => undefined);
  return hostState();
}

function files(): string[] {
  const all = DIRECTORIES.flatMap((directory) => entries(directory).map((name) => `${directory}/${name}`));
  return all.filter((file) => !OF_TOOLS.includes(file));
}

/** Mounts below the directories where a lab mounts; builds of images by others come and go elsewhere. */
function mounts(): string[] {
  const lines = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  return lines.filter((line) => /^\/(run|sys|proc|var|etc|opt)(\/|$)/.test(line.split(' ')[1] ?? '')).sort();
}

function entries(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}

function labCgroups(): string[] {
  const found = execFileSync('find', ['/sys/fs/cgroup', '-type', 'd', '-name', '*traffic-lab*'], { encoding: 'utf8' });
  return found.split('\n').filter(Boolean);
}

/** A process: its pid, and when it started, since a pid may be another's later. */
export interface ProcessId {
  readonly pid: number;
  readonly started: string;
}

/** Every process of a running lab: those that it recorded, and their descendants down to the ones in pods. */
export function labProcesses(labDirectory: string): ProcessId[] {
  const all = entries('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap(stat);
  const found = new Set(entries(`${labDirectory}/pid`).map((name) => recordedPid(`${labDirectory}/pid/${name}`)));
  // Parents may have higher pids than their children, so go round until nothing new is found.
  for (let before = -1; before !== found.size;) {
    before = found.size;
    for (const each of all) if (found.has(each.parent)) found.add(each.pid);
  }
  return all.filter((each) => found.has(each.pid));
}

/** Whether that very process is still there. */
export function isRunning({ pid, started }: ProcessId): boolean {
  return stat(String(pid)).some((each) => each.started === started);
}

function recordedPid(file: string): number {
  return Number(readFileSync(file, 'utf8').split(' ')[0]);
}

/** proc(5): after the name in parentheses come state, parent and, as the 20th, the start time. None if it has ended. */
function stat(pid: string): (ProcessId & { parent: number })[] {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    if (fields[0] === 'Z') return [];
    return [{ pid: Number(pid), parent: Number(fields[1]), started: fields[19]! }];
  } catch {
    return [];
  }
}
