import { StackReason } from '../../../api/trafficstack/reasons.ts';
import type { ComponentType } from '../../../api/trafficstack/terms.ts';
import { componentsIn, type TrafficStack } from '../../../api/trafficstack/trafficStack.ts';
import { firstOf } from '../../../runtime/controller/conditions.ts';
import type { Failure } from '../../../runtime/process/problem.ts';
import { DEFAULT_STACK } from '../../contract/keepers.ts';
import { isEnabled } from '../model/graph.ts';

/** Components that a message names. */
const MOST_NAMES = 3;
const ADVICE = 'set stacks.enabled of the chart (--stacks)';

/**
 * Why nothing of a stack is written while the stacks of users are off; undefined if it may be written:
 *
 * | stack     | its components                                  | written |
 * |-----------|-------------------------------------------------|---------|
 * | `default` | all of types that the operator deploys by itself | yes     |
 * | `default` | one of another type, which is not Disabled      | no      |
 * | any other | any                                             | no      |
 *
 * @param ownTypes the types that the operator deploys by itself: it has rights on their objects by their names
 */
export function userStackProblem(stack: TrafficStack, ownTypes: ReadonlySet<ComponentType>): Failure | undefined {
  const { metadata } = stack;
  if (metadata?.name !== DEFAULT_STACK) return notEnabled(`Stacks of users are off: ${ADVICE}`);
  const others = componentsIn(stack).filter((each) => isEnabled(each) && !ownTypes.has(each.type));
  if (others.length === 0) return undefined;
  const names = firstOf(
    others.map(({ name, type }) => `${name} (${type})`),
    MOST_NAMES,
  );
  return notEnabled(`Stacks of users are off, and these components need them: ${names}. Remove them, or ${ADVICE}`);
}

function notEnabled(message: string): Failure {
  return { reason: StackReason.StacksNotEnabled, message };
}
