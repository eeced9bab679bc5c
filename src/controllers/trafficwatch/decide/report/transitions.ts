import { modeOf } from '../../../../api/trafficwatch/spec/mode.ts';
import { directionOf } from '../../../../api/trafficwatch/spec/reading.ts';
import { ConditionType, Reason } from '../../../../api/trafficwatch/reasons.ts';
import type { TrafficWatch, TrafficWatchStatus } from '../../../../api/trafficwatch/schema.ts';
import { recoveryOf, thresholdOf } from '../../../../api/trafficwatch/spec/thresholds.ts';
import {
  conditionEvents,
  STANDARD_TYPES,
  type ConditionRules,
  type PlannedEvent,
} from '../../../../runtime/status/conditionEvents.ts';
import type { Observation } from '../../observe/observation.ts';
import type { Failure } from '../../../../runtime/status/failure.ts';
import { sideOfLabel } from '../../model/label.ts';
import type { Plan } from '../plan.ts';
import { HELD_BY_BREAKER } from '../verdict/breaker.ts';
import { NO_DATA_FIT, NO_DATA_UNFIT } from '../verdict/policies.ts';
import { describeAllUnfit } from './messages/allUnfit.ts';
import { figureText } from './messages/figureText.ts';
import { MAX_NODES_IN_FULL } from './statusNodes.ts';

/** If more nodes than this change their verdict in one pass, one event counts them instead of one event for each. */
const NODE_EVENTS_AT_MOST = 10;

/** Which condition changes emit events. */
const CONDITION_RULES: ConditionRules = {
  types: {
    ...STANDARD_TYPES,
    // A broken Prometheus may refuse connections in one pass and time out in the next. That is one outage and one
    // event; the condition shows the newest reason.
    [ConditionType.PrometheusReachable]: { healthy: 'True', whileUnhealthy: 'nothing' },
    [ConditionType.MetricsAvailable]: { healthy: 'True' },
    // A number of nodes that moves around the limit is one opening: the cooldown is to be quiet.
    [ConditionType.BreakerOpen]: { healthy: 'False', whileUnhealthy: 'nothing' },
    [ConditionType.TargetFound]: { healthy: 'True' },
    [ConditionType.InjectionUnavailable]: { healthy: 'False' },
    [ConditionType.NoFitNode]: { healthy: 'False' },
  },
  silent: new Set([Reason.Deciding, Reason.PlacementPending]),
};

interface Turned {
  readonly name: string;
  /** The reason of the new verdict. */
  readonly reason: string;
}

/** Reasons of nodes that turned without a figure. */
const WITHOUT_FIGURE: ReadonlySet<string> = new Set([NO_DATA_UNFIT, NO_DATA_FIT]);

type Side = 'Fit' | 'Unfit';

/** Up to MAX_NODES_IN_FULL nodes, the previous status says which nodes were unfit. */
function turnedByStatus(before: TrafficWatchStatus | undefined, after: TrafficWatchStatus, to: Side): Turned[] {
  return Object.entries(after.nodes ?? {}).flatMap(([name, node]) => {
    // Compare labels, not verdicts: a node that was Unknown in between did not turn. A first Fit is no event.
    const wasUnfit = before?.nodes?.[name]?.unfit ?? false;
    return node.verdict === to && node.reason !== HELD_BY_BREAKER && wasUnfit !== (to === 'Unfit')
      ? [{ name, reason: node.reason }]
      : [];
  });
}

/** In a larger cluster, the status lists only some nodes. Compare the new labels with the present ones. */
function turnedByLabel(o: Observation, plan: Plan, to: Side): Turned[] {
  const contested = new Set(plan.contended.map(({ node }) => node));
  return [...plan.labels.keys()].flatMap((name) => {
    // A contended label was changed by another client. It does not show the previous verdict.
    if (contested.has(name)) return [];
    const place = o.view.figures.places.get(name) ?? -1;
    const verdict = plan.verdicts[place];
    const labels = o.view.nodes[place]?.labels ?? {};
    const wasUnfit = o.keys.claimed.some((key) => sideOfLabel(labels[key]) === 'above');
    // The condition BreakerOpen reports the nodes that are held back.
    if (verdict?.side === undefined || verdict.reason === HELD_BY_BREAKER) return [];
    if (verdict.verdict !== to || wasUnfit === (to === 'Unfit')) return [];
    return [{ name, reason: verdict.reason }];
  });
}

function turned({ o, plan, after, failures }: Reported, to: Side): Turned[] {
  if (o.view.nodes.length <= MAX_NODES_IN_FULL) return turnedByStatus(o.watch.status, after, to);
  // A label whose write failed is written again, and would emit the event twice.
  return failures.length > 0 ? [] : turnedByLabel(o, plan, to);
}

function nodeEvents(reported: Reported, to: Side): PlannedEvent[] {
  const nodes = turned(reported, to);
  const reason = to === 'Unfit' ? Reason.NodeUnfit : Reason.NodeFit;
  const type = to === 'Unfit' ? 'Warning' : 'Normal';
  return notesOf(reported.o, nodes, to).map((note) => ({ type, reason, note }));
}

function notesOf({ watch, view }: Observation, nodes: readonly Turned[], to: Side): string[] {
  const max = thresholdOf(watch.spec);
  const limit = to === 'Unfit' ? max : recoveryOf(watch.spec);
  const dry = modeOf(watch.spec) === 'Observe' ? 'dry run: ' : '';
  const turnedTo = `turned ${to.toLowerCase()}`;
  if (nodes.length > NODE_EVENTS_AT_MOST) {
    const side = to === 'Unfit' ? 'above' : 'not above';
    const lacking = nodes.some((node) => WITHOUT_FIGURE.has(node.reason)) ? ', or without a figure (missingData)' : '';
    return [`${dry}${nodes.length} nodes ${turnedTo}: ${side} ${limit} %${lacking}`];
  }
  const threshold = limit === max ? `threshold ${limit} %` : `recovery threshold ${limit} %`;
  return nodes.map(({ name, reason }) => {
    const node = `${dry}node ${name} ${turnedTo}`;
    if (WITHOUT_FIGURE.has(reason)) return `${node}: no figure (missingData)`;
    const figure = figureText(view.passes[0]?.nodes.get(name), limit);
    return figure === '' ? `${node} (${threshold})` : `${node}: ${figure} (${threshold})`;
  });
}

function allUnfit(status: TrafficWatchStatus | undefined): boolean {
  return (status?.unfitNodes ?? 0) > 0 && status?.fitNodes === 0 && status.unknownNodes === 0;
}

function specEvents(watch: TrafficWatch, after: TrafficWatchStatus): PlannedEvent[] {
  const changed = watch.status?.observedGeneration !== after.observedGeneration;
  // Both directions of a full-duplex link together are up to 200 % of its speed.
  const full = directionOf(watch.spec) === 'Sum' ? 200 : 100;
  if (!changed || !(thresholdOf(watch.spec) >= full)) return [];
  // A figure above 100 is possible: counters are sampled, and an annotated capacity may be too low.
  const note = `maxBandwidthPercent is ${watch.spec.maxBandwidthPercent}: a node whose traffic is within its capacity will never be unfit, only a node that is measured above its capacity`;
  return [{ type: 'Warning', reason: Reason.ThresholdAtCapacity, note }];
}

/** The observation, the plan, the failed writes, and the new status. */
export interface Reported {
  readonly o: Observation;
  readonly plan: Plan;
  readonly after: TrafficWatchStatus;
  readonly failures: readonly Failure[];
}

/** The events for the changes from the present status of the object to the new one. None if nothing changed. */
export function decideEvents(reported: Reported): PlannedEvent[] {
  const { after, o } = reported;
  const before = o.watch.status;
  const everything = allUnfit(after) && !allUnfit(before);
  const note = describeAllUnfit(o, reported.plan);
  return [
    ...conditionEvents(before?.conditions, after.conditions, CONDITION_RULES),
    ...specEvents(o.watch, after),
    ...nodeEvents(reported, 'Unfit'),
    ...nodeEvents(reported, 'Fit'),
    ...(everything ? [{ type: 'Warning', reason: Reason.AllNodesUnfit, note } as const] : []),
  ];
}
