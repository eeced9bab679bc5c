import type { TrafficWatch, TrafficWatchStatus } from '../../../api/trafficwatch/schema.ts';
import { decidePlan } from '../decide/decidePlan.ts';
import { hasDeployment } from '../decide/deployment.ts';
import { decideStatus } from '../decide/report/status.ts';
import type { PlannedEvent } from '../../../runtime/controller/conditions.ts';
import { decideEvents } from '../decide/report/events.ts';
import { FINALIZER } from '../names.ts';
import type { Observation } from '../observe/observation.ts';
import { aDeployment, changed, KEY } from './observations.ts';

/** The status of an observation in which every write goes well. */
export const statusOf = (o: Observation): TrafficWatchStatus => decideStatus(o, decidePlan(o), []);

/** The observation one pass later, when what was planned stands in the cluster. */
export function settled(o: Observation): Observation {
  const status = statusOf(o);
  const { finalizer } = decidePlan(o);
  const metadata = { ...o.watch.metadata, ...(finalizer === 'Add' && { finalizers: [FINALIZER] }) };
  const watch: TrafficWatch = { ...o.watch, metadata, status };
  const nodes = o.view.nodes.map((n) => ({
    ...n,
    labels: { ...n.labels, [KEY]: String(status.nodes?.[n.name]?.unfit ?? false) },
  }));
  return changed(o, { watch, nodes, ...(hasDeployment(o.watch) ? { deployment: aDeployment(o.watch) } : {}) });
}

/** The events of that status. */
export function eventsOf(o: Observation): PlannedEvent[] {
  return decideEvents({ o, plan: decidePlan(o), after: statusOf(o), failures: [] });
}
