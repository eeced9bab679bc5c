import { createLabelMatcher } from '../../../api/labelMatcher.ts';
import type { LabelSelector } from '../../../api/labelSelector.ts';
import { labelOf } from '../../../nodes/cachedNode.ts';
import type { NodeView } from '../observe/observation.ts';

/** The nodes that a TrafficWatch judges, and the other ones. */
export interface Selection {
  readonly nodes: readonly NodeView[];
  readonly outside: readonly NodeView[];
}

/** True if the selector leaves out every node. Not true of a cluster without nodes. */
export function selectsNone({ nodes, outside }: Selection): boolean {
  return nodes.length === 0 && outside.length > 0;
}

const NONE: readonly NodeView[] = [];

/** Divides the nodes by a selector, in their order. Without a selector all nodes are judged: the list itself. */
export function selectNodes(nodes: readonly NodeView[], selector: LabelSelector | undefined): Selection {
  if (selector === undefined) return { nodes, outside: NONE };
  const matches = createLabelMatcher(selector);
  const selected: NodeView[] = [];
  const outside: NodeView[] = [];
  for (const node of nodes) (matches((key) => labelOf(node, key)) ? selected : outside).push(node);
  return { nodes: selected, outside };
}
