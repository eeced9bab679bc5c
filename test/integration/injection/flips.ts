import type { V1Node, V1Pod } from '@kubernetes/client-node';
import type { InformerEvent } from '../../../src/runtime/cache/informer.ts';

/** Where a pod was placed, by the order in which the API server stored pods and labels (resourceVersion). */
export type Landing =
  /** On a node that was not unfit when the pod was created. */
  | 'fit at its creation'
  /** On a node that was unfit then, and fit at some time between that and the placement. */
  | 'recovered'
  /** On a node that was unfit from the creation to the placement. */
  | 'unfit';

interface Change {
  readonly at: number;
  readonly isUnfit: boolean;
}

const versionOf = ({ metadata }: V1Pod | V1Node): number => Number(metadata?.resourceVersion);

/** Follows labels and pods, and says for each pod whether its node was unfit when the pod was created. */
export class Flips {
  readonly #key: string;
  readonly #changes = new Map<string, Change[]>();
  readonly #created = new Map<string, { at: number; excluded: readonly string[] }>();
  readonly #placed = new Map<string, { node: string; at: number }>();

  /** @param key of the label */
  constructor(key: string) {
    this.#key = key;
  }

  readonly sawNode = ({ object }: InformerEvent<V1Node>): void => {
    const name = object.metadata?.name ?? '';
    const changes = this.#changes.get(name) ?? [];
    const isUnfit = object.metadata?.labels?.[this.#key] === 'true';
    if (changes.at(-1)?.isUnfit !== isUnfit) changes.push({ at: versionOf(object), isUnfit });
    this.#changes.set(name, changes);
  };

  readonly sawPod = ({ type, object }: InformerEvent<V1Pod>): void => {
    const name = object.metadata?.name ?? '';
    if (type === 'add') this.#created.set(name, { at: versionOf(object), excluded: excludedBy(object) });
    const node = object.spec?.nodeName;
    if (node !== undefined && !this.#placed.has(name)) this.#placed.set(name, { node, at: versionOf(object) });
  };

  /** How often labels changed. */
  get count(): number {
    return [...this.#changes.values()].reduce((sum, changes) => sum + changes.length - 1, 0);
  }

  /** The placed pods of these, with their landing. */
  landings(pods: readonly string[]): Map<string, Landing> {
    const placed = pods.filter((pod) => this.#placed.has(pod));
    return new Map(placed.map((pod) => [pod, this.#landing(pod)]));
  }

  /** Pairs of a pod and a node that was unfit when the pod was created and that it does not exclude by name. */
  unnamed(pods: readonly string[]): [string, string][] {
    return pods.flatMap((pod) => {
      const { at, excluded } = this.#created.get(pod)!;
      const unfit = [...this.#changes.keys()].filter((node) => this.#wasUnfit(node, at));
      return unfit.filter((node) => !excluded.includes(node)).map((node): [string, string] => [pod, node]);
    });
  }

  #wasUnfit(node: string, version: number): boolean {
    const changes = this.#changes.get(node) ?? [];
    return changes.filter(({ at }) => at < version).at(-1)?.isUnfit === true;
  }

  #landing(pod: string): Landing {
    const { node, at: placedAt } = this.#placed.get(pod)!;
    const { at: createdAt } = this.#created.get(pod)!;
    const changes = this.#changes.get(node) ?? [];
    if (!this.#wasUnfit(node, createdAt)) return 'fit at its creation';
    const between = changes.filter(({ at }) => at > createdAt && at < placedAt);
    return between.some(({ isUnfit }) => !isUnfit) ? 'recovered' : 'unfit';
  }
}

/** Names of nodes that a term of the pod excludes. */
function excludedBy({ spec }: V1Pod): string[] {
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return terms.flatMap(({ matchFields = [] }) => matchFields.flatMap(({ values = [] }) => values));
}
