import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { start, type RunningProcess } from '../harness/process.ts';
import { operatorMain } from '../harness/operatorMain.ts';

const PREREQUISITES = fileURLToPath(new URL('../lab/install.sh', import.meta.url));

/** Where the fake server listens: the address of the bridge. The lab uses other networks of 198.18.0.0/15. */
export const BRIDGE_ADDRESS = '198.18.3.254';
export const PEER_PORT = 8_082;

/** A network namespace with one address, in which an agent runs. */
export interface Machine {
  readonly node: string;
  readonly address: string;
  readonly namespace: string;
}

/** Network namespaces on one bridge, made with ip(8) as root, and the agents in them. */
export class AgentNetwork {
  readonly machines: readonly Machine[];
  readonly #id = String(process.pid);
  readonly #agents: RunningProcess[] = [];
  readonly #directory: Promise<string>;

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
    if (!hasNft()) execFileSync(PREREQUISITES, ['nftables'], { stdio: 'ignore' });
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

  /** Drops packets that a machine receives, by a rule of nft(8) such as `udp dport 8082 drop`. */
  drop({ namespace }: Machine, rule: string): void {
    const table = `table inet faults { chain in { type filter hook input priority 0; ${rule}; }; }`;
    run('ip', 'netns', 'exec', namespace, 'nft', table);
  }

  /** Removes the rules of `drop`. */
  heal({ namespace }: Machine): void {
    run('ip', 'netns', 'exec', namespace, 'nft', 'flush', 'ruleset');
  }

  /** Ends the agents and removes what `create` made, as far as it came. */
  async remove(): Promise<void> {
    await Promise.all(this.#agents.map((agent) => agent.stop()));
    // A connection that nobody acknowledges any more keeps a namespace, and so the link in it, for a minute or two.
    for (const link of this.#links) attempt('ip', 'link', 'delete', link);
    for (const { namespace } of this.machines) attempt('ip', 'netns', 'delete', namespace);
    attempt('ip', 'link', 'delete', this.#bridge);
    await rm(await this.#directory, { recursive: true, force: true });
  }

  /** The ends of the links that are on the bridge, by machine. */
  get #links(): readonly string[] {
    return this.machines.map((_, n) => `${this.#bridge}-${n + 1}`);
  }

  get #bridge(): string {
    return `toa${this.#id}`;
  }
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

function hasNft(): boolean {
  try {
    run('nft', '--version');
    return true;
  } catch {
    return false;
  }
}
