import type { V1Pod } from '@kubernetes/client-node';
import type { ConnectivityCheck } from '../../../../api/connectivitycheck/connectivityCheck.ts';
import type { Informer, InformerEvent } from '../../../../runtime/cache/informer.ts';
import type { KubeObject } from '../../../../runtime/client/resource.ts';
import { FakeClock, type Clock } from '../../../../runtime/process/clock.ts';
import { createLogger } from '../../../../runtime/process/logger.ts';
import type { Evaluation } from '../../../protocol/evaluation.ts';
import type { Measurement, PeerResult } from '../../../protocol/measurement.ts';
import { toAgentPod, type AgentPod } from '../../pods/agentPod.ts';
import { Measurements } from '../../reports/measurements.ts';
import { Reports } from '../../reports/reports.ts';
import { toClusterNode, type ClusterNode } from '../../view/clusterNode.ts';
import { Connectivity } from '../evaluations.ts';

export const INTERVAL_SECONDS = 15;
const HOUR_MS = 3_600_000;
/** Datagrams to each peer. */
const SENT = 20;

/** A cache of the API server that a test fills. */
export class FakeCache<T extends KubeObject> {
  synced = true;
  refusal: { detail: string } | undefined;
  #objects: readonly T[] = [];
  readonly #listeners: ((event: InformerEvent<T>) => void)[] = [];
  readonly lister = {
    list: () => this.objects,
    get: (key: string) =>
      this.objects.find(({ metadata: { namespace, name = '' } = {} }) =>
        namespace === undefined ? name === key : `${namespace}/${name}` === key,
      ),
    byIndex: (_: string, name: string) => this.objects.filter(({ metadata }) => metadata?.name === name),
  };

  get objects(): readonly T[] {
    return this.#objects;
  }

  /** Replaces the objects. Listeners get an event for every object, also for an unchanged one. */
  set objects(objects: readonly T[]) {
    const named = (list: readonly T[]) => new Map(list.map((object) => [object.metadata?.name, object]));
    const [before, after] = [named(this.#objects), named(objects)];
    this.#objects = objects;
    for (const [name, object] of before) if (!after.has(name)) this.tell({ type: 'delete', object });
    for (const [name, object] of after) {
      const old = before.get(name);
      this.tell(old === undefined || old === object ? { type: 'add', object } : { type: 'update', object, old });
    }
  }

  /** Starts with an add for each object, like an informer. */
  subscribe(listener: (event: InformerEvent<T>) => void): () => void {
    this.#listeners.push(listener);
    for (const object of this.#objects) listener({ type: 'add', object });
    return () => undefined;
  }

  tell(event: InformerEvent<T>): void {
    for (const listener of this.#listeners) listener(event);
  }

  asInformer(): Informer<T> {
    return this as unknown as Informer<T>;
  }
}

/** A clock whose wall clock jumps. */
export class JumpingClock extends FakeClock implements Clock {
  jumpMs = 0;

  override now(): number {
    return super.now() + this.jumpMs;
  }
}

/** A server with a check, `all`, of the pod network. Nodes and pods are older than an hour. */
export class Scene {
  readonly clock = new JumpingClock();
  readonly nodes = new FakeCache<ClusterNode>();
  readonly pods = new FakeCache<AgentPod>();
  readonly checks = new FakeCache<ConnectivityCheck>();
  reports = new Reports(this.clock);
  measurements = new Measurements(this.clock);
  readonly names: readonly string[];
  /** Lines of the log of the server. */
  readonly log: string[] = [];
  connectivity: Connectivity;
  readonly #anHourBefore = new Date(this.clock.now() - HOUR_MS);
  readonly #peers = new Map<string, readonly string[]>();
  /** By receiver: datagrams of each sender since its last report. */
  readonly #heard = new Map<string, Record<string, number>>();

  constructor(names: readonly string[] = ['n1', 'n2', 'n3'], peers?: number) {
    this.names = names;
    this.nodes.objects = names.map((name) => this.node(name));
    this.pods.objects = names.map((name) => toAgentPod(this.pod(name)));
    const spec = { interval: `${INTERVAL_SECONDS}s`, planes: ['Pod' as const], ...(peers !== undefined && { peers }) };
    this.checks.objects = [{ metadata: { name: 'all', generation: 1 }, spec }];
    this.connectivity = this.#start();
  }

  /** Ends the process and starts one that knows only what the store has. */
  restart(): void {
    const stored = [...this.reports.entries()];
    this.reports = new Reports(this.clock);
    this.measurements = new Measurements(this.clock);
    for (const [, state] of stored) this.reports.restore(state);
    this.connectivity = this.#start();
  }

  #start(): Connectivity {
    const { clock, reports, measurements } = this;
    const [nodes, pods, checks] = [this.nodes.asInformer(), this.pods.asInformer(), this.checks.asInformer()];
    const reportIntervalMs = INTERVAL_SECONDS * 1_000;
    const logger = createLogger('warn', { write: (line) => void this.log.push(line) });
    return new Connectivity({
      caches: { nodes, pods, checks },
      reports,
      measurements,
      clock,
      logger,
      reportIntervalMs,
    });
  }

  node(name: string): ClusterNode {
    const lastTransitionTime = this.#anHourBefore;
    const ready = { type: 'Ready', status: 'True', lastTransitionTime };
    return toClusterNode({
      metadata: { name, creationTimestamp: lastTransitionTime },
      status: { conditions: [ready] },
    });
  }

  /** The pod of the agent of a node. */
  pod(node: string): V1Pod {
    const startedAt = this.#anHourBefore;
    const container = { name: 'agent', image: '', imageID: '', ready: true, restartCount: 0 };
    return {
      metadata: {
        name: podOf(node),
        namespace: 'agents',
        uid: `uid-${node}`,
        labels: { app: 'netchecker-agent' },
        creationTimestamp: startedAt,
      },
      spec: { nodeName: node, serviceAccountName: 'netchecker-agent', containers: [] },
      status: {
        phase: 'Running',
        podIPs: [{ ip: addressOf(node) }],
        containerStatuses: [{ ...container, state: { running: { startedAt } } }],
      },
    };
  }

  /** The agent of a node reports. @param cut nodes that do not answer it */
  report(node: string, cut: readonly string[] = []): void {
    this.#accept(node, this.measurement(node, cut));
  }

  /**
   * After an interval, each agent reports on the peers that it was assigned by the answer to its last report, one agent a
   * quarter of a second after the other, and on the datagrams that came since that report.
   *
   * @param isCut whether the packets of one agent do not arrive at another: both fail to reach each other
   * @param claims by agent: a node that it also reports as cut off, although it does not probe it
   */
  async round(
    isCut: (from: string, to: string) => boolean = () => false,
    claims: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const gapMs = 250;
    await this.clock.advance(INTERVAL_SECONDS * 1_000 - gapMs * this.names.length);
    for (const node of this.names) {
      await this.clock.advance(gapMs);
      const probed = this.peersOf(node);
      const peers = probed.map((peer) => resultOf(peer, isCut(node, peer) || isCut(peer, node)));
      for (const peer of probed) if (!isCut(node, peer)) this.#hear(peer, node);
      if (claims[node] !== undefined) peers.push(resultOf(claims[node], true));
      const measurement = { ...this.measurement(node), peers, heard: this.#heard.get(node) ?? {} };
      this.#heard.delete(node);
      this.#accept(node, measurement);
      const assignment = this.connectivity.assignment({ nodename: node }, measurement);
      if (assignment !== undefined)
        this.#peers.set(
          node,
          assignment.peers.map((peer) => peer.node),
        );
    }
  }

  /** The peers that an agent was assigned in the last round. */
  peersOf(node: string): readonly string[] {
    return this.#peers.get(node) ?? [];
  }

  #hear(receiver: string, sender: string): void {
    const heard = this.#heard.get(receiver) ?? {};
    this.#heard.set(receiver, { ...heard, [sender]: (heard[sender] ?? 0) + SENT });
  }

  #accept(node: string, measurement: Measurement): void {
    const report = { podname: podOf(node), nodename: node, report_interval: INTERVAL_SECONDS };
    this.reports.accept(report);
    this.measurements.accept(report, measurement);
    this.connectivity.seen(report, measurement);
  }

  measurement(node: string, cut: readonly string[] = []): Measurement {
    const others = this.names.filter((name) => name !== node);
    const peers = others.map((name) => resultOf(name, cut.includes(name) || cut.includes(node)));
    return { plane: 'Pod', port: 8_082, peers, targets: [], heard: {} };
  }

  /** The evaluation of the check; undefined if it is left out. */
  async evaluation(): Promise<Evaluation | undefined> {
    const { all } = await this.connectivity.evaluations();
    return all;
  }
}

/** The pod of the agent of a node. */
export function podOf(node: string): string {
  return `agent-${node}`;
}

/** Class, subjects and severity of each finding. */
export function found(evaluation: Evaluation | undefined): string[] | undefined {
  return evaluation?.findings.map(({ class: one, subjects, severity }) => `${one} ${subjects.join()} ${severity}`);
}

export function addressOf(node: string): string {
  return `198.18.0.${node.slice(1)}`;
}

function resultOf(node: string, isCut: boolean): PeerResult {
  const at = { node, address: addressOf(node) };
  if (isCut) return { ...at, tcp: { ok: false, error: 'Timeout' }, udp: { sent: SENT, received: 0 } };
  return { ...at, tcp: { ok: true, ms: 1 }, udp: { sent: SENT, received: SENT, ms: 1 } };
}
