import { LEASES } from '../../../src/runtime/client/resources.ts';
import type { Fixture } from '../../harness/fixture.ts';
import { until } from '../../harness/measured.ts';
import { freePorts, start, type RunningProcess } from '../../harness/process.ts';

const LEASE = { namespace: 'traffic-operator-system', name: 'traffic-operator' };
const PERSON = { fieldManager: 'person' };

/** Two replicas of the operator, of which the first leads, or is about to. */
export class Replicas {
  readonly #f: Fixture;
  readonly #main: string;
  readonly #kubeconfig: string;
  readonly #running: RunningProcess[] = [];

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
    this.#running.push(start(process.execPath, args, `${this.#f.controlPlane.directory}/operators.log`));
  }

  /** Until one of them leads. */
  async leading(): Promise<void> {
    await until('a replica leads', async () => (await this.#f.client.get(LEASES, LEASE)).spec?.holderIdentity !== '');
  }

  /** Kills the leader, and starts another replica. */
  async kill(): Promise<void> {
    await this.#running.shift()?.stop();
    await this.add();
    // As if the 15 s had passed for which it may have led.
    const spec = { holderIdentity: '', leaseDurationSeconds: 1 };
    await this.#f.client.mergePatch(LEASES, LEASE, { spec }, PERSON).catch(() => undefined);
  }

  /** Tells the leader to end, which gives the lead to the other one, and starts another replica. */
  async change(): Promise<void> {
    const leader = this.#running.shift();
    if (leader === undefined) return;
    process.kill(leader.pid, 'SIGTERM');
    await leader.ended;
    await this.add();
  }

  async stop(): Promise<void> {
    for (const each of this.#running) await each.stop();
  }
}
