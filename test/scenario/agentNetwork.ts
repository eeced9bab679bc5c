import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { start, type RunningProcess } from '../harness/process.ts';
import { operatorMain } from '../harness/operatorMain.ts';

const BAD_LINK = fileURLToPath(new URL('network/badLink.py', import.meta.url));
const FULL_TABLE = fileURLToPath(new URL('network/fullTable.py', import.meta.url));
const PREREQUISITES = fileURLToPath(new URL('../lab/install.sh', import.meta.url));

/** Where the fake server listens: the address of the bridge. The lab uses other networks of 198.18.0.0/15. */
export const BRIDGE_ADDRESS = '198.18.3.254';
export const PEER_PORT = 8_082;
/** Where ip(8) keeps its namespaces. */
const NAMESPACES = '/run/netns';

/** A network namespace with one address, in which an agent runs. */
export interface Machine {
  readonly node: string;
  readonly address: string;
  readonly namespace: string;
}

/** The changes that a bad link makes to the packets of each direction: the same as tc-netem(8). */
export interface LinkFaults {
  readonly delayMs?: number;
  /** Percent. */
  readonly loss?: number;
  /** Percent with a wrong bit. */
  readonly corrupt?: number;
  /** Percent that are not delayed, and so overtake others. */
  readonly reorder?: number;
  /** Percent. */
  readonly duplicate?: number;
}

/** Network namespaces on one bridge, made with ip(8) as root, and the agents in them. */
export class AgentNetwork {
  readonly machines: readonly Machine[];
  readonly #id = String(process.pid);
  readonly #agents: RunningProcess[] = [];
  /** Programs that make faults. */
  #faults: RunningProcess[] = [];
  readonly #directory: Promise<string>;
  /** The first namespace on a machine makes /run/netns a mount, which stays. */
  #madeMount = false;

  constructor(count: number) {
    this.#directory = mkdtemp(join(tmpdir(), 'traffic-agents-'));
    this.machines = Array.from({ length: count }, (_, n) => ({
      node: `node-${n + 1}`,
      address: `198.18.3.${n + 1}`,
      namespace: `toa-${this.#id}-${n + 1}`,
    }));
  }

  /** Makes all namespaces and links. Installs nftables where it is missing. */
  create(): void {
    if (!has('nft')) execFileSync(PREREQUISITES, ['nftables'], { stdio: 'ignore' });
    if (!has('python3')) execFileSync(PREREQUISITES, ['python3'], { stdio: 'ignore' });
    this.#madeMount = !isMount(NAMESPACES);
    const bridge = this.#bridge;
    run('ip', 'link', 'add', bridge, 'type', 'bridge');
    run('ip', 'address', 'add', `${BRIDGE_ADDRESS}/24`, 'dev', bridge);
    run('ip', 'link', 'set', bridge, 'up');
    this.machines.forEach(({ namespace, address }, n) => {
      const link = this.#links[n]!;
      run('ip', 'netns', 'add', namespace);
      run('ip', 'link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
      run('ip', 'link', 'set', link, 'master', bridge, 'up');
      for (const device of ['lo', 'eth0']) run('ip', '-n', namespace, 'link', 'set', device, 'up');
      run('ip', '-n', namespace, 'address', 'add', `${address}/24`, 'dev', 'eth0');
    });
  }

  /** Starts the agent of a machine. It ends with the test process, however that ends. */
  async startAgent({ node, namespace }: Machine, serverPort: number): Promise<() => string> {
    const log = join(await this.#directory, `${node}.log`);
    const program = [
      process.execPath,
      operatorMain(),
      'connectivity-agent',
      `-serverendpoint=${BRIDGE_ADDRESS}:${serverPort}`,
    ];
    const env = ['env', `MY_POD_NAME=agent-${node}`, `MY_NODE_NAME=${node}`];
    const args = ['netns', 'exec', namespace, ...env, ...program, '-reportinterval=2', '-zeroextenderlength=0'];
    this.#agents.push(start('ip', args, log));
    return () => readFileSync(log, 'utf8');
  }

  /** Drops packets that a machine receives from now on, by a rule of nft(8) such as `udp dport 8082 drop`. */
  drop(machine: Machine, rule: string): void {
    this.run(machine, ['nft', `table inet faults { chain in { type filter hook input priority 0; ${rule}; }; }`]);
  }

  /** Removes what `drop` added. */
  removeDrops(machine: Machine): void {
    this.run(machine, ['nft', 'delete table inet faults']);
  }

  /** Puts a bad link between a machine and the bridge. One at a time. */
  async addBadLink(machine: Machine, faults: LinkFaults): Promise<void> {
    const [near, far] = this.#taps;
    for (const tap of this.#taps) run('ip', 'tuntap', 'add', 'dev', tap, 'mode', 'tap');
    run('ip', 'link', 'add', this.#detour, 'type', 'bridge');
    run('ip', 'link', 'set', this.#detour, 'up');
    run('ip', 'link', 'set', near, 'master', this.#detour, 'up');
    run('ip', 'link', 'set', far, 'master', this.#bridge, 'up');
    const log = join(await this.#directory, 'bad-link.log');
    this.#faults.push(start('python3', [BAD_LINK, near, far, JSON.stringify(faults)], log));
    run('ip', 'link', 'set', this.#linkOf(machine), 'master', this.#detour);
  }

  /** Removes what `addBadLink` added. */
  async removeBadLink(machine: Machine): Promise<void> {
    run('ip', 'link', 'set', this.#linkOf(machine), 'master', this.#bridge);
    await this.#endFaults();
    for (const device of [...this.#taps, this.#detour]) run('ip', 'link', 'delete', device);
  }

  /** Fills the table of connections of a machine, which must have one, and keeps it full. */
  async fillConnections({ namespace }: Machine): Promise<void> {
    const log = join(await this.#directory, 'full-table.log');
    this.#faults.push(start('ip', ['netns', 'exec', namespace, 'python3', FULL_TABLE], log));
    for (;;) {
      const text = readFileSync(log, 'utf8');
      if (text.startsWith('full')) return;
      if (text !== '') throw new Error(text);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** Fills the table no longer. What is in it stays. */
  async stopFilling(): Promise<void> {
    await this.#endFaults();
  }

  async #endFaults(): Promise<void> {
    await Promise.all(this.#faults.map((fault) => fault.stop()));
    this.#faults = [];
  }

  /** Runs a command in the namespace of a machine. */
  run({ namespace }: Machine, command: readonly string[]): void {
    run('ip', 'netns', 'exec', namespace, ...command);
  }

  /** Ends the agents and removes what `create` made, as far as it came. */
  async remove(): Promise<void> {
    await Promise.all(this.#agents.map((agent) => agent.stop()));
    await this.#endFaults();
    for (const device of [...this.#taps, this.#detour]) attempt('ip', 'link', 'delete', device);
    // A connection that nobody acknowledges keeps a namespace, and so the link in it, for a minute or two.
    for (const link of this.#links) attempt('ip', 'link', 'delete', link);
    for (const { namespace } of this.machines) attempt('ip', 'netns', 'delete', namespace);
    attempt('ip', 'link', 'delete', this.#bridge);
    if (this.#madeMount && readdirSync(NAMESPACES).length === 0) {
      run('umount', NAMESPACES);
      rmdirSync(NAMESPACES);
    }
    await rm(await this.#directory, { recursive: true, force: true });
  }

  /** The ends of the links that are on the bridge, by machine. */
  get #links(): readonly string[] {
    return this.machines.map((_, n) => `${this.#bridge}-${n + 1}`);
  }

  #linkOf({ node }: Machine): string {
    return this.#links[this.machines.findIndex((machine) => machine.node === node)]!;
  }

  /** The ends of a bad link: towards the machine, and on the bridge. */
  get #taps(): readonly [string, string] {
    return [`${this.#bridge}-a`, `${this.#bridge}-b`];
  }

  /** The bridge between a machine and its bad link. */
  get #detour(): string {
    return `${this.#bridge}-w`;
  }

  get #bridge(): string {
    return `toa${this.#id}`;
  }
}

function isMount(path: string): boolean {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  return mounts.some((line) => line.split(' ')[1] === path);
}

function run(command: string, ...args: readonly string[]): void {
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

function attempt(command: string, ...args: readonly string[]): void {
  try {
    run(command, ...args);
  } catch {
    // It was not made.
  }
}

function has(program: string): boolean {
  try {
    run(program, '--version');
    return true;
  } catch {
    return false;
  }
}
