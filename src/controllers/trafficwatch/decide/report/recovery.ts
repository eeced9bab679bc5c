import type { Condition } from '../../../../runtime/controller/conditions.ts';
import { windowIsTooShort, type Snapshot } from '../../../../usage/evaluate/snapshot.ts';
import type { Observation } from '../../observe/observation.ts';

/** True where the pass before the newest one had figures of every node that can be measured, and no warning. */
function wasWhole(o: Observation, previous: Snapshot): boolean {
  if (!previous.ok || previous.warnings.length > 0 || windowIsTooShort(previous)) return false;
  // A node that joined since then is not in it.
  const isKnown = ({ name }: { name: string }): boolean => previous.nodes.has(name) && !o.notMeasurable.has(name);
  return o.view.figures.measured.every(({ node, passes }) => passes[1]?.percent !== undefined || !isKnown(node));
}

/** True of a problem that only the pass before the newest one had. Conditions tell whole seconds. */
function isOfOnePass({ lastTransitionTime }: Condition, previous: Snapshot): boolean {
  return Date.parse(lastTransitionTime) >= Math.floor(previous.startedAt / 1000) * 1000;
}

/**
 * Whether figures that are whole in the newest pass are so for good. After an outage of about the length of the rate
 * window they are for a moment, while the last scrapes from before it are in the window, and then missing until there
 * are two new ones.
 *
 * | MetricsAvailable was  | since              | pass before | then           |
 * |-----------------------|--------------------|-------------|----------------|
 * | True, Unknown, absent | any                | any         | for good       |
 * | False                 | the pass before    | any         | for good       |
 * | False                 | longer             | whole       | for good       |
 * | False                 | longer             | not, or not known | not yet  |
 */
export function isBackForGood(o: Observation, before: Condition | undefined): boolean {
  if (before?.status !== 'False') return true;
  const [, previous] = o.view.passes;
  return previous !== undefined && (isOfOnePass(before, previous) || wasWhole(o, previous));
}
