import * as z from 'zod';

/** A number of nodes, or a share of all nodes such as "30%". */
export type NodeCount = number | string;

const PATTERN = /^([1-9][0-9]{0,4}|[1-9][0-9]?%|100%)$/;
const MESSAGE = 'must be a number of nodes of at least 1, such as 3, or a share of all nodes from "1%" to "100%"';
const RULE =
  "type(self) == int ? self >= 1 && self <= 99999 : string(self).matches('^([1-9][0-9]{0,4}|[1-9][0-9]?%|100%)$')";

function isNodeCount(value: unknown): value is NodeCount {
  return (typeof value === 'number' || typeof value === 'string') && PATTERN.test(String(value));
}

/** Schema of a field that takes a number of nodes or a share, as `maxUnavailable` of a PodDisruptionBudget does. */
export function nodeCountSchema(description: string) {
  return z
    .custom<NodeCount>(isNodeCount, MESSAGE)
    .optional()
    .meta({
      description,
      'x-kubernetes-int-or-string': true,
      'x-kubernetes-validations': [{ rule: RULE, message: MESSAGE }],
    });
}

/**
 * How many of `total` nodes a valid count stands for.
 * @param round how a share becomes a whole number
 */
export function nodesOf(count: NodeCount, total: number, round: (share: number) => number): number {
  const text = String(count);
  return text.endsWith('%') ? round((total * Number(text.slice(0, -1))) / 100) : Number(text);
}
