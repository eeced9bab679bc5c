import type { Condition } from '../../../../runtime/controller/conditions.ts';
import { windowIsTooShort, type Snapshot } from '../../../../usage/evaluate/snapshot.ts';
import type { Observation } from '../../observe/observation.ts';

/** True if the pass before the newest had figures for every node that can be measured, and no warning. */
function wasWhole(o: Observation, previous: Snapshot): boolean {
  if (!previous.ok || previous.warnings.length > 0 || windowIsTooShort(previous)) return false;
  // A node that joined since that pass is not in the snapshot, and does not count as missing.
  const isKnown = ({ name }: { name: string }): boolean => previous.nodes.has(name) && !o.notMeasurable.has(name);
  return o.view.figures.measured.every(({ node, passes }) => passes[1]?.percent !== undefined || !isKnown(node));
}

/** True if the problem began with the pass before the newest. Condition times are in whole seconds. */
function isOfOnePass({ lastTransitionTime }: Condition, previous: Snapshot): boolean {
  return Date.parse(lastTransitionTime) >= Math.floor(previous.startedAt / 1000) * 1000;
}

/**
 * Whether MetricsAvailable may become True again after a pass with complete figures. After an outage about as long as
 * the rate window, figures are complete for a moment: the window still holds the last scrapes from before the outage.
 * Then they are missing until there are two new scrapes.
 *
 * | MetricsAvailable was  | since              | previous pass            | may become True |
 * |-----------------------|--------------------|--------------------------|-----------------|
 * | True, Unknown, absent | any                | any                      | yes             |
 * | False                 | the previous pass  | any                      | yes             |
 * | False                 | longer             | complete                 | yes             |
 * | False                 | longer             | incomplete, or not known | not yet         |
 */
export function isBackForGood(o: Observation, before: Condition | undefined): boolean {
  if (before?.status !== 'False') return true;
  const [, previous] = o.view.passes;
  return previous !== undefined && (isOfOnePass(before, previous) || wasWhole(o, previous));
}
