import type { ComponentSpec, TrafficStack, TrafficStackSpec } from '../../api/trafficstack/trafficStack.ts';
import type { UsedServers } from './render/builtIn.ts';
import type { CountNodes } from './render/replicas.ts';
import { renderStack, type Rendered, type RenderedWith } from './render/stack.ts';

interface Kept {
  readonly uid: string | undefined;
  readonly generation: number;
  /** The numbers of nodes that it depends on. */
  readonly counted: readonly (readonly [nodeSelector: Readonly<Record<string, string>>, count: number])[];
  /** As text: the servers of another owner that its components use. */
  readonly used: string;
  readonly rendered: Rendered;
}

/** Keeps what was rendered of each stack: each event of a pod is a reconcile, and 2,000 expressions take 50 ms. */
export class Renderings {
  readonly #countNodes: CountNodes;
  readonly #builtIns: RenderedWith['builtIns'];
  /** By the name of the stack. */
  readonly #kept = new Map<string, Kept>();

  constructor({ countNodes, builtIns }: RenderedWith) {
    this.#countNodes = countNodes;
    this.#builtIns = builtIns;
  }

  /** As renderStack, of a spec that was parsed and ordered. */
  render(
    stack: TrafficStack,
    spec: TrafficStackSpec,
    ordered: readonly ComponentSpec[],
    servers: UsedServers = new Map(),
  ): Rendered {
    const { name = '', uid, generation } = stack.metadata ?? {};
    const used = textOf(servers);
    const kept = this.#kept.get(name);
    const isOfSpec = kept?.uid === uid && kept?.generation === generation;
    if (kept !== undefined && isOfSpec && kept.used === used && this.#holds(kept)) return kept.rendered;
    const counted: [Readonly<Record<string, string>>, number][] = [];
    const countNodes: CountNodes = (nodeSelector) => {
      const count = this.#countNodes(nodeSelector);
      counted.push([nodeSelector, count]);
      return count;
    };
    const rendered = renderStack(stack, spec, ordered, { countNodes, builtIns: this.#builtIns, used: servers });
    if (generation !== undefined) this.#kept.set(name, { uid, generation, counted, used, rendered });
    return rendered;
  }

  forget(name: string): void {
    this.#kept.delete(name);
  }

  #holds({ counted }: Kept): boolean {
    return counted.every(([nodeSelector, count]) => this.#countNodes(nodeSelector) === count);
  }
}

/** The same for the same servers. */
export function textOf(used: UsedServers): string {
  return JSON.stringify(
    [...used].map(([component, { namespace, name, url }]) => [component, namespace, name, url]).sort(),
  );
}
