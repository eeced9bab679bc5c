import * as z from 'zod';
import { durationMs, durationSchema } from '../../fieldSchemas.ts';

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
function nodeCountSchema(description: string) {
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

const COOLDOWN_MESSAGE = 'applies only with maxUnfit or minFit: without a limit there is no breaker';

/** Schema of `spec.breakerCooldown`. */
export const breakerCooldownSchema = durationSchema(
  'How long the number of nodes above the threshold must stay within the limit before the breaker closes. Until then no ' +
    'further node becomes unfit. Applies with maxUnfit or minFit. Default: it closes at once.',
);

/** The rule of `checkCooldown` for the API server. */
export const COOLDOWN_VALIDATIONS = [
  {
    rule: '!has(self.breakerCooldown) || has(self.maxUnfit) || has(self.minFit)',
    fieldPath: '.breakerCooldown',
    message: COOLDOWN_MESSAGE,
  },
];

/** The fields of a spec that limit how many nodes can be unfit. */
export interface LimitSpec {
  readonly maxUnfit?: NodeCount | undefined;
  readonly minFit?: NodeCount | undefined;
  readonly breakerCooldown?: string | undefined;
}

/** Reports a cooldown without a limit. */
export function checkCooldown({ breakerCooldown, maxUnfit, minFit }: LimitSpec, context: z.RefinementCtx): void {
  if (breakerCooldown === undefined || maxUnfit !== undefined || minFit !== undefined) return;
  context.addIssue({ code: 'custom', path: ['breakerCooldown'], message: COOLDOWN_MESSAGE });
}

/** The cooldown in milliseconds; undefined without one. */
export function cooldownOf({ breakerCooldown }: LimitSpec): number | undefined {
  return breakerCooldown === undefined ? undefined : durationMs(breakerCooldown);
}

/** Schema of `spec.maxUnfit`. */
export const maxUnfitSchema = nodeCountSchema(
  'Upper limit for the number of unfit nodes: a number, or a share of the nodes that can be measured, such as "30%", rounded down ' +
    'to at least 1. When more nodes are above the threshold, the fullest are unfit, the others count as fit, and ' +
    'the condition BreakerOpen is True. Default: none, so that every node can be unfit.',
);

/** Schema of `spec.minFit`. */
export const minFitSchema = nodeCountSchema(
  'Lower limit for the number of nodes that are not unfit: a number, or a share of the nodes that can be measured, rounded up. ' +
    'It limits unfit nodes as maxUnfit does; the lower of both limits applies. Default: none.',
);
