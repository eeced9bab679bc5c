import { expect, vi } from 'vitest';
import type { V1DaemonSet, V1Deployment, V1PolicyRule } from '@kubernetes/client-node';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import type { KubeObject } from '../../../src/runtime/client/resource.ts';
import { DAEMONSETS, DEPLOYMENTS, NAMESPACES, NODES, PODS } from '../../../src/runtime/client/resources.ts';
import { giveRoom } from '../injection/world.ts';
import { NODE } from './kubelet.ts';
import { PERSON, startScene, WAIT, type StackScene } from './scene.ts';

export const OPERATOR = { namespace: 'traffic-operator-system', name: 'traffic-operator' };
export const EXPORTER = { namespace: 'traffic-operator-system-node-exporter', name: 'node-exporter' };
export const PROMETHEUS = { namespace: OPERATOR.namespace, name: 'prometheus' };

/** An operator that deploys node-exporter and a Prometheus of its own. */
export class Installation {
  readonly scene: StackScene;
  readonly #flags: readonly string[];

  private constructor(scene: StackScene, flags: readonly string[]) {
    this.scene = scene;
    this.#flags = flags;
  }

  /**
   * Starts all but the operator, with a Deployment of the operator, which owns what the measurement deploys.
   *
   * @param user of the operator, whose requests are audited
   * @param controllers of Kubernetes, in addition to the controllers of workloads and namespaces
   * @param rights of the operator, in addition to the rights of the chart
   * @param hasUserStacks whether the operator runs stacks of users, and has the rights for them
   */
  static async start(
    user: string,
    controllers: readonly string[] = [],
    rights: readonly V1PolicyRule[] = [],
    hasUserStacks = true,
  ): Promise<Installation> {
    const scene = await startScene(user, {
      controllers: ['namespace-controller', ...controllers],
      rights: (rules) => [...rules, ...rights],
      hasUserStacks,
    });
    const { client } = scene.f;
    await giveRoom(scene.f, [NODE]);
    await client.mergePatch(NODES, { name: NODE }, { metadata: { labels: { 'kubernetes.io/os': 'linux' } } }, PERSON);
    await client.create(NAMESPACES, { metadata: { name: OPERATOR.namespace } }).catch(() => undefined);
    const labels = { app: 'operator' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'operator', image: 'operator:1' }] } };
    await client.create(DEPLOYMENTS, { metadata: OPERATOR, spec: { selector: { matchLabels: labels }, template } });
    await vi.waitFor(async () => {
      const [pod] = await client.list(PODS, { namespace: OPERATOR.namespace });
      expect(pod?.metadata?.name).toBeDefined();
      vi.stubEnv('POD_NAME', pod?.metadata?.name);
    }, WAIT);
    return new Installation(scene, hasUserStacks ? ['--stacks'] : []);
  }

  async stop(): Promise<void> {
    vi.unstubAllEnvs();
    await this.scene.stop();
  }

  async startOperator(...args: readonly string[]): Promise<void> {
    const over = { kubeconfig: this.scene.kubeconfig, prometheusUrl: undefined };
    await this.scene.f.startOperator(['--scrape-interval=1s', ...this.#flags, ...args], over);
  }

  /** Starts with exactly these arguments and the arguments of a test. */
  async startWith(args: readonly string[]): Promise<void> {
    const over = { kubeconfig: this.scene.kubeconfig, prometheusUrl: undefined, pace: [] };
    await this.scene.f.startOperator(args, over);
  }

  async restartOperator(...args: readonly string[]): Promise<void> {
    await this.scene.f.stopOperator();
    await this.startOperator(...args);
  }

  daemonSet(): Promise<V1DaemonSet> {
    return this.scene.f.client.get(DAEMONSETS, EXPORTER);
  }

  deployment(): Promise<V1Deployment> {
    return this.scene.f.client.get(DEPLOYMENTS, PROMETHEUS);
  }

  /** Uids of the pods of node-exporter and Prometheus. */
  async pods(): Promise<(string | undefined)[]> {
    const namespaces = [EXPORTER.namespace, PROMETHEUS.namespace];
    const lists = await Promise.all(namespaces.map((namespace) => this.scene.f.client.list(PODS, { namespace })));
    return lists.flat().map(({ metadata }) => metadata?.uid);
  }

  /** All pods of both are available. */
  measures(): Promise<void> {
    return vi.waitFor(async () => {
      expect((await this.daemonSet()).status).toMatchObject({ numberAvailable: 1 });
      expect((await this.deployment()).status).toMatchObject({ availableReplicas: 1 });
    }, WAIT);
  }

  /** With its namespace, which is the last. */
  exporterIsGone(): Promise<void> {
    const namespace = { name: EXPORTER.namespace };
    return vi.waitFor(() => expect(this.scene.f.client.get(NAMESPACES, namespace)).rejects.toSatisfy(isNotFound), WAIT);
  }
}

/** All that a pod is made of, and the identity of what makes it. */
export const identity = ({ metadata, spec }: V1DaemonSet | V1Deployment) => [metadata?.uid, spec];
export const ownersOf = ({ metadata }: KubeObject) =>
  metadata?.ownerReferences?.map(({ kind, name }) => `${kind} ${name}`) ?? [];
