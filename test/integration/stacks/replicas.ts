import { LEASES } from '../../../src/runtime/client/resources.ts';
import type { Fixture } from '../../harness/fixture.ts';
import { until } from '../../harness/measured.ts';
import { freePorts, start, type RunningProcess } from '../../harness/process.ts';

const LEASE = { namespace: 'traffic-operator-system', name: 'traffic-operator' };
const PERSON = { fieldManager: 'person' };

interface Replica {
  /** Its identity in the Lease begins with it. */
  readonly podName: string;
  readonly process: RunningProcess;
}

/** Two replicas of the operator. */
export class Replicas {
  readonly #f: Fixture;
  readonly #main: string;
  readonly #kubeconfig: string;
  readonly #running: Replica[] = [];
  #count = 0;

  /** @param main the program @param kubeconfig of its user */
  constructor(f: Fixture, main: string, kubeconfig: string) {
    this.#f = f;
    this.#main = main;
    this.#kubeconfig = kubeconfig;
  }

  /** Starts one more. It does not wait until that is ready. */
  async add(): Promise<void> {
    const [health, metrics] = (await freePorts(2)) as [number, number];
    const args = [
      ...[this.#main, 'manager', '--stacks', '--leader-elect', `--kubeconfig=${this.#kubeconfig}`],
      ...[`--prometheus-url=${this.#f.prometheusUrl}`, '--interval=1s', '--window=5s'],
      `--health-probe-bind-address=127.0.0.1:${health}`,
      `--metrics-bind-address=127.0.0.1:${metrics}`,
    ];
    const podName = `replica-${(this.#count += 1)}`;
    const log = `${this.#f.controlPlane.directory}/operators.log`;
    this.#running.push({ podName, process: start(process.execPath, args, log, { POD_NAME: podName }) });
  }

  /** Until one of them leads. */
  async leading(): Promise<void> {
    // Both may be starting, which takes half a minute on a busy machine.
    await until('a replica leads', async () => (await this.#holder()) !== '', { timeout: 180_000 });
  }

  /**
   * Kills the leader, or the oldest replica if none leads, and starts another.
   *
   * @returns whether it led: it held the Lease before the kill, and the Lease still named it after its end
   */
  async kill(): Promise<boolean> {
    const victim = await this.#take();
    const led = await this.#leads(victim);
    await victim.process.stop();
    const wasLeader = led && (await this.#leads(victim));
    await this.add();
    // As if the 15 s had passed for which it may have led.
    const spec = { holderIdentity: '', leaseDurationSeconds: 1 };
    await this.#f.client.mergePatch(LEASES, LEASE, { spec }, PERSON).catch(() => undefined);
    return wasLeader;
  }

  /**
   * Sends SIGTERM to the leader, or the oldest replica if none leads, which gives the lead to the other replica, and starts another replica.
   *
   * @returns whether it led, and gave the Lease up
   */
  async change(): Promise<boolean> {
    const victim = await this.#take();
    const led = await this.#leads(victim);
    process.kill(victim.process.pid, 'SIGTERM');
    await victim.process.ended;
    const hasGivenUp = led && !(await this.#leads(victim));
    await this.add();
    return hasGivenUp;
  }

  async stop(): Promise<void> {
    for (const each of this.#running) await each.process.stop();
  }

  /** Takes the leader, else the oldest one, out of those that run. */
  async #take(): Promise<Replica> {
    const holder = await this.#holder();
    const leader = this.#running.findIndex((each) => isOf(each, holder));
    const [victim] = this.#running.splice(Math.max(leader, 0), 1);
    if (victim === undefined) throw new Error('no replica runs');
    return victim;
  }

  /** Whether the Lease names it. */
  async #leads(replica: Replica): Promise<boolean> {
    return isOf(replica, await this.#holder());
  }

  /** Who may lead now; an empty text if nobody does. */
  async #holder(): Promise<string> {
    const lease = (await this.#f.client.list(LEASES, { namespace: LEASE.namespace })).at(0);
    const { holderIdentity = '', renewTime, leaseDurationSeconds = 0 } = lease?.spec ?? {};
    const isOver = Date.parse(String(renewTime ?? '')) + leaseDurationSeconds * 1_000 < Date.now();
    return isOver ? '' : holderIdentity;
  }
}

function isOf({ podName }: Replica, identity: string): boolean {
  return identity.startsWith(`${podName}_`);
}
